# The parts of a calibration are merged to the same file that one run gives, in any order.
need scores
ounce calibrate scores.onnx --data scores.npz -o whole.ranges
for part in 1 2 3; do ounce calibrate scores.onnx --data scores.npz --shard $part/3 -o $part.ranges > /dev/null; done
ounce calibrate merge 3.ranges 1.ranges 2.ranges -o merged.ranges > /dev/null
cmp whole.ranges merged.ranges
ounce calibrate scores.onnx --data scores.npz --batch 3 -o batched.ranges > /dev/null
ls
