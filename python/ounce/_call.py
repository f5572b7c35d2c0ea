"""How a verb is called: arguments made ready, the call watched from this thread while another one runs it."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import sys
import tempfile
import threading
from typing import Any, Callable, Dict, FrozenSet, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type, TypeVar, Union

from . import _data, _native, _results
from ._errors import RequestError, error_of
from ._result import result_of
from ._runtime import default_runtime

#: A path, the bytes of a model, an ``onnx.ModelProto``, or the result of a call that wrote a model.
Model = Union[str, "os.PathLike[str]", bytes, Any]
#: The value of an option.
Word = Union[str, int, float, "os.PathLike[str]"]
#: The value of an option that may be given several times: one value, a list, or pairs.
Words = Union[Word, "List[Any]", "Tuple[Any, ...]", Mapping[str, Word]]
#: Called with outputs by name and the labels (``None`` without). Gives a number, or numbers by name; with
#: ``"lower_is_better": True`` among them if so, or a list of the names of which that is true.
Metric = Callable[[Dict[str, Any], Optional[Any]], Union[float, Mapping[str, Any]]]
#: ``True`` shows a tqdm progress bar if tqdm is installed; ``False`` shows none; ``None`` shows one in terminals and notebooks.
#: A function is called with the model, the stage, the amount done and the total amount; it may return ``True`` to stop.
Progress = Union[None, bool, Callable[[str, str, int, int], Optional[bool]]]

ResultT = TypeVar("ResultT", bound=_results.Result)

_ARGUMENTS_WITH_MODELS = ("model", "reference", "candidate")
_LOOK_SECONDS = 0.1


class Outcome(NamedTuple):
    code: int
    document: Optional[Dict[str, Any]]
    text: str
    message: Optional[str]
    output: Optional[bytes]


def call(
    verb: str, result: Type[ResultT], options: Mapping[str, Any], progress: Progress = None
) -> ResultT:
    """Runs a verb and gives what it found; raises what went wrong."""
    given = {name: value for name, value in options.items() if value is not None}
    known = _names_of_options(verb)
    with _native.Call(verb) as native, contextlib.ExitStack() as until_the_end:
        if "runtime" in known and "runtime" not in given and default_runtime() is not None:
            given["runtime"] = default_runtime()
        models = _take_models(given)
        failed: List[BaseException] = []  # in a function of the caller's
        _take_metric(native, given, failed)
        _take_contract(given, until_the_end)
        _data.add_data(native, given, lambda: _inputs_of(models, options))
        for argument, model in models.items():
            for one in model:
                native.add_model(argument, one)
        native.add_options({name: _plain(value, name) for name, value in given.items()})
        outcome = _watched(native, progress, failed)
    if failed:
        raise failed[0]
    if outcome.message is not None:
        raise error_of(outcome.code, outcome.message, outcome.document)
    classes = _results.CLASSES.get(verb.split(" merge")[0], (result,))
    return result_of(result, classes, outcome.document or {}, outcome.text, outcome.output)


@functools.lru_cache(maxsize=None)
def _names_of_options(verb: str) -> FrozenSet[str]:
    return frozenset(option["name"].replace("-", "_") for option in _native.describe(verb)["options"])


def _take_models(given: Dict[str, Any]) -> Dict[str, List[bytes]]:
    """Takes models that are in memory out of the options."""
    taken: Dict[str, List[bytes]] = {}
    for argument in _ARGUMENTS_WITH_MODELS:
        if argument not in given:
            continue
        value = given.pop(argument)
        models = [_model_of(model) for model in (value if isinstance(value, (list, tuple)) else [value])]
        paths = [model for model in models if isinstance(model, str)]
        in_memory = [model for model in models if isinstance(model, bytes)]
        if paths and in_memory:
            raise RequestError("some models are paths and some are in memory: give them all in the same way")
        if in_memory:
            taken[argument] = in_memory
        else:
            given[argument] = paths if isinstance(value, (list, tuple)) else paths[0]
    return taken


def several(first: Any, others: Sequence[Any]) -> Any:
    """``f(a, b)`` and ``f([a, b])`` are the same."""
    if not others:
        return first
    return [*(first if isinstance(first, (list, tuple)) else [first]), *others]


def _model_of(model: Model) -> Union[str, bytes]:
    if isinstance(model, _results.ModelResult):
        return model.output or model.to_bytes()
    if hasattr(model, "SerializeToString"):
        return bytes(model.SerializeToString())
    if isinstance(model, (bytearray, memoryview)):
        return bytes(model)
    if isinstance(model, bytes):
        return model
    if not _data.is_path(model):
        raise RequestError(f"a model is a path, bytes or an onnx.ModelProto, and not {type(model).__name__}")
    return os.fspath(model)


def _take_metric(native: _native.Call, given: Dict[str, Any], failed: List[BaseException]) -> None:
    """Hands over a metric that is a function."""
    metric = given.get("metric")
    if not callable(metric):
        return
    del given["metric"]
    function: Metric = metric

    def ask(folder: str) -> str:
        try:
            answer = function(_arrays(folder, "candidate"), _arrays(folder, "labels").get("labels"))
            return json.dumps(dict(answer) if isinstance(answer, Mapping) else float(answer), default=float)
        except BaseException as problem:
            failed.append(problem)
            raise

    native.set_metric(ask)


def _arrays(folder: str, name: str) -> Dict[str, Any]:
    import numpy

    path = pathlib.Path(folder) / f"{name}.npz"
    if not path.exists():
        return {}
    found: Dict[str, Any] = {}
    with numpy.load(path) as archive:
        for key in archive.files:
            # Where samples differ in their shape, each has an array: "logits/0", "logits/1" …
            stem, slash, number = key.rpartition("/")
            if slash and number.isdigit():
                found.setdefault(stem, []).append(archive[key])
            else:
                found[key] = archive[key]
    return found


def _take_contract(given: Dict[str, Any], until_the_end: contextlib.ExitStack) -> None:
    if not isinstance(given.get("preprocess"), Mapping):
        return
    folder = until_the_end.enter_context(tempfile.TemporaryDirectory(prefix="ounce-"))
    path = pathlib.Path(folder) / "contract.json"
    path.write_text(json.dumps(given["preprocess"]), encoding="utf-8")
    given["preprocess"] = str(path)


def _inputs_of(models: Mapping[str, Any], options: Mapping[str, Any]) -> List[_data.Input]:
    """The inputs of the model that receives the samples."""
    for argument in _ARGUMENTS_WITH_MODELS:
        model = models.get(argument, options.get(argument))
        if model is not None:
            first = model[0] if isinstance(model, (list, tuple)) else model
            found = call("inspect", _results.InspectResult, {"model": first, "tensors": 0}, progress=False)
            return _data.inputs_of(found.inputs)
    return []


def _plain(value: Any, argument: str) -> Any:
    """As JSON has it: paths are text, NumPy's numbers are numbers. ``argument`` is for errors."""
    if isinstance(value, Mapping):
        return {_text(str(name), argument): _plain(one, argument) for name, one in value.items()}
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(one, argument) for one in value]
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bytes):
        value = os.fsdecode(value)
    if isinstance(value, str):
        return _text(value, argument)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    hint = "; the argument metric takes a function" if callable(value) else ""
    raise RequestError(
        f"{argument}: takes text, a number, a path, or a list or a mapping of these, and not {type(value).__name__}{hint}"
    )


