"""Passes data to the library: paths, arrays, loaders, readers.

Arrays are not copied. A loader, reader or generator is read once, and its arrays are kept until the call ends: pass
``samples`` if there are more than memory holds.
"""

from __future__ import annotations

import itertools
import os
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from ._errors import RequestError
from ._native import Call, TypedArray

Path = Union[str, "os.PathLike[str]"]

#: A path; paths by input; arrays by input, their first axis counts the samples; one such array, where the model takes
#: one input; a tuple of such arrays in the order of the inputs, with the labels behind them; or an iterable of samples or batches: mappings by input, tuples in the order of the inputs, single arrays.
#: Also whatever has ``get_next()``, such as a ``CalibrationDataReader``.
Data = Union[Path, Mapping[str, Any], Iterable[Any]]

_LABELS = "labels"
_NUMBERS = frozenset(
    "float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()
)


class Input(NamedTuple):
    """An input of a model."""

    name: str
    rank: Optional[int]  # None: unknown
    has_free_batch: bool


def is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def inputs_of(description: Sequence[Any]) -> List[Input]:
    """Of inputs as inspect has them: ``name`` "x", ``shape`` [-1, 3, 224, 224]."""
    return [Input(value.name, len(value.shape) or None, value.shape[:1] == [-1]) for value in description]


def as_array(value: Any, name: str) -> TypedArray:
    """Numbers of NumPy, torch or anything that NumPy takes; copied only when they are not in one piece."""
    import numpy

    type_name = None
    if hasattr(value, "detach"):  # torch
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":  # NumPy has none
            import torch

            type_name, value = "bfloat16", value.contiguous().view(torch.int16)
        value = value.numpy()
    array = numpy.asarray(value)
    if not array.flags.c_contiguous or not array.dtype.isnative:
        array = numpy.array(array, dtype=array.dtype.newbyteorder("="), order="C")  # keeps an array without axes
    if type_name is None:
        type_name = array.dtype.name
    if type_name not in _NUMBERS:
        raise RequestError(f"'{name}' holds {type_name}, and not numbers that a model takes")
    return type_name, array


def _is_array(value: object) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _items_of(data: Any, most: Optional[int]) -> Iterator[Any]:
    if hasattr(data, "get_next"):
        items: Iterator[Any] = iter(data.get_next, None)
    elif not hasattr(data, "__iter__") and hasattr(data, "__len__"):  # a dataset that knows its end, and does not say it
        items = (data[i] for i in range(len(data)))
    else:
        items = iter(data)
    return itertools.islice(items, most)


def _named(item: Any, inputs: Sequence[Input], labels: Optional[str]) -> Dict[str, TypedArray]:
    """The fields of one item that the model or the labels need, by name."""
    if isinstance(item, Mapping):
        wanted = {value.name for value in inputs} | {labels}
        # An item with none of the names is left whole: a model of one input takes what there is.
        names = [name for name in item if name in wanted] if any(v.name in item for v in inputs) else list(item)
        return {name: as_array(item[name], name) for name in names}
    values = list(item) if isinstance(item, (tuple, list)) and any(map(_is_array, item)) else [item]
    names = [value.name for value in inputs][: len(values)]
    if len(values) > len(names):
        names.append(labels or _LABELS)
    return {name: as_array(value, name) for name, value in zip(names, values)}


def _batch_of(sample: Mapping[str, TypedArray], inputs: Sequence[Input]) -> Tuple[bool, bool]:
    """Does an item have a batch axis, and does that count samples which can be taken one by one?"""
    ranks = {value.name: value for value in inputs}
    known = [(ranks[name], array) for name, (_, array) in sample.items() if name in ranks and ranks[name].rank]
    if not known and len(inputs) == 1 and inputs[0].rank:  # under another name
        known = [(inputs[0], array) for _, (_, array) in list(sample.items())[:1]]
    has_batch = any(array.ndim >= (value.rank or 0) for value, array in known)
    is_free = all(value.has_free_batch for value, _ in known)
    sizes = {array.shape[0] if array.ndim else None for _, array in sample.values()}
    return has_batch, has_batch and is_free and len(sizes) == 1 and None not in sizes


def _is_one_batch(data: Any, inputs: Sequence[Input]) -> bool:
    """Is a tuple (x, y) all the data there is, rather than a sequence of samples?"""
    if not isinstance(data, tuple) or len(data) < 2 or not all(map(_is_array, data)):
        return False
    fed, labels = data[: len(inputs)], data[len(inputs) :]
    if len(fed) < len(inputs) or len(labels) > 1:
        return False
    if any(len(array.shape) < (value.rank or 1) for array, value in zip(fed, inputs)):
        return False  # samples without a batch axis
    if labels and len(labels[0].shape) >= len(fed[0].shape):
        return False  # two batches of the same input
    lengths = [array.shape[0] if array.shape else 0 for array in data]
    if len(set(lengths)) > 1:
        raise RequestError(f"the arrays of 'data' have {', '.join(map(str, lengths))} samples: they must have the same number")
    return True


def _add_items(call: Call, data: Any, inputs: Sequence[Input], labels: Optional[str], most: Optional[int]) -> None:
    batch: Optional[Tuple[bool, bool]] = None
    for item in _items_of(data, most):
        fields = _named(item, inputs, labels)
        if batch is None:
            batch = _batch_of(fields, inputs)
        has_batch, can_be_cut = batch
        if not can_be_cut:
            call.add_sample(fields, has_batch)
            continue
        for i in range(min(len(array) for _, array in fields.values())):
            call.add_sample({name: (kind, array[i, ...]) for name, (kind, array) in fields.items()}, False)
    if batch is None:
        raise RequestError("the data is empty")


def add_data(
    call: Call,
    options: Dict[str, Any],
    find_inputs: Callable[[], List[Input]],
) -> None:
    """Takes ``data`` and ``labels`` out of the options, if they are no paths and names, and hands them over."""
    data, labels = options.get("data"), options.get("labels")
    if data is not None and (is_path(data) or (isinstance(data, Mapping) and data and all(map(is_path, data.values())))):
        options["data"] = {k: os.fspath(v) for k, v in data.items()} if isinstance(data, Mapping) else os.fspath(data)
        data = None
    elif isinstance(data, (list, tuple)) and data and all(isinstance(part, str) for part in data):
        data = None  # NAME=PATH, as on the command line
    elif data is not None:
        del options["data"]
    if labels is not None and not isinstance(labels, str):
        options["labels"] = _LABELS
        call.add_array(_LABELS, as_array(labels, _LABELS))
    if data is None:
        return
    if _is_array(data):
        data = {"data": data}
    elif hasattr(data, "columns") and hasattr(data, "to_numpy"):  # a table of pandas
        data = {str(name): data[name].to_numpy() for name in data.columns}
    if isinstance(data, Mapping):
        for name, value in data.items():
            call.add_array(name, as_array(value, name))
        return
    if labels is not None and not isinstance(labels, str):
        raise RequestError("labels of an iterable are fields of its items: name them with labels=")
    most = None
    if options.get("samples"):  # an endless generator would never end
        most = int(options["samples"]) + int(options.get("first") or 0)
    inputs = find_inputs()
    if _is_one_batch(data, inputs):
        if len(data) > len(inputs):
            options.setdefault("labels", _LABELS)
        data = [data]
    field = options.get("labels")
    _add_items(call, data, inputs, field, most)
