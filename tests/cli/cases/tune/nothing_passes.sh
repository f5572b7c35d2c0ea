# What came closest is kept beside, the last lines say what it lacks; an older file in the output's place stays.
need matmul fatal
echo older > small.onnx
exits 1 ounce tune matmul.onnx --data fatal.npz --min-sqnr 300 --budget '6 models' --no-cache -o small.onnx --json 2> human > document
cat small.onnx
json_get results.0.output results.0.closest results.0.passed results.0.held_out < document
sed -n -e 's/[0-9.]* dB SQNR, [0-9.]* dB less/… dB SQNR, … dB less/; s/candidate is [^:]*:/candidate is …:/; /^nothing passed/,$p' human
ounce verify matmul.onnx small.closest.onnx --data fatal.npz --min-sqnr 20 > /dev/null
ls
