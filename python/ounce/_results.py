"""What the verbs found: the documents of docs/interface.md as objects.

Every key of a document is an attribute; those that most people look for are declared, so that editors know them.
``str()`` gives what the command line prints, ``to_dict()`` the whole document.
"""

from __future__ import annotations

import html
import json
import pathlib
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

Json = Dict[str, Any]


class Result:
    """What a verb found."""

    #: The figures that a notebook shows: attribute and words.
    _shown: Tuple[Tuple[str, str], ...] = ()

    def __init__(self, document: Json, row: Json, text: str):
        self._document, self._row, self._text = document, row, text

    def to_dict(self) -> Json:
        """The document that ``--json`` prints."""
        return self._document

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            for part in (self.__dict__.get("_row", {}), self.__dict__.get("_document", {})):
                if name in part:
                    return part[name]
            raise AttributeError(f"{type(self).__name__} has no '{name}'")

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self._row, *self._document})

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        figures = ", ".join(f"{name}={self._value(name)!r}" for name, _ in self._shown if self._has(name))
        return f"{type(self).__name__}({figures})"

    def _has(self, name: str) -> bool:
        return name in self._row or name in self._document

    def _value(self, name: str) -> Any:
        return self._row.get(name, self._document.get(name))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(words)}</th><td>{_cell(name, self._value(name))}</td></tr>"
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
        return "<br>".join(html.escape(v if isinstance(v, str) else json.dumps(v)) for v in value) or "–"
    return html.escape(str(value))


class ModelResult(Result):
    """Of a verb that writes a model; ``output`` is empty when that is in memory, where ``to_bytes()`` has it."""

    output: str

    def __init__(self, document: Json, row: Json, text: str, written: Optional[bytes] = None):
        super().__init__(document, row, text)
        self._written = written
        if written is not None:  # it is in no file any more
            (row or document)["output"] = ""

    def to_bytes(self) -> bytes:
        """The model that was written."""
        return pathlib.Path(self.output).read_bytes() if self._written is None else self._written

    def to_onnx(self) -> Any:
        """The model that was written, as an ``onnx.ModelProto``."""
        import onnx

        return onnx.load(self.output) if self._written is None else onnx.load_model_from_string(self._written)


class InspectResult(Result):
    """What is in a model."""

    _shown = (
        ("model", "model"),
        ("bytes", "bytes"),
        ("bytes_after", "bytes after quantize"),
        ("nodes", "nodes"),
        ("opsets", "opsets"),
        ("notes", "notes"),
        ("blockers", "what blocks it"),
    )
    model: str
    bytes: int
    weight_bytes: int
    bytes_after: int
    nodes: int
    opsets: Dict[str, int]
    metadata: Dict[str, str]
    inputs: List[Json]
    outputs: List[Json]
    ops: List[Json]
    tensors: List[Json]
    notes: List[str]
    blockers: List[str]


class QuantizeResult(ModelResult):
    """What was made of a model. ``trial`` tells what became of it in ONNX Runtime before it was written."""

    _shown = (
        ("output", "output"),
        ("stored_as", "stored as"),
        ("bytes_before", "bytes before"),
        ("bytes_after", "bytes after"),
        ("ratio", "ratio"),
        ("sqnr_db", "weights, dB"),
        ("notes", "notes"),
    )
    model: str
    format: str
    stored_as: str
    bytes_before: int
    bytes_after: int
    ratio: float
    sqnr_db: Optional[float]
    exact: bool
    trial: Json
    tensors: List[Json]
    nodes: List[Json]
    activations: List[Json]
    notes: List[str]
    unmatched: List[str]
    scale_changes: List[Json]
    seconds: float
    source_digest: str
    plan_digest: str


class CalibrateResult(Result):
    """What activations look like on data, and where that was written."""

    _shown = (("output", "output"), ("samples", "samples"), ("notes", "notes"))
    output: str
    samples: int
    values: List[Json]
    notes: List[str]
    seconds: float


class VerifyResult(Result):
    """Does a candidate still do what the reference does?"""

    _shown = (
        ("passed", "passed"),
        ("verdict", "verdict"),
        ("samples", "samples"),
        ("max_abs_diff", "largest difference"),
        ("failures", "failures"),
        ("notes", "notes"),
    )
    passed: bool
    verdict: str
    failures: List[str]
    samples: int
    max_abs_diff: Optional[float]
    mean_abs_diff: Optional[float]
    outputs: List[Json]
    metrics: List[Json]
    edge_cases: List[Json]
    worst: List[Json]
    notes: List[str]
    seconds: float

    def metric(self, name: Optional[str] = None) -> Json:
        """The metric of this name, or the first."""
        for found in self.metrics:
            if name is None or found["name"] == name:
                return dict(found)
        raise KeyError(name)


