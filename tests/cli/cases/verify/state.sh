# A recording in frames of four, 18 samples: four frames, and a state that goes on from frame to frame.
need counter
ounce verify counter.onnx counter.onnx --data counter.wav --for sound --frame 4 --rate 8000 --rescale 1/32768 --carry state=state_out
ounce verify counter.onnx counter.onnx --data counter.wav --for sound --frame 4 --hop 2 --rate 8000 --rescale 1/32768 --set state=1 | head -n 1
exits 2 ounce verify counter.onnx counter.onnx --data counter.slow.wav --for sound --frame 4 --rate 8000 --carry state=state_out
exits 2 ounce verify counter.onnx counter.onnx --data counter.wav --for sound --frame 4 --carry state=nothing
