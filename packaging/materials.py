#!/usr/bin/env python3
"""Lists the third-party code in the packages: license texts, and a bill of materials (CycloneDX, JSON).

usage: materials.py ARCHITECTURE FOLDER      writes LICENSE.others and ounce.cdx.json there
"""

import dataclasses
import datetime
import json
import pathlib
import subprocess
import sys
import uuid

from facts import DEBIAN, PROJECT, VERSION, WORK, timestamp


@dataclasses.dataclass
class Library:
    name: str
    source: str  # Debian's source package
    licence: str  # SPDX
    headers: str = ""  # Debian's package of what is header-only, and installed here

    def version(self):
        if self.headers:
            return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", self.headers], capture_output=True, text=True, check=True).stdout
        return (WORK / "sources" / self.source / "debian-version").read_text().strip()

    def copyright(self):
        if self.headers:
            return pathlib.Path(f"/usr/share/doc/{self.headers}/copyright").read_text()
        return (WORK / "sources" / self.source / "debian" / "copyright").read_text()


# docs/explanation/dependencies.md explains the use of each.
LIBRARIES = [
    Library("CLI11", "cli11", "BSD-3-Clause", "libcli11-dev"),
    Library("fmt", "fmtlib", "MIT"),
    Library("highway", "highway", "Apache-2.0"),
    Library("libjpeg-turbo", "libjpeg-turbo", "IJG AND BSD-3-Clause AND Zlib"),
    Library("libpng", "libpng1.6", "libpng-2.0"),
    Library("nlohmann-json", "nlohmann-json3", "MIT", "nlohmann-json3-dev"),
    Library("protozero", "protozero", "BSD-2-Clause AND Apache-2.0", "libprotozero-dev"),
    Library("re2", "re2", "BSD-3-Clause"),
    Library("tomlplusplus", "tomlplusplus", "MIT", "libtomlplusplus-dev"),
    Library("xxHash", "xxhash", "BSD-2-Clause"),
    Library("zlib", "zlib", "Zlib"),
]


def llvm():
    """The copies of LLVM's C++ runtime that zig links: (version, license text)."""
    zig = WORK / "tools" / "bin" / "zig"
    version = subprocess.run([WORK / "tools" / "x86_64-c++", "--version"], capture_output=True, text=True, check=True).stdout.split()[2]
    return version, (zig.resolve().parent / "lib" / "libcxx" / "LICENSE.TXT").read_text()


def licences():
    version, text = llvm()
    yield "libc++, libc++abi, libunwind", version, text
    for library in LIBRARIES:
        yield library.name, library.version(), library.copyright()


def bill(architecture):
    def component(name, version, licence, **others):
        return {"type": "library", "name": name, "version": version, "licenses": [{"expression": licence}], **others}

    parts = [component(library.name, library.version(), library.licence,
                       purl=f"pkg:deb/debian/{library.source}@{library.version().split(':')[-1]}?arch=source")
             for library in LIBRARIES]
    parts.append(component("libc++", llvm()[0], "Apache-2.0 WITH LLVM-exception"))
    made = datetime.datetime.fromtimestamp(timestamp(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    purl = f"pkg:generic/ounce@{VERSION}?arch={DEBIAN[architecture]}"
    for number, part in enumerate(parts):
        part["bom-ref"] = f"{part['name']}-{number}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, purl + made)}",
        "version": 1,
        "metadata": {
            "timestamp": made,
            "component": {"type": "application", "bom-ref": "ounce", "name": "ounce", "version": VERSION, "purl": purl,
                          "licenses": [{"expression": "Apache-2.0"}]},
        },
        "components": parts,
        "dependencies": [{"ref": "ounce", "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def write(architecture, folder):
    folder.mkdir(parents=True, exist_ok=True)
    rule = "=" * 100
    (folder / "LICENSE.others").write_text("".join(
        f"{rule}\n{name} {version}\n{rule}\n\n{text.strip()}\n\n" for name, version, text in licences()))
    (folder / "ounce.cdx.json").write_text(json.dumps(bill(architecture), indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(sys.argv[1], pathlib.Path(sys.argv[2]))
