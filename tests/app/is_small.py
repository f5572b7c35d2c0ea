"""Checks that libounce_app contains only the code that apps need, none that quantizes models.

usage: is_small.py STATIC_LIBRARY SHARED_LIBRARY
"""

import os
import re
import subprocess
import sys

MOST_BYTES = 1_000_000
STRANGERS = re.compile(r"ounce::(quant|observe|target|plan|passes|measure|make|search|publishing|report|verbs)::")
# System libraries. ONNX Runtime is not among them because it is opened at run time.
SYSTEM = re.compile(r"^(libc|libm|libdl|libpthread|libstdc\+\+|libgcc_s|ld-linux[-\w]*)\.so")

static, shared = sys.argv[1:]
symbols = subprocess.run(["nm", "-C", static], check=True, capture_output=True, text=True).stdout
found = sorted({match.group(0) for match in STRANGERS.finditer(symbols)})
if found:
    sys.exit(f"{static} has {', '.join(found)}")
if os.path.getsize(shared) > MOST_BYTES:
    sys.exit(f"{shared} has {os.path.getsize(shared)} bytes, more than {MOST_BYTES}")
dynamic = subprocess.run(["readelf", "-d", shared], check=True, capture_output=True, text=True).stdout
needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
if not needed or any(not SYSTEM.match(name) for name in needed):
    sys.exit(f"{shared} needs {needed}")
print(f"{os.path.getsize(shared)} bytes, needs {', '.join(needed)}")
