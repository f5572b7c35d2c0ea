ounce calibrate --help
