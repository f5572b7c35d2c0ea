ounce quantize --help
