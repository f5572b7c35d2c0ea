"""``python -m ounce``: the program, which is a part of the package."""

from __future__ import annotations

import os
import sys

from ._runtime import default_runtime, program


def main() -> None:
    found = program("ounce")
    if found is None:
        sys.exit("ounce: the program is not in this package")
    runtime = default_runtime()
    if runtime is not None:
        os.environ.setdefault("OUNCE_ONNXRUNTIME", runtime)
    os.execv(found, [found, *sys.argv[1:]])


if __name__ == "__main__":
    main()
