"""Where ONNX Runtime and our own programs are."""

from __future__ import annotations

import functools
import importlib.util
import os
import pathlib
from typing import Optional

from ._native import library_path, package_folder


def program(name: str) -> Optional[str]:
    """A program of the package, or one in the folder of the library that ``OUNCE_LIBRARY`` names."""
    for folder in (package_folder() / "bin", library_path().resolve().parent):
        if (folder / name).is_file():
            return str(folder / name)
    return None


@functools.lru_cache(maxsize=None)
def default_runtime() -> Optional[str]:
    """The library in the package onnxruntime; ``None`` when ``OUNCE_ONNXRUNTIME`` names one, or there is none."""
    if os.environ.get("OUNCE_ONNXRUNTIME"):
        return None
    package = importlib.util.find_spec("onnxruntime")  # found, not loaded
    if package is None or package.origin is None:
        return None
    found = sorted((pathlib.Path(package.origin).parent / "capi").glob("libonnxruntime.so*"))
    return str(found[0]) if found else None
