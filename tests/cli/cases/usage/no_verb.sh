ounce
