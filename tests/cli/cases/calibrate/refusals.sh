need scores signal text
exits 2 ounce calibrate
exits 2 ounce calibrate scores.onnx
exits 2 ounce calibrate text.onnx --data scores.npz
exits 2 ounce calibrate scores.onnx --data scores.nan.npz
exits 2 ounce calibrate scores.onnx --data scores.npz --input x=nothing
exits 2 ounce calibrate scores.onnx --data scores.npz --shard 4/3
exits 2 ounce calibrate scores.onnx --data scores.npz --shard 0/3
exits 2 ounce calibrate merge scores.npz -o merged.ranges
exits 2 ounce calibrate scores.onnx --data scores.npz -o scores.onnx
cp scores.onnx other.onnx
exits 2 ounce calibrate scores.onnx --data scores.npz -o other.onnx
ounce calibrate scores.onnx --data scores.npz --samples 1 | grep -v '^Next: ' | tail -n 1
ounce calibrate signal.onnx --data signal.npz -o other.ranges > /dev/null
exits 2 ounce calibrate merge scores.ranges other.ranges -o merged.ranges
exits 4 ounce calibrate merge scores.ranges nowhere.ranges -o merged.ranges
ls *.ranges
