"""Checks that libounce.so exports exactly the functions that ounce.h declares.

usage: exports.py LIBRARY HEADER
"""

import pathlib
import re
import subprocess
import sys

library, header = sys.argv[1:]
declared = set(re.findall(r"(?m)^OUNCE(?:_APP)?_API[^;(]*?(\w+)\(", pathlib.Path(header).read_text(encoding="utf-8")))
lines = subprocess.run(
    ["nm", "--dynamic", "--defined-only", library], check=True, capture_output=True, text=True
).stdout.splitlines()
exported = {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] != "A"}
if not declared:
    sys.exit(f"{header} declares nothing")
if declared != exported:
    sys.exit(f"exported and not declared: {sorted(exported - declared)}; declared only: {sorted(declared - exported)}")
