"""What can go wrong, as exceptions. Each has the code that the command line would exit with."""

from __future__ import annotations

from typing import Any, Dict, Optional, Type


class OunceError(Exception):
    """Something went wrong. The message is one line: what, where, and what to do about it."""

    code = 70

    def __init__(self, message: str, document: Optional[Dict[str, Any]] = None):
        super().__init__(message)
        self.message = message
        #: What was found before, as ``--json`` would print it; ``None`` when there is nothing.
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
    """The operating system refused: no such file, a full disk, no memory."""

    code = 4


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
    return _BY_CODE.get(code, InternalError)(message, document)
