need signal
ounce quantize signal.onnx --to int8 --data signal.one.npz --no-reduce-range --no-correct-bias | sed "s,Calibration: .*,Calibration: …,"
ounce quantize signal.onnx --to int8 --data signal.still.npz --no-reduce-range --no-correct-bias | sed "s,Calibration: .*,Calibration: …,"
