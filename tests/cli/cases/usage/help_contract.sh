ounce contract --help
