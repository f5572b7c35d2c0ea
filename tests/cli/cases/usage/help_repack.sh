ounce repack --help
