ounce demo --help
