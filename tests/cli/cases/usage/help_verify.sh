ounce verify --help
