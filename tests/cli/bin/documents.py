"""Reads a document of --json from standard input, and validates it against its schema."""

import json
import pathlib
import sys

import jsonschema

SCHEMA = pathlib.Path(__file__).resolve().parents[3] / "docs" / "schema" / "ounce-v2.json"


def read():
    document = json.load(sys.stdin)
    if isinstance(document, dict) and "schema_version" in document:
        try:
            jsonschema.Draft7Validator(json.loads(SCHEMA.read_text())).validate(document)
        except jsonschema.ValidationError as error:
            sys.exit(f"not as its schema says: {'.'.join(map(str, error.absolute_path))}: {error.message[:300]}")
    return document
