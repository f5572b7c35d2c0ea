ounce --version