def _text(text: str, argument: str) -> str:
    """Names that are no UTF-8 have surrogates in them, which the library's options cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RequestError(
            f"{argument}: the name {ascii(text)} is not valid UTF-8: rename the file, or use the command line, which takes it"
        ) from None
    return text


def _watched(native: _native.Call, progress: Progress, failed: List[BaseException]) -> Outcome:
    """Runs a call in a thread of its own, so that this one can be interrupted and can show how far it is."""
    latest: List[Tuple[str, str, int, int]] = []
    theirs: Optional[Callable[[str, str, int, int], Optional[bool]]] = None if isinstance(progress, bool) else progress

    def told(what: str, stage: str, done: int, total: int) -> bool:
        latest[:] = [(what, stage, done, total)]
        try:
            return theirs is not None and bool(theirs(what, stage, done, total))
        except BaseException as problem:
            failed.append(problem)
            raise

    native.set_progress(told)
    codes: List[int] = []
    over = threading.Event()

    def run() -> None:
        codes.append(native.run())
        over.set()

    thread = threading.Thread(target=run, name="ounce", daemon=True)
    thread.start()
    try:
        with _bar(progress) as show:
            while not over.wait(_LOOK_SECONDS):
                if latest:
                    show(*latest[0])
    except BaseException:  # Ctrl-C above all
        native.stop()
        thread.join()
        raise
    thread.join()
    return Outcome(codes[0], native.document(), native.text(), native.message(), native.output())


def _is_watched() -> bool:
    return sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)


@contextlib.contextmanager
def _bar(progress: Progress) -> Iterator[Callable[[str, str, int, int], None]]:
    wanted = _is_watched() if progress is None else progress is True
    try:
        if not wanted:
            raise ImportError
        from tqdm.auto import tqdm
    except ImportError:
        yield lambda *_: None
        return
    with tqdm(total=0, leave=False, unit="") as bar:

        def show(what: str, stage: str, done: int, total: int) -> None:
            if (bar.desc, bar.total) != (f"{os.path.basename(what)}: {stage}: ", total):
                bar.reset(total=total)
                bar.set_description(f"{os.path.basename(what)}: {stage}", refresh=False)
            bar.n = done
            bar.refresh()

        yield show
