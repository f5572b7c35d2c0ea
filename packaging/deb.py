#!/usr/bin/env python3
"""Makes the .deb: the programs, libounce.so with its header and its CMake package, the manual and the completions. It runs on
every Debian and Ubuntu with this glibc or a newer one, because it links no other system library.

usage: deb.py ARCHITECTURE      writes build-package/dist/ounce_VERSION_ARCHITECTURE.deb
"""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from facts import DEBIAN, DIST, GLIBC, PROJECT, PYTHON, VERSION, WORK, stage, timestamp

CONTROL = """Package: ounce
Version: {version}
Architecture: {architecture}
Maintainer: The Ounce authors <ounce@localhost>
Installed-Size: {size}
Section: science
Priority: optional
Depends: libc6 (>= {glibc})
Recommends: bash-completion
Suggests: libonnxruntime1.21, python3-onnxruntime
Description: {summary}
 Quantizes ONNX models, compares them with the original, measures their speed,
 and checks that they run on the target. ONNX Runtime runs the models. It is not
 in this package: Ounce searches the system's libraries, the active virtual
 environment of Python (pip install onnxruntime) and the path in
 OUNCE_ONNXRUNTIME.
"""


def main(architecture):
    built, debian = stage(architecture), DEBIAN[architecture]
    DIST.mkdir(parents=True, exist_ok=True)
    package = DIST / f"ounce_{VERSION}_{debian}.deb"
    made = timestamp()
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        root = pathlib.Path(folder)
        root.chmod(0o755)
        usr = root / "usr"
        shutil.copytree(built, usr, symlinks=True)
        doc = usr / "share" / "doc" / "ounce"
        doc.mkdir(parents=True, exist_ok=True)
        materials = WORK / architecture / "materials"
        shutil.copy(materials / "ounce.cdx.json", doc)
        (doc / "copyright").write_text("Ounce: Apache-2.0, see /usr/share/common-licenses/Apache-2.0.\n\nLinked libraries:\n\n"
                                       + (materials / "LICENSE.others").read_text())
        (doc / "LICENSE").unlink(missing_ok=True)
        for page in (usr / "share" / "man" / "man1").glob("*.1"):
            page.with_suffix(".1.gz").write_bytes(gzip.compress(page.read_bytes(), 9, mtime=0))
            page.unlink()
        vendor = usr / "share" / "zsh"  # Debian's zsh reads completions of packages here
        (vendor / "vendor-completions").mkdir()
        (vendor / "site-functions" / "_ounce").rename(vendor / "vendor-completions" / "_ounce")
        (vendor / "site-functions").rmdir()
        size = sum(path.stat().st_size for path in usr.rglob("*") if path.is_file()) // 1024
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN" / "control").write_text(CONTROL.format(
            version=VERSION, architecture=debian, size=size, glibc=GLIBC, summary=PYTHON["description"]))
        (root / "DEBIAN" / "triggers").write_text("activate-noawait ldconfig\n")
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, package], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "SOURCE_DATE_EPOCH": str(made)})
    print(f"package: {package.relative_to(PROJECT)}, {package.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
