# Options that workers cannot have are refused before a question is asked.
need fatal
s="ounce sensitivity fatal.onnx --to w8 --data fatal.npz --no-cache --queue queue"
exits 2 $s --labels label --metric-command 'echo 1'
exits 2 $s --no-isolate
exits 2 $s --for x --kind tensor
exits 2 ounce calibrate fatal.onnx --data fatal.npz --queue queue --shard 1/2
exits 2 ounce calibrate fatal.onnx --data fatal.npz --queue queue --carry x=y
touch file
exits 4 ounce sensitivity fatal.onnx --to w8 --data fatal.npz --no-cache --queue file
exits 4 ounce work file/queue --idle 1s
exits 2 ounce work
ls queue 2> /dev/null || true
