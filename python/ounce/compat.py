"""The functions of ``onnxruntime.quantization`` and ``float16`` that people call, done by Ounce.

    from ounce.compat import CalibrationDataReader, QuantFormat, QuantType, quantize_static

A script changes its import and keeps its calls. Every argument is honored, or refused with a sentence. Op types and node names
that a model does not have are ignored with a ``UserWarning``, as scripts list them for many models. Arguments at their
defaults are chosen by Ounce, by measuring where there is data. The formats are those of ``ounce.quantize``: ``int8`` is static INT8,
``int8-dynamic`` is dynamic INT8, ``nbits4`` and ``nbits8`` are weights in MatMulNBits. Each function writes the file and returns a
:class:`ounce.QuantizeResult`. Enumerations may be those of this module or those of ONNX Runtime.
"""

from __future__ import annotations

import abc
import enum
import os
import re
import tempfile
import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from ._call import Model, call
from ._errors import RequestError
from ._results import CopyResult, QuantizeResult
from ._verbs import quantize, repack

Path = Union[str, "os.PathLike[str]"]

__all__ = [
    "CalibrationDataReader",
    "CalibrationMethod",
    "MatMulNBitsQuantizer",
    "QuantFormat",
    "QuantType",
    "convert_float_to_float16",
    "quant_pre_process",
    "quantize_dynamic",
    "quantize_static",
]


class QuantType(enum.Enum):
    """Types of weights and activations."""

    QInt8 = 0
    QUInt8 = 1
    QFLOAT8E4M3FN = 2
    QInt16 = 3
    QUInt16 = 4
    QInt4 = 5
    QUInt4 = 6


class QuantFormat(enum.Enum):
    """How integer arithmetic is written down: as integer ops, or with Q/DQ nodes around float ops."""

    QOperator = 0
    QDQ = 1


class CalibrationMethod(enum.Enum):
    """How the range of an activation is chosen."""

    MinMax = 0
    Entropy = 1
    Percentile = 2
    Distribution = 3


class CalibrationDataReader(abc.ABC):
    """Gives the inputs of one run after the other, and ``None`` at the end."""

    @abc.abstractmethod
    def get_next(self) -> Optional[Mapping[str, Any]]:
        """Arrays by the names of the model's inputs, as a session takes them."""

    def __iter__(self) -> "CalibrationDataReader":
        return self

    def __next__(self) -> Mapping[str, Any]:
        found = self.get_next()
        if found is None:
            raise StopIteration
        return found


_ACTIVATIONS = {"QInt8": "s8", "QUInt8": "u8", "QInt16": "s16", "QUInt16": "u16"}
_WEIGHTS = {"QInt8": "s8", "QUInt8": "u8", "QInt4": "s4"}
_METHODS = {"MinMax": "minmax", "Entropy": "entropy", "Percentile": "percentile"}
_DIALECTS = {"QDQ": "qdq", "QOperator": "qoperator"}

# Extra options that say what Ounce does anyway.
_DONE_ANYWAY = {
    "EnableSubgraph": True,  # weights in subgraphs are weights
    "MatMulConstBOnly": True,
    "ForceQuantizeNoInputCheck": False,
    "WeightSymmetric": True,
    "AddQDQPairToWeight": False,
    "DedicatedQDQPair": False,
    "QuantizeBias": True,
    "SmoothQuant": False,
    "QDQKeepRemovableActivations": False,
    "QDQDisableWeightAdjustForInt32Bias": False,
}


def _chosen(what: str, value: Any, known: Mapping[str, str]) -> Optional[str]:
    if value is None:
        return None
    name = getattr(value, "name", str(value))
    if name not in known:
        raise RequestError(f"{what}={name} has no counterpart; there are {', '.join(known)}")
    return known[name]


def _any_of(names: Optional[Iterable[str]]) -> List[str]:
    """Expressions that match these names, and nothing else."""
    return [_expression(name) for name in names or ()]


def _expression(name: str) -> str:
    return f"^{re.escape(name)}$"


def _name(expression: str) -> str:
    """The name that an expression was made of."""
    return re.sub(r"\\(.)", r"\1", expression[1:-1])


