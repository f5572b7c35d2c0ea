#!/usr/bin/env python3
"""Loads folders in onnxruntime-genai and lets each continue a sequence. The model of make_decoder.py must count.

usage: check_genai.py FOLDER…     exit 0: all models count
"""

import sys

import onnxruntime_genai as genai

failed = False
for folder in sys.argv[1:]:
    model = genai.Model(folder)
    options = genai.GeneratorParams(model)
    options.set_search_options(max_length=12, do_sample=False)
    generator = genai.Generator(model, options)
    generator.append_tokens([[5, 6, 7]])
    while not generator.is_done():
        generator.generate_next_token()
    counted = [int(token) for token in generator.get_sequence(0)]
    print(folder, counted)
    failed |= counted != list(range(5, 17))
sys.exit(failed)
