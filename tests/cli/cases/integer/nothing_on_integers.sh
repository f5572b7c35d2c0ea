# A file that computes in FP32 is not called INT8.
need chaotic
exits 3 ounce quantize chaotic.onnx --to int8 --data chaotic.npz
exits 3 ounce quantize chaotic.onnx --to int8 --data chaotic.npz --exclude product
ls
