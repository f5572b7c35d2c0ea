"""The base classes of results; the classes themselves are in _results.py.

The fields of a result are those of the document that ``--json`` prints (docs/reference/json.md). ``str()`` gives what the command line
prints, ``to_dict()`` the whole document.
"""

from __future__ import annotations

import dataclasses
import html
import json
import os
import pathlib
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple, Type, TypeVar, Union, get_type_hints

from ._errors import RequestError

Json = Dict[str, Any]
#: The keys of a result's main table, the first one that it has.
_TABLES = ("formats", "models", "groups", "trials", "methods", "outputs", "targets", "tensors")
StructT = TypeVar("StructT", bound="Struct")


class Struct:
    """An object of a document."""

    @classmethod
    def from_dict(cls: Type[StructT], found: Json) -> StructT:
        """From an object of a document; a key without a field is left out, a field without a key is ``None``."""
        kinds = _kinds(cls)
        return cls(**{name: _decode(kind, found.get(key)) for key, (name, kind) in kinds.items()})


_KINDS: Dict[str, Dict[str, Tuple[str, Any]]] = {}


def _kinds(cls: Any) -> Dict[str, Tuple[str, Any]]:
    """Keys of the document: the names and types of the fields. ``class_`` is the key ``class``."""
    if cls.__name__ not in _KINDS:
        hints = get_type_hints(cls)
        names = [field.name for field in dataclasses.fields(cls)]
        _KINDS[cls.__name__] = {name.rstrip("_"): (name, hints[name]) for name in names}
    return _KINDS[cls.__name__]


