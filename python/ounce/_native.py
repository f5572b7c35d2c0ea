"""libounce.so by ctypes: include/ounce/ounce.h, and nothing else of it.

ctypes lets go of the interpreter's lock while a function runs, and takes it again for callbacks.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import pathlib
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ._errors import error_of

ABI_VERSION = 1

#: An array in memory: the name of its type, and the array itself, which is not copied.
TypedArray = Tuple[str, Any]

_METRIC = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
_PROGRESS = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64
)


class _Array(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_size_t),
        ("values", ctypes.c_void_p),
    ]


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_char_p)]


_FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "ounce_set_file_guard": (None, [ctypes.c_int]),
    "ounce_abi_version": (ctypes.c_uint32, []),
    "ounce_version": (ctypes.c_char_p, []),
    "ounce_verbs": (ctypes.c_char_p, []),
    "ounce_call_new": (ctypes.c_void_p, [ctypes.c_char_p]),
    "ounce_call_free": (None, [ctypes.c_void_p]),
    "ounce_call_help": (ctypes.c_char_p, [ctypes.c_void_p]),
    "ounce_call_options": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]),
    "ounce_call_model": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]),
    "ounce_call_array": (ctypes.c_int, [ctypes.c_void_p, ctypes.POINTER(_Array)]),
    "ounce_call_sample": (
        ctypes.c_int,
        [ctypes.c_void_p, ctypes.POINTER(_Array), ctypes.c_size_t, ctypes.c_int],
    ),
    "ounce_call_metric": (ctypes.c_int, [ctypes.c_void_p, _METRIC, ctypes.c_void_p]),
    "ounce_call_on_progress": (ctypes.c_int, [ctypes.c_void_p, _PROGRESS, ctypes.c_void_p]),
    "ounce_call_run": (ctypes.c_int, [ctypes.c_void_p]),
    "ounce_call_stop": (None, [ctypes.c_void_p]),
    "ounce_call_document": (ctypes.c_char_p, [ctypes.c_void_p]),
    "ounce_call_text": (ctypes.c_char_p, [ctypes.c_void_p]),
    "ounce_call_error": (ctypes.POINTER(_Error), [ctypes.c_void_p]),
    "ounce_call_output": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)]),
}


def package_folder() -> pathlib.Path:
    return pathlib.Path(__file__).resolve().parent


def library_path() -> pathlib.Path:
    """``OUNCE_LIBRARY`` if it is set, otherwise the library in the package."""
    named = os.environ.get("OUNCE_LIBRARY")
    if named:
        return pathlib.Path(named)
    found = sorted((package_folder() / "lib").glob("libounce.so*"))
    if not found:
        raise ImportError("libounce.so is not in the package; OUNCE_LIBRARY can name it")
    return found[0]


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    path = library_path()
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as problem:
        raise ImportError(f"{path} cannot be loaded: {problem}") from problem
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    if loaded.ounce_abi_version() != ABI_VERSION:
        raise ImportError(f"{path} has the interface {loaded.ounce_abi_version()}, and this module wants {ABI_VERSION}")
    return loaded


def set_file_guard(is_on: bool) -> None:
    """Whether a file that is truncated while it is read raises ``RefusedError`` (the default) or ends the process.

    The guard is a handler for SIGBUS, which the first call that reads a file installs; every other SIGBUS goes to the
    handler before it. ``set_file_guard(False)`` before that call installs none.
    """
    library().ounce_set_file_guard(int(is_on))


def version() -> str:
    return str(library().ounce_version().decode())


def verbs() -> List[str]:
    names: List[str] = json.loads(library().ounce_verbs())
    return names


def _view(name: str, typed: TypedArray, kept: List[Any]) -> _Array:
    type_name, array = typed
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    kept.extend((array, shape))
    return _Array(name.encode(), type_name.encode(), shape, array.ndim, array.ctypes.data)


class Call:
    """One run of one verb. Used in one thread at a time, except for stop()."""

    def __init__(self, verb: str):
        self._library = library()
        self._kept: List[Any] = []  # memory that the library reads until the call is freed
        self._handle = self._library.ounce_call_new(verb.encode())
        if not self._handle:
            raise MemoryError("out of memory")

    def __enter__(self) -> "Call":
        return self

    def __exit__(self, *_: object) -> None:
        self._library.ounce_call_free(self._handle)
        self._handle = None
        self._kept.clear()

    def _require(self, code: int) -> None:
        if code != 0:
            raise error_of(code, self.message() or "the call was refused")

    def help(self) -> Dict[str, Any]:
        text = self._library.ounce_call_help(self._handle)
        if text is None:
            raise error_of(2, self.message() or "there is no such verb")
        described: Dict[str, Any] = json.loads(text)
        return described

    def add_options(self, options: Mapping[str, Any]) -> None:
        self._require(self._library.ounce_call_options(self._handle, json.dumps(options).encode()))

    def add_model(self, argument: str, model: bytes) -> None:
        self._require(self._library.ounce_call_model(self._handle, argument.encode(), model, len(model)))

    def add_array(self, name: str, array: TypedArray) -> None:
        view = _view(name, array, self._kept)
        self._require(self._library.ounce_call_array(self._handle, ctypes.byref(view)))

    def add_sample(self, sample: Mapping[str, TypedArray], has_batch_axis: bool) -> None:
        views = (_Array * len(sample))(*(_view(name, array, self._kept) for name, array in sample.items()))
        self._require(self._library.ounce_call_sample(self._handle, views, len(sample), has_batch_axis))

    def set_metric(self, metric: Callable[[str], str]) -> None:
        """``metric`` gets the folder of outputs, and gives what a command would print."""

        def call(_: object, folder: bytes, answer: int, size: int) -> int:
            failed = 0
            try:
                said = metric(os.fsdecode(folder))
            except BaseException as problem:
                said, failed = f"{type(problem).__name__}: {problem}", 1
            text = said.encode(errors="replace")[: size - 1]
            ctypes.memmove(answer, text + b"\0", len(text) + 1)
            return failed

        function = _METRIC(call)
        self._kept.append(function)
        self._require(self._library.ounce_call_metric(self._handle, function, None))

    def set_progress(self, progress: Callable[[str, str, int, int], bool]) -> None:
        """``progress`` gets what is worked on, the stage, and how much of it is done; ``True`` stops the call."""

        def call(_: object, what: bytes, stage: bytes, done: int, total: int) -> int:
            try:
                return 1 if progress(os.fsdecode(what), stage.decode(), done, total) else 0
            except BaseException:
                return 1

        function = _PROGRESS(call)
        self._kept.append(function)
        self._require(self._library.ounce_call_on_progress(self._handle, function, None))

    def run(self) -> int:
        return int(self._library.ounce_call_run(self._handle))

    def stop(self) -> None:
        self._library.ounce_call_stop(self._handle)

    def document(self) -> Optional[Dict[str, Any]]:
        text = self._library.ounce_call_document(self._handle)
        if text is None:
            return None
        found: Dict[str, Any] = json.loads(text)
        return found

    def text(self) -> str:
        return str(self._library.ounce_call_text(self._handle).decode(errors="replace"))

    def message(self) -> Optional[str]:
        error = self._library.ounce_call_error(self._handle)
        if not error:
            return None
        return str(error.contents.message.decode(errors="replace"))

    def output(self) -> Optional[bytes]:
        size = ctypes.c_size_t()
        found = self._library.ounce_call_output(self._handle, ctypes.byref(size))
        return ctypes.string_at(found, size.value) if found else None


def describe(verb: str) -> Dict[str, Any]:
    with Call(verb) as call:
        return call.help()
