"""The exceptions of the module. Each has the exit code of the command line."""

from __future__ import annotations

import errno
import os
from typing import Any, Dict, Optional, Type


class OunceError(Exception):
    """Something went wrong. The message is one line: what, where, and what to do about it."""

    code = 70

    def __init__(self, message: str, document: Optional[Dict[str, Any]] = None):
        super().__init__(message)
        self.message = message
        #: The results before the error, as ``--json`` prints them; ``None`` if there are no results.
        self.document = document

    def __str__(self) -> str:
        return self.message


class RequestError(OunceError, ValueError):
    """An argument makes no sense, or a file is not what it should be."""

    code = 2


class UnsupportedError(OunceError):
    """The request and the model are fine, but nothing can be done."""

    code = 3


class RefusedError(OunceError, OSError):
    """An I/O error: a missing file, a full disk, no memory."""

    code = 4


class MissingFileError(RefusedError, FileNotFoundError):
    """A model, data or a folder does not exist. ``filename`` is its path."""

    def __init__(self, message: str, document: Optional[Dict[str, Any]] = None):
        super().__init__(message, document)
        self.errno = errno.ENOENT
        self.strerror = os.strerror(errno.ENOENT)
        before = message.split(f": {self.strerror}")[0]  # "model.onnx: absent.npz: cannot open"
        self.filename = before.split(": ")[-2] if ": " in before else None


class InternalError(OunceError):
    """A bug of Ounce's."""

    code = 70


class StoppedError(OunceError):
    """A progress function asked to stop; nothing was written."""

    code = 130


_BY_CODE: Dict[int, Type[OunceError]] = {
    error.code: error for error in (RequestError, UnsupportedError, RefusedError, InternalError, StoppedError)
}


def error_of(code: int, message: str, document: Optional[Dict[str, Any]] = None) -> OunceError:
    """The exception for a code of the C API."""
    # The library says it in the words of the same C library.
    if code == RefusedError.code and os.strerror(errno.ENOENT) in message:
        return MissingFileError(message, document)
    return _BY_CODE.get(code, InternalError)(message, document)
