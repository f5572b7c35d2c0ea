# What was changed is refuted (exit 1); a model without a statement, or with one that makes no sense, is bad input (exit 2).
need scores scores_near matmul
ounce quantize matmul.onnx > /dev/null
ounce contract set matmul.w8.onnx -o with.onnx --kind tensor > /dev/null 2>&1 || ounce repack matmul.w8.onnx -o with.onnx > /dev/null
exits 5 ounce prove with.onnx | grep content
python3 -c "
data = bytearray(open('matmul.w8.onnx', 'rb').read())
at = data.rfind(b'ounce.version') // 2
data[at] ^= 1
open('changed.onnx', 'wb').write(data)
text = b'\"version\":2'
plain = open('matmul.w8.onnx', 'rb').read()
open('newer.onnx', 'wb').write(plain.replace(text, b'\"version\":9'))
open('broken.onnx', 'wb').write(plain.replace(text, b'\"version\",2'))
"
exits 1 ounce prove changed.onnx | grep content
exits 1 ounce prove matmul.w8.onnx --source changed.onnx | grep -e source -e recipe
exits 2 ounce prove newer.onnx
exits 2 ounce prove broken.onnx
exits 2 ounce prove matmul.onnx
exits 2 ounce prove matmul.w8.onnx matmul.onnx | grep -v '^Next: ' | tail -n 4
