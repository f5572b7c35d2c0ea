mkdir models
(cd models && need matmul conv)
ounce quantize models
ls models
