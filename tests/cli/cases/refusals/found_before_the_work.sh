# What is missing is said before any model is worked on, by every verb: nothing is written, and no model takes its turn.
need matmul signal
touch file
echo "A model that is not there"
exits 4 ounce inspect matmul.onnx absent.onnx
exits 4 ounce quantize matmul.onnx absent.onnx -o small/
exits 4 ounce tune signal.onnx absent.onnx --data signal.npz --budget '1 models' --no-cache
exits 4 ounce verify matmul.onnx matmul.onnx absent.onnx
exits 4 ounce bench matmul.onnx absent.onnx -t 0.01
exits 4 ounce advise matmul.onnx absent.onnx
exits 4 ounce sensitivity signal.onnx absent.onnx --data signal.npz --no-cache
exits 4 ounce check matmul.onnx absent.onnx
exits 4 ounce unpack matmul.onnx absent.onnx --cache cache
exits 4 ounce prove matmul.onnx --source absent.onnx
exits 4 ounce diff matmul.onnx absent.onnx
echo "A script still gets a document, with the models that are missing"
exits 4 ounce quantize matmul.onnx absent.onnx --json > result.json
json_get results errors.0.model errors.0.code < result.json
rm result.json
echo "Data that is not there"
exits 4 ounce quantize matmul.onnx --data absent.npz
exits 4 ounce quantize signal.onnx --to int8 --ranges absent.ranges
exits 4 ounce verify matmul.onnx matmul.onnx --data absent.npz
exits 4 ounce calibrate signal.onnx --data x=absent.npy
exits 4 ounce contract check signal.onnx --data signal.npz --dump absent.npy
exits 4 ounce publish matmul.onnx -o published --data absent.npz
exits 2 ounce calibrate signal.onnx
exits 2 ounce verify matmul.onnx matmul.onnx --metric-command "./absent.py --fast"
exits 2 ounce tune signal.onnx --data signal.npz --metric-command absent-program --budget '1 models' --no-cache
exits 2 ounce quantize matmul.onnx --runtime 0.0.1
echo "No place for a result"
exits 4 ounce quantize matmul.onnx signal.onnx -o file/small/
exits 4 ounce quantize signal.onnx --to nbits4 --bits 5 --data signal.npz --importance absent/i.json
exits 4 ounce tune signal.onnx --data signal.npz -o absent/t.onnx --budget '1 models' --no-cache
exits 4 ounce calibrate signal.onnx --data signal.npz -o absent/s.ranges
exits 4 ounce contract set matmul.onnx -o absent/m.onnx --kind tensor
exits 4 ounce repack matmul.onnx -o absent/m.onnx
exits 4 ounce check matmul.onnx --required-ops absent/ops.config
exits 4 ounce unpack matmul.onnx --cache file/cache
echo "No place for a report"
exits 4 ounce quantize matmul.onnx --report absent/q.html
exits 4 ounce verify matmul.onnx matmul.onnx --report absent/v.html
exits 4 ounce check matmul.onnx --report file/c.html
exits 4 ounce diff matmul.onnx matmul.onnx --report absent/d.html
ls
