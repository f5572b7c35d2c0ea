# A file that computes in floats is not called static.
need chaotic
exits 3 ounce quantize chaotic.onnx --to static --data chaotic.npz
exits 3 ounce quantize chaotic.onnx --to static --data chaotic.npz --exclude product
ls
