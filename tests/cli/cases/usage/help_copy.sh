ounce copy --help
