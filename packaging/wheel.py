#!/usr/bin/env python3
"""Makes the wheel: the package python/ounce, with the programs in bin/ and libounce.so in lib/.

usage: wheel.py ARCHITECTURE      writes build-package/dist/ounce_ml-VERSION-py3-none-manylinux_…_ARCHITECTURE.whl
"""

import base64
import csv
import hashlib
import io
import sys
import time
import zipfile

from facts import DIST, GLIBC, PROJECT, PYTHON, VERSION, WHEEL_NAME, WORK, stage, timestamp


def metadata():
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {PYTHON['name']}",
        f"Version: {VERSION}",
        f"Summary: {PYTHON['description']}",
        f"License-Expression: {PYTHON['license']}",
        "License-File: LICENSE",
        "License-File: LICENSE.others",
        f"Keywords: {','.join(PYTHON['keywords'])}",
        *(f"Classifier: {classifier}" for classifier in PYTHON["classifiers"]),
        f"Requires-Python: {PYTHON['requires-python']}",
        *(f"Requires-Dist: {requirement}" for requirement in PYTHON["dependencies"]),
        *(f"Provides-Extra: {extra}" for extra in PYTHON["optional-dependencies"]),
        *(f"Requires-Dist: {requirement}; extra == '{extra}'"
          for extra, requirements in PYTHON["optional-dependencies"].items() for requirement in requirements),
        "Description-Content-Type: text/markdown",
        "",
        (PROJECT / PYTHON["readme"]).read_text(),
    ]
    return "\n".join(lines)


def files(architecture):
    """Yields (name in the wheel, bytes, whether it is a program)."""
    package, built = PROJECT / "python" / "ounce", stage(architecture)
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"ounce/{path.relative_to(package)}", path.read_bytes(), False
    for path in sorted((built / "bin").iterdir()):
        yield f"ounce/bin/{path.name}", path.read_bytes(), True
    for path in sorted((built / "lib").glob("libounce.so.*")):
        if not path.is_symlink():
            yield f"ounce/lib/{path.name}", path.read_bytes(), True
    info = f"{WHEEL_NAME}-{VERSION}.dist-info"
    scripts = "".join(f"{name} = {call}\n" for name, call in PYTHON["scripts"].items())
    yield f"{info}/METADATA", metadata().encode(), False
    yield f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: ounce\nRoot-Is-Purelib: false\nTag: {tag(architecture)}\n".encode(), False
    yield f"{info}/entry_points.txt", f"[console_scripts]\n{scripts}".encode(), False
    materials = WORK / architecture / "materials"
    yield f"{info}/licenses/LICENSE", (PROJECT / "LICENSE").read_bytes(), False
    yield f"{info}/licenses/LICENSE.others", (materials / "LICENSE.others").read_bytes(), False
    yield f"{info}/sboms/ounce.cdx.json", (materials / "ounce.cdx.json").read_bytes(), False


def tag(architecture):
    return f"py3-none-manylinux_{GLIBC.replace('.', '_')}_{architecture}"


def record(entries, name):
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for path, data, _ in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow([path, f"sha256={digest}", len(data)])
    rows.writerow([name, "", ""])
    return text.getvalue().encode()


def main(architecture):
    entries = list(files(architecture))
    name = f"{WHEEL_NAME}-{VERSION}.dist-info/RECORD"
    entries.append((name, record(entries, name), False))
    DIST.mkdir(parents=True, exist_ok=True)
    wheel = DIST / f"{WHEEL_NAME}-{VERSION}-{tag(architecture)}.whl"
    made = time.gmtime(timestamp())[:6]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data, is_program in entries:
            entry = zipfile.ZipInfo(path, made)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            archive.writestr(entry, data)
    print(f"package: {wheel.relative_to(PROJECT)}, {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
