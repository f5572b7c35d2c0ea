"""Quantizes ONNX, TFLite and Core ML models and tests every model that it writes.

    import ounce

    small = ounce.quantize("model.onnx", to="int8", data=loader, output="small.onnx")
    proof = ounce.verify("model.onnx", "small.onnx", data={"x": images, "y": labels}, labels="y", max_drop=0.01)
    assert proof.passed, proof.verdict

Every verb of the command line is a function here, with the same options under the same names.
"""

from ._errors import InternalError, MissingFileError, OunceError, RefusedError, RequestError, StoppedError, UnsupportedError
from ._native import set_file_guard
from ._native import version as _version
from ._results import (
    AdviseResult,
    BenchResult,
    CalibrateResult,
    CheckResult,
    ContractCheckResult,
    ContractResult,
    CopyResult,
    DiffResult,
    ExplainResult,
    InspectResult,
    ModelResult,
    OverviewResult,
    ProveResult,
    PublishResult,
    QuantizeResult,
    ReportResult,
    Result,
    SensitivityResult,
    ShadowReportResult,
    TuneResult,
    UnpackResult,
    VerifyResult,
    WorkResult,
)
from ._verbs import (
    advise,
    bench,
    calibrate,
    calibrate_merge,
    check,
    contract,
    diff,
    explain,
    inspect,
    overview,
    prove,
    publish,
    quantize,
    repack,
    report,
    sensitivity,
    shadow,
    tune,
    unpack,
    verify,
    work,
)

__version__ = _version()

#: The earlier name of :func:`repack`.
copy = repack

__all__ = [
    "AdviseResult",
    "BenchResult",
    "CalibrateResult",
    "CheckResult",
    "ContractCheckResult",
    "ContractResult",
    "CopyResult",
    "DiffResult",
    "ExplainResult",
    "InspectResult",
    "InternalError",
    "MissingFileError",
    "ModelResult",
    "OunceError",
    "OverviewResult",
    "ProveResult",
    "PublishResult",
    "QuantizeResult",
    "RefusedError",
    "ReportResult",
    "RequestError",
    "Result",
    "SensitivityResult",
    "ShadowReportResult",
    "StoppedError",
    "TuneResult",
    "UnpackResult",
    "UnsupportedError",
    "VerifyResult",
    "WorkResult",
    "advise",
    "bench",
    "calibrate",
    "calibrate_merge",
    "check",
    "contract",
    "copy",
    "diff",
    "explain",
    "inspect",
    "overview",
    "prove",
    "publish",
    "quantize",
    "repack",
    "report",
    "sensitivity",
    "set_file_guard",
    "shadow",
    "tune",
    "unpack",
    "verify",
    "work",
]