def _selected(
    op_types: Optional[Sequence[str]], nodes: Optional[Sequence[str]], excluded: Optional[Sequence[str]]
) -> Dict[str, Any]:
    if op_types and nodes:
        raise RequestError("op_types_to_quantize and nodes_to_quantize together have no counterpart: give one of them")
    return {"include": _any_of(op_types or nodes) or None, "exclude": _any_of(excluded) or None}


def _granularity(per_channel: Optional[bool]) -> Optional[str]:
    if per_channel is None:
        return None
    return "channel" if per_channel else "tensor"


def _from_extra(extra: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """The fields of a recipe for extra options."""
    options: Dict[str, Any] = {}
    for name, value in (extra or {}).items():
        if name in ("ActivationSymmetric", "CalibTensorRangeSymmetric"):
            options["symmetric_activations"] = bool(value) or options.get("symmetric_activations", False)
        elif name == "CalibPercentile":
            options["percentile"] = float(value)
        elif name == "CalibMovingAverage":
            options.update({"calibration": "mean"} if value else {})
        elif name == "OpTypesToExcludeOutputQuantization" and not value:
            continue
        elif name in ("CalibMaxIntermediateOutputs", "CalibMovingAverageConstant", "DefaultTensorType"):
            continue  # how much memory calibration takes, which is little, and how it is averaged
        elif name not in _DONE_ANYWAY or bool(value) != _DONE_ANYWAY[name]:
            raise RequestError(f"extra_options {name}={value} has no counterpart: leave it out")
    return options


def _call_quantize(
    model: Model, output: Path, wanted: Mapping[str, Any], external_data: bool = False
) -> QuantizeResult:
    options = {name: value for name, value in wanted.items() if value is not None}
    # Also takes expert options, which are no arguments of quantize().
    result = call(
        "quantize",
        QuantizeResult,
        {"model": model, "output": output, "external_data": "always" if external_data else "auto", "ignore_unmatched": True, **options},
    )
    if result.unmatched:
        names = ", ".join(repr(_name(expression)) for expression in result.unmatched)
        warnings.warn(f"the model has no op type or node to quantize or exclude called {names}", stacklevel=3)
    return result


def quantize_dynamic(
    model_input: Model,
    model_output: Path,
    op_types_to_quantize: Optional[Sequence[str]] = None,
    per_channel: Optional[bool] = None,
    reduce_range: Optional[bool] = None,
    weight_type: Any = None,
    nodes_to_quantize: Optional[Sequence[str]] = None,
    nodes_to_exclude: Optional[Sequence[str]] = None,
    use_external_data_format: bool = False,
    extra_options: Optional[Mapping[str, Any]] = None,
) -> QuantizeResult:
    """``ounce quantize --to int8-dynamic``: integer arithmetic whose activation scales are found at run time.

    Convolutions stay in FP32 with 8-bit weights, unless ``op_types_to_quantize`` names ``Conv``: they are several times
    slower in INT8 with dynamic scales.
    """
    wanted = {
        "to": "int8-dynamic",
        "granularity": _granularity(per_channel),
        "reduce_range": reduce_range,
        "weights": _chosen("weight_type", weight_type, _WEIGHTS),
        "dynamic_conv": True if "Conv" in (op_types_to_quantize or ()) else None,
        **_selected(op_types_to_quantize, nodes_to_quantize, nodes_to_exclude),
        **_from_extra(extra_options),
    }
    return _call_quantize(model_input, model_output, wanted, use_external_data_format)


def quantize_static(
    model_input: Model,
    model_output: Path,
    calibration_data_reader: Any = None,
    quant_format: Any = None,
    op_types_to_quantize: Optional[Sequence[str]] = None,
    per_channel: Optional[bool] = None,
    reduce_range: Optional[bool] = None,
    activation_type: Any = None,
    weight_type: Any = None,
    nodes_to_quantize: Optional[Sequence[str]] = None,
    nodes_to_exclude: Optional[Sequence[str]] = None,
    use_external_data_format: bool = False,
    calibrate_method: Any = None,
    calibration_providers: Optional[Sequence[Any]] = None,
    extra_options: Optional[Mapping[str, Any]] = None,
    calibration_cache_path: Optional[Path] = None,
) -> QuantizeResult:
    """``ounce quantize --to int8``: integer arithmetic with scales from calibration data.

    The reader may be anything that ``ounce.quantize`` takes as ``data``. Without ``calibrate_method`` the ranges are chosen
    by measuring.
    """
    if calibration_providers and "CPUExecutionProvider" not in [str(name) for name in calibration_providers]:
        raise RequestError("calibration_providers has no counterpart: calibration runs on the CPU")
    if calibration_cache_path is not None:
        raise RequestError("calibration_cache_path has no counterpart: ounce.calibrate() keeps ranges for ounce.quantize()")
    wanted = {
        "to": "int8",
        "data": calibration_data_reader,
        "dialect": _chosen("quant_format", quant_format, _DIALECTS),
        "granularity": _granularity(per_channel),
        "reduce_range": reduce_range,
        "activations": _chosen("activation_type", activation_type, _ACTIVATIONS),
        "weights": _chosen("weight_type", weight_type, _WEIGHTS),
        "calibration": _chosen("calibrate_method", calibrate_method, _METHODS),
        **_selected(op_types_to_quantize, nodes_to_quantize, nodes_to_exclude),
        **_from_extra(extra_options),
    }
    return _call_quantize(model_input, model_output, wanted, use_external_data_format)


def quant_pre_process(
    input_model: Model,
    output_model_path: Path,
    skip_optimization: bool = False,
    skip_onnx_shape: bool = False,
    skip_symbolic_shape: bool = False,
    auto_merge: bool = False,
    int_max: int = 2**31 - 1,
    guess_output_rank: bool = False,
    verbose: int = 0,
    save_as_external_data: bool = False,
    all_tensors_to_one_file: bool = False,
    external_data_location: Optional[str] = None,
    external_data_size_threshold: int = 1024,
) -> CopyResult:
    """Checks the model and copies it: ``quantize_static`` prepares a model by itself, and asks the runtime for shapes.

    The arguments that steer shape inference and optimization have nothing to steer and are taken as said; the file of
    external data has a name of its own.
    """
    del skip_optimization, skip_onnx_shape, skip_symbolic_shape, auto_merge, int_max, guess_output_rank, verbose
    if external_data_location is not None or external_data_size_threshold != 1024:
        raise RequestError(
            "external_data_location and external_data_size_threshold have no counterpart: the file gets the model's name"
        )
    wants_files = save_as_external_data or all_tensors_to_one_file
    return repack(input_model, output=output_model_path, external_data="always" if wants_files else "auto")


def convert_float_to_float16(
    model: Model,
    min_positive_val: Optional[float] = None,
    max_finite_val: Optional[float] = None,
    keep_io_types: bool = False,
    disable_shape_infer: bool = False,
    op_block_list: Optional[Sequence[str]] = None,
    node_block_list: Optional[Sequence[str]] = None,
    *,
    check_fp16_ready: bool = True,
    force_fp16_initializers: bool = False,
    force_fp16_inputs: Optional[Mapping[str, Any]] = None,
    use_bfloat16_as_blocked_nodes_dtype: bool = False,
) -> Any:
    """``ounce quantize --to fp16``; gives an ``onnx.ModelProto``.

    Numbers that 16 bits cannot hold are followed through the graph and kept in FP32, so no number is cut off and there are
    no limits to give.
    """
    del disable_shape_infer, check_fp16_ready
    if min_positive_val is not None or max_finite_val is not None:
        raise RequestError(
            "min_positive_val and max_finite_val have no counterpart: values outside of the range of FP16 are kept in FP32"
        )
    if force_fp16_initializers or force_fp16_inputs or use_bfloat16_as_blocked_nodes_dtype:
        raise RequestError(
            "force_fp16_initializers, force_fp16_inputs and use_bfloat16_as_blocked_nodes_dtype have no counterpart: the "
            "types follow from the numbers and the ops"
        )
    if not isinstance(keep_io_types, bool):
        raise RequestError("keep_io_types takes True or False: all inputs and outputs keep their types, or none")
    wanted = {
        "to": "fp16",
        "io": "keep" if keep_io_types else "fp16",
        "keep_fp32": _any_of([*(op_block_list or ()), *(node_block_list or ())]) or None,
    }
    return _MadeModel(model, wanted).model


class _MadeModel:
    """The value of ``MatMulNBitsQuantizer.model`` after ``process()``. Its files are removed with it."""

    def __init__(self, model: Model, wanted: Mapping[str, Any]):
        self._folder = tempfile.TemporaryDirectory(prefix="ounce-")
        self.result = _call_quantize(model, os.path.join(self._folder.name, "model.onnx"), wanted)

    @property
    def model(self) -> Any:
        """As an ``onnx.ModelProto``, with external data in it."""
        return self.result.to_onnx()

    def save_model_to_file(self, output_path: Path, use_external_data_format: bool = False) -> None:
        """Writes the model."""
        repack(self.result.output, output=output_path, external_data="always" if use_external_data_format else "auto")


class MatMulNBitsQuantizer:
    """``ounce quantize --to nbits4`` or ``nbits8``: weights of MatMul in blocks, for the runtime's own kernels.

    ``algo_config`` may be the default one, RTN or GPTQ, whose reader may be any data. Without an ``accuracy_level`` the
    fast kernels are used, unless measurements on data show that their output error is too large.
    """

    def __init__(
        self,
        model: Model,
        bits: int = 4,
        block_size: int = 128,
        is_symmetric: bool = False,
        accuracy_level: Optional[int] = None,
        nodes_to_exclude: Optional[Sequence[str]] = None,
        nodes_to_include: Optional[Sequence[str]] = None,
        quant_format: Any = None,
        op_types_to_quantize: Optional[Sequence[str]] = None,
        quant_axes: Optional[Sequence[Any]] = None,
        channel_wised_quantize: bool = False,
        algo_config: Any = None,
    ):
        algorithm = getattr(algo_config, "algorithm", None)
        if algo_config is not None and algorithm not in ("DEFAULT", "RTN", "GPTQ"):
            raise RequestError(f"algo_config {algorithm or type(algo_config).__name__} has no counterpart: leave it out")
        # Such a configuration repeats arguments, and its own count.
        bits = getattr(algo_config, "bits", bits)
        block_size = getattr(algo_config, "block_size", block_size)
        is_symmetric = getattr(algo_config, "is_symmetric", is_symmetric)
        accuracy_level = getattr(algo_config, "accuracy_level", accuracy_level)
        if bits not in (4, 8):
            raise RequestError(f"bits={bits} has no counterpart: there are 4 and 8")
        if accuracy_level not in (None, 0, 1, 4):
            raise RequestError(f"accuracy_level={accuracy_level} has no counterpart: there are 0, 1 and 4")
        if quant_axes is not None or channel_wised_quantize:
            raise RequestError(
                "quant_axes and channel_wised_quantize have no counterpart: blocks go along the axis that is summed over"
            )
        self._given = model
        self._wanted: Dict[str, Any] = {
            "to": f"nbits{bits}",
            "granularity": f"block:{block_size}",
            "asymmetric": not is_symmetric,
            "accuracy_level": None if accuracy_level is None else str(accuracy_level),
            "kernels": _chosen("quant_format", quant_format, {"QOperator": "nbits", "QDQ": "qdq"}),
            "method": "gptq" if algorithm == "GPTQ" else None,
            "data": getattr(algo_config, "calibration_data_reader", None),
            **_selected(
                None if nodes_to_include else op_types_to_quantize or ("MatMul",), nodes_to_include, nodes_to_exclude
            ),
        }
        self.model: Any = model
        self.result: Optional[QuantizeResult] = None

    def process(self) -> None:
        """Makes the model; ``self.model`` has it from here on, and ``self.result`` what was done."""
        self.model = _MadeModel(self._given, self._wanted)
        self.result = self.model.result
