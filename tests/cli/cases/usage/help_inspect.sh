ounce inspect --help