def _decode(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    origin = getattr(kind, "__origin__", None)
    arguments: Tuple[Any, ...] = getattr(kind, "__args__", ())
    if origin is Union:  # Optional
        return _decode(arguments[0], value)
    if origin is list:
        return [_decode(arguments[0], one) for one in value]
    if origin is dict:
        return {key: _decode(arguments[1], one) for key, one in value.items()}
    return kind.from_dict(value) if isinstance(kind, type) and issubclass(kind, Struct) else value


class Result(Struct):
    """The result of a verb."""

    #: The figures that a notebook shows: attribute and words.
    _shown: Tuple[Tuple[str, str], ...] = ()
    _document: Json = {}
    _text = ""
    #: With several models: one for each that went well. This object has no fields of its own then.
    results: Sequence[Any] = ()

    def to_dict(self) -> Json:
        """The document that ``--json`` prints."""
        return self._document

    @property
    def errors(self) -> List[Any]:
        """The error of each model without a result: ``code``, ``id``, ``message``, ``fields`` and ``model``."""
        from ._results import ReportedError

        return [ReportedError.from_dict(one) for one in self._document.get("errors", [])]

    @property
    def all_notes(self) -> List[Any]:
        """All notes of the results: ``id``, ``message`` and ``model``. ``ounce.explain(id)`` explains a note."""
        from ._results import Note

        return [Note.from_dict(one) for one in self._document.get("notes", [])]

    @property
    def command(self) -> str:
        """The command line that does the same."""
        return str(self._document.get("command", ""))

    @property
    def next(self) -> Optional[str]:
        """The command that usually follows, for a shell."""
        found = self._document.get("next")
        return None if found is None else str(found)

    def show(self) -> None:
        """Shows the result: as HTML in a notebook, else as text."""
        if "ipykernel" in sys.modules:
            from IPython.display import display

            display(self)
        else:
            print(self)

    def to_html(self) -> str:
        """The result as a self-contained HTML page, as ``--report`` writes it."""
        from ._verbs import report

        with tempfile.TemporaryDirectory(prefix="ounce-") as folder:
            run, page = os.path.join(folder, "run.json"), os.path.join(folder, "page.html")
            with open(run, "w", encoding="utf-8") as file:
                json.dump(self._document, file)
            report(run, output=page, progress=False)
            with open(page, encoding="utf-8") as file:
                return file.read()

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Saves the result: the HTML page for a name in ``.html``, the document for one in ``.json``."""
        name = os.fspath(path)
        if not name.endswith((".html", ".json")):
            raise RequestError(f"{name}: the name of a saved result must end in .html or .json")
        text = self.to_html() if name.endswith(".html") else json.dumps(self._document, indent=2) + "\n"
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)

    def to_dataframe(self) -> Any:
        """The main table of the result as a ``pandas.DataFrame``: models, layers, candidates, outputs or targets."""
        import pandas

        found = self._document.get("results", [])
        key = next((key for key in _TABLES if len(found) == 1 and found[0].get(key)), None)
        return pandas.json_normalize(found[0][key] if key else found)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            several = "; it is about several models: see 'results'" if self.__dict__.get("results") else ""
            raise AttributeError(f"{type(self).__name__} has no '{name}'{several}")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        figures = ", ".join(f"{name}={getattr(self, name)!r}" for name, _ in self._shown if self._has(name))
        return f"{type(self).__name__}({figures})"

    def _has(self, name: str) -> bool:
        return name in self.__dict__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(words)}</th><td>{_cell(name, getattr(self, name))}</td></tr>"
            for name, words in self._shown
            if self._has(name)
        )
        report = f"<details><summary>report</summary><pre>{html.escape(self._text)}</pre></details>"
        return f"<table>{rows}</table>{report}"


def _cell(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "<b>no</b>"
    if value is None:
        return "–"
    if name.startswith("bytes"):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return "<br>".join(html.escape(v if isinstance(v, str) else repr(v)) for v in value) or "–"
    return html.escape(str(value))


class ModelResult(Result):
    """The result of a verb that writes a model. ``output`` is empty if the model is in memory; then ``to_bytes()`` returns it."""

    output: Any
    _written: Optional[bytes] = None

    def to_bytes(self) -> bytes:
        """The model that was written."""
        return pathlib.Path(self.output).read_bytes() if self._written is None else self._written

    def to_onnx(self) -> Any:
        """The model that was written, as an ``onnx.ModelProto``."""
        import onnx

        return onnx.load(self.output) if self._written is None else onnx.load_model_from_string(self._written)


class VerifyMethods:
    """Methods of the result of verify."""

    metrics: Any

    def metric(self, name: Optional[str] = None) -> Any:
        """The metric of this name, or the first."""
        for found in self.metrics:
            if name is None or found.name == name:
                return found
        raise KeyError(name)


class CheckMethods:
    """Methods of the result of check."""

    targets: Any

    @property
    def runs(self) -> bool:
        """Does it run on every target, as far as was measured?"""
        return all(target.verdict in ("runs", "slow", "unknown") for target in self.targets)


@dataclasses.dataclass(repr=False)
class ContractResult(ModelResult):
    """How raw data becomes what a model takes: the contract itself."""

    _shown = (("inputs", "inputs"),)
    inputs: Json
    output: str = ""


ResultT = TypeVar("ResultT", bound=Result)


def result_of(
    expected: Type[ResultT], classes: Sequence[Type[Any]], document: Json, text: str, written: Optional[bytes]
) -> ResultT:
    """The result of a call. ``classes``: those that the verb has; the keys of a result say which one it is."""
    if "results" not in document:  # a contract, or nothing
        found: List[Any] = [expected.from_dict(document)] if issubclass(expected, ContractResult) else []
    else:
        found = [_class_of(one, classes).from_dict(one) for one in document["results"]]
    is_one = len(found) == 1 and not document.get("errors")
    made: Any = found[0] if is_one else expected.__new__(expected)
    if not is_one:
        made.results = found
    made._document, made._text = document, text
    if isinstance(made, ModelResult) and written is not None:  # it is in no file any more
        made._written = written
        made.output = ""
        for one in document.get("results", []):
            one["output"] = ""
    result: ResultT = made
    return result


def _class_of(found: Json, classes: Sequence[Type[Any]]) -> Type[Any]:
    return next((cls for cls in classes if set(_kinds(cls)) == set(found)), classes[0])


__all__ = ["CheckMethods", "ContractResult", "Json", "ModelResult", "Result", "Struct", "VerifyMethods", "result_of"]
