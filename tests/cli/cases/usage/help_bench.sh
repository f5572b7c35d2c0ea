ounce bench --help
