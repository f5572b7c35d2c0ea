ounce --help