class BenchResult(Result):
    """Times and memory of models, in the order in which they were given."""

    _shown = (("runtime_version", "ONNX Runtime"), ("cpu", "CPU"), ("threads", "threads"), ("notes", "notes"))
    models: List[Json]
    runtime_version: str
    threads: int
    rounds: int
    load: Optional[float]
    notes: List[str]


class SensitivityResult(Result):
    """Which layers suffer from a format."""

    _shown = (("model", "model"), ("notes", "notes"))
    model: str
    notes: List[str]


class TuneResult(ModelResult):
    """The best model that passes the gate."""

    _shown = (("passed", "passed"), ("verdict", "verdict"), ("output", "output"), ("notes", "notes"))
    model: str
    passed: bool
    notes: List[str]


class AdviseResult(Result):
    """Should a model be quantized, how, and what will it bring?"""

    _shown = (("model", "model"), ("verdict", "verdict"), ("notes", "notes"))
    model: str


class CheckResult(Result):
    """Will it run there?"""

    _shown = (("model", "model"), ("opset", "opset"), ("file_bytes", "bytes"), ("memory_bytes", "bytes in memory"))
    model: str
    opset: int
    ir_version: int
    file_bytes: int
    memory_bytes: int
    targets: List[Json]
    hints: List[Json]

    @property
    def runs(self) -> bool:
        """Does it run on every target, as far as was measured?"""
        return all(target["verdict"] in ("runs", "slow", "unknown") for target in self.targets)


class CopyResult(ModelResult):
    """A model that was read, checked and written."""

    _shown = (("output", "output"), ("bytes_before", "bytes before"), ("bytes_after", "bytes after"))
    model: str
    bytes_before: int
    bytes_after: int


class PublishResult(Result):
    """Every variant of a model that was made, gated and measured."""

    _shown = (("output", "output"), ("layout", "layout"), ("configs", "configs"), ("notes", "notes"))
    output: Optional[str]
    layout: str
    models: List[Json]
    configs: List[str]
    carried: List[str]
    notes: List[str]
    seconds: float


class ProveResult(Result):
    """The provenance record of a model, and whether it is proved."""

    _shown = (("model", "model"), ("verdict", "verdict"), ("reason", "reason"))
    model: str
    verdict: str  # "proved", "unproved" or "refuted"
    reason: str
    holds: bool  # not refuted
    statement: Json
    steps: List[Json]


class DiffResult(Result):
    """What changed between two models."""

    _shown = (("a", "a"), ("b", "b"), ("same", "same"), ("changes", "changes"))
    a: str
    b: str
    same: bool
    bytes_before: int
    bytes_after: int
    changes: List[Json]
    ops: List[Json]
    nodes_changed: List[Json]
    nodes_added: List[Json]
    nodes_removed: List[Json]
    tensors: List[Json]


class ReportResult(Result):
    """A page that was drawn."""

    _shown = (("output", "output"), ("bytes", "bytes"))
    output: str
    runs: List[str]
    bytes: int


class ContractResult(ModelResult):
    """How raw data becomes what a model takes."""

    _shown = (("inputs", "inputs"),)
    inputs: Json


class ContractCheckResult(Result):
    """Is data what the contract says?"""

    _shown = (("passed", "passed"), ("samples", "samples"), ("findings", "findings"))
    passed: bool
    samples: int
    findings: List[str]


class UnpackResult(Result):
    """A model unpacked for this machine; ``file`` is None where it stays as it is, and ``why_not`` says why."""

    _shown = (("file", "file"), ("bytes", "bytes"), ("model_bytes", "packed bytes"), ("why_not", "why not"))
    model: str
    file: Optional[str]
    status: str
    why_not: str
    is_new: bool
    in_runner: bool
    model_bytes: int
    bytes: int
    digest: str
    runtime_version: str
    cpu: str
    seconds: float


class ShadowReportResult(Result):
    """What a candidate did beside the model that answered."""

    _shown = (("passed", "passed"), ("reasons", "reasons"), ("compared", "calls compared"), ("agreement", "agreement"))
    passed: bool
    known: bool
    reasons: List[str]
    devices: int
    calls: int
    compared: int
    dropped: int
    failures: Json
    canary: Json
    agreement: float
    sqnr_db: Optional[float]
    outputs: List[Json]


def row_of(document: Json) -> Json:
    """What the only model gave, of a document with a list of models."""
    for name in ("models", "candidates"):
        rows = document.get(name, [])
        if len(rows) == 1 and document.get("verb") not in ("bench", "publish"):
            row: Json = rows[0]
            return row
    return {}
