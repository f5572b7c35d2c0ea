mkdir models
ounce quantize models
