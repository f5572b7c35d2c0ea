#!/usr/bin/env python3
"""Makes the .tar.gz: a relocatable folder with bin/, lib/, include/ and share/.

usage: archive.py ARCHITECTURE      writes build-package/dist/ounce-VERSION-linux-ARCHITECTURE.tar.gz
"""

import gzip
import sys
import tarfile

from facts import DIST, PROJECT, VERSION, WORK, stage, timestamp


def main(architecture):
    DIST.mkdir(parents=True, exist_ok=True)
    name = f"ounce-{VERSION}-linux-{architecture}"
    archive = DIST / f"{name}.tar.gz"
    made = timestamp()

    def plain(entry):  # no owner, and a fixed time
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = made
        return entry

    with open(archive, "wb") as file, gzip.GzipFile("", "wb", 9, file, made) as packed, \
         tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        built = stage(architecture)
        for path in sorted(built.rglob("*")):
            tar.add(path, f"{name}/{path.relative_to(built)}", recursive=False, filter=plain)
        for path in sorted((WORK / architecture / "materials").iterdir()):
            tar.add(path, f"{name}/share/doc/ounce/{path.name}", filter=plain)
    print(f"package: {archive.relative_to(PROJECT)}, {archive.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
