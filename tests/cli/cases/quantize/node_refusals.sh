need signal matmul
exits 2 ounce quantize matmul.onnx --node y
exits 2 ounce quantize matmul.onnx --node y=int8
exits 2 ounce quantize matmul.onnx --node y=w5
exits 2 ounce quantize matmul.onnx --node y=w4 --node y=w8
exits 2 ounce quantize matmul.onnx --node x=w4
exits 2 ounce quantize matmul.onnx --node nothing=at=all=w4
exits 2 ounce quantize matmul.onnx --node y=int8-dynamic
exits 2 ounce quantize matmul.onnx --to fp16 --node y=w4
exits 2 ounce quantize signal.onnx --to int8-dynamic --node nothing=w4
exits 2 ounce quantize signal.onnx --to int8 --data signal.npz --node b=int8-dynamic --rounding adaptive
exits 2 ounce inspect matmul.onnx --node nothing=w4
exits 2 ounce quantize matmul.onnx --node prodct=w4
ls
