"""tune, sensitivity, calibrate and quantize on a Ray cluster: `pip install 'ounce-ml[ray]'`.

    import ounce.ray

    ounce.ray.calibrate("/shared/model.onnx", data="/shared/calib.npz", output="model.ranges")
    ounce.ray.tune("/shared/model.onnx", data="/shared/val.npz", labels="label", max_drop="1%", time_on={"bench": 1})

Each function takes the arguments of the function of the same name in ``ounce``, and gives the same result: the bytes of one
machine. The search runs in this process; actors measure. Models and data are paths that all nodes can read; questions and
answers are text. An actor that is killed is started again, and its question is asked again.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import ray

from . import _verbs
from ._call import _bar
from ._errors import RequestError, UnsupportedError
from ._results import CalibrateResult, QuantizeResult, SensitivityResult, TuneResult
from ._runtime import default_runtime, program

Path = Union[str, "os.PathLike[str]"]

_LOOK_SECONDS = 0.002
_OWNER = "wray"  # in the names of the files of the queue
_TIMES = ".times"
_DECLINED_AFTER = "10s"  # a question that no actor can answer is an error


class Measurer:
    """Answers questions in a process of its own, which keeps the prepared model and the recorded outputs."""

    def __init__(self, roots: Sequence[str], times: bool):
        found = program("ounce")
        if found is None:
            raise RequestError("the program ounce is not in this package")
        environment = dict(os.environ)
        runtime = default_runtime()
        if runtime is not None:
            environment.setdefault("OUNCE_ONNXRUNTIME", runtime)
        words = [found, "measure", *(word for root in roots for word in ("--root", root)), *(["--times"] if times else [])]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True, encoding="utf-8"
        )

    def answer(self, question: str) -> str:
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(question + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            os._exit(1)  # the process has ended: Ray starts this actor again, with another one
        return answer.rstrip("\n")


class _Pool:
    """Actors that answer one question at a time."""

    def __init__(self, roots: Sequence[str], times: bool, workers: int, resources: Mapping[str, Any]):
        options = {"max_restarts": -1, "max_task_retries": -1, **resources}
        actor = ray.remote(Measurer).options(**options)
        self.actors = [actor.remote(list(roots), times) for _ in range(workers)]
        self.idle = list(self.actors)

    def stop(self) -> None:
        for actor in self.actors:
            ray.kill(actor)


class _Bridge(threading.Thread):
    """Takes questions out of the folder of a queue, and puts the answers of actors into it."""

    def __init__(self, folder: pathlib.Path, make_pool: Callable[[bool], _Pool]):
        super().__init__(name="ounce-ray", daemon=True)
        self._folder = folder
        self._make_pool = make_pool
        self._pools: Dict[bool, _Pool] = {}
        self._asked: Dict[Any, Tuple[str, _Pool, Any]] = {}  # by the reference of the answer
        self._begun: set[str] = set()
        self._over = threading.Event()
        self.problem: Optional[BaseException] = None
        self.answered = 0

    def stop(self) -> None:
        self._over.set()
        self.join()
        for pool in self._pools.values():
            pool.stop()

    def run(self) -> None:
        try:
            while not self._over.is_set():
                if not self._step():
                    time.sleep(_LOOK_SECONDS)
        except BaseException as problem:  # the caller raises it
            self.problem = problem

    def _step(self) -> bool:
        items = self._folder / "items"
        names = os.listdir(items) if items.is_dir() else []
        begun = False
        for name in names:
            if name not in self._begun:
                begun = self._begin(name) or begun
        if not self._asked:
            return begun
        done, _ = ray.wait(list(self._asked), num_returns=1, timeout=_LOOK_SECONDS)
        for reference in done:
            name, pool, actor = self._asked.pop(reference)
            pool.idle.append(actor)
            self._begun.discard(name)
            self._deliver(name, ray.get(reference))
        return begun or bool(done)

    def _begin(self, name: str) -> bool:
        is_of_times = name.endswith(_TIMES)
        if is_of_times not in self._pools:
            self._pools[is_of_times] = self._make_pool(is_of_times)
        pool = self._pools[is_of_times]
        if not pool.idle:
            return False
        try:
            question = (self._folder / "items" / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return False
        if not (self._folder / "done" / name).exists():
            actor = pool.idle.pop()
            self._begun.add(name)
            self._publish("leases", name + ".1", _OWNER)  # the coordinator sees that the question is taken
            self._asked[actor.answer.remote(question)] = (name, pool, actor)
        return True

    def _deliver(self, name: str, answer: str) -> None:
        if answer.startswith('{"declined"'):
            self._publish("declined", f"{name}.{_OWNER}", answer)
            self._begun.add(name)  # actors are alike: no other one could
            with contextlib.suppress(FileNotFoundError):
                (self._folder / "leases" / (name + ".1")).unlink()
            return
        exclusive = "true" if name.endswith(_TIMES) else "false"
        self.answered += 1
        self._publish("done", name, f'{{"question":"{name}","worker":"{_OWNER}","exclusive":{exclusive},{answer[1:]}')

    def _publish(self, part: str, name: str, text: str) -> None:
        draft = self._folder / "drafts" / f"{_OWNER}.{part}.{name}"
        draft.write_text(text, encoding="utf-8")
        with contextlib.suppress(FileExistsError):
            os.link(draft, self._folder / part / name)
        draft.unlink()


def _folder_of(path: Path) -> str:
    absolute = os.path.abspath(os.fspath(path))
    return absolute if os.path.isdir(absolute) else os.path.dirname(absolute)


def _roots_of(arguments: Mapping[str, Any]) -> List[str]:
    """The folders of the model and of the data."""
    paths: List[Path] = []
    for name in ("model", "data", "preprocess", "contract"):
        value = arguments.get(name)
        values = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else [value]
        for one in values:
            if one is None or (name == "preprocess" and one == "auto"):
                continue
            if not isinstance(one, (str, os.PathLike)):
                raise RequestError(f"{name}: nodes cannot see the memory of this process: give a path that all nodes can read")
            text = os.fspath(one)
            paths.append(text if os.path.exists(text) or "=" not in text else text.split("=", 1)[1])
    return sorted({_folder_of(path) for path in paths})


def _cpus() -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


@contextlib.contextmanager
def _queue(
    arguments: Mapping[str, Any],
    workers: Optional[int],
    num_cpus: float,
    time_on: Optional[Mapping[str, float]],
    queue: Optional[Path],
) -> Iterator[Tuple[str, _Bridge]]:
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    roots = _roots_of(arguments)
    count = workers or max(1, int(_cpus() / max(num_cpus, 0.01)))

    def make_pool(times: bool) -> _Pool:
        if not times:
            return _Pool(roots, False, count, {"num_cpus": num_cpus})
        wanted = dict(time_on or {"bench": 1})
        available = ray.cluster_resources()
        missing = [name for name, amount in wanted.items() if available.get(name, 0) < amount]
        if missing:
            raise UnsupportedError(
                f"no node has the resource {', '.join(missing)}, which marks nodes that measure times: start one with "
                f"`ray start --resources='{{\"{missing[0]}\": 1}}'`, or give a budget of models, which measures none"
            )
        return _Pool(roots, True, 1, {"num_cpus": num_cpus, "resources": wanted})

    folder = pathlib.Path(queue) if queue is not None else pathlib.Path(tempfile.mkdtemp(prefix="ounce-ray-"))
    bridge = _Bridge(folder, make_pool)
    bridge.start()
    try:
        yield str(folder), bridge
    finally:
        bridge.stop()
        if queue is None:
            shutil.rmtree(folder, ignore_errors=True)


def _run(
    verb: Callable[..., Any],
    model: Path,
    options: Dict[str, Any],
    workers: Optional[int],
    num_cpus: float,
    time_on: Optional[Mapping[str, float]],
    queue: Optional[Path],
) -> Any:
    progress = options.pop("progress", None)
    with _queue({"model": model, **options}, workers, num_cpus, time_on, queue) as (folder, bridge):

        with _bar(None if callable(progress) else progress) as show:

            def watched(what: str, stage: str, done: int, total: int) -> bool:
                show(what, stage, done, total)
                stops = callable(progress) and bool(progress(what, stage, done, total))
                return stops or bridge.problem is not None

            try:
                return verb(model, **options, queue=folder, lease=_DECLINED_AFTER, progress=watched)
            except BaseException:
                if bridge.problem is not None:
                    raise bridge.problem from None
                raise


def calibrate(
    model: Path,
    *,
    workers: Optional[int] = None,
    num_cpus: float = 1,
    queue: Optional[Path] = None,
    **options: Any,
) -> CalibrateResult:
    """``ounce.calibrate`` in parts on ``workers`` actors (default: as many as the cluster has CPUs for).

    ``queue`` names a folder that keeps the answers, so that a call whose driver was killed can continue.
    """
    result: CalibrateResult = _run(_verbs.calibrate, model, options, workers, num_cpus, None, queue)
    return result


def sensitivity(
    model: Path,
    *,
    workers: Optional[int] = None,
    num_cpus: float = 1,
    queue: Optional[Path] = None,
    **options: Any,
) -> SensitivityResult:
    """``ounce.sensitivity`` with a model per question on ``workers`` actors."""
    result: SensitivityResult = _run(_verbs.sensitivity, model, options, workers, num_cpus, None, queue)
    return result


def tune(
    model: Path,
    *,
    workers: Optional[int] = None,
    num_cpus: float = 1,
    time_on: Optional[Mapping[str, float]] = None,
    queue: Optional[Path] = None,
    **options: Any,
) -> TuneResult:
    """``ounce.tune``: quality on ``workers`` actors, times on one actor that holds the resources ``time_on``.

    A node measures times alone if it was started with ``--resources='{"bench": 1}'`` and nothing else runs on it. With a
    budget of models no times are measured.
    """
    result: TuneResult = _run(_verbs.tune, model, options, workers, num_cpus, time_on, queue)
    return result


def _quantize_one(model: str, options: Dict[str, Any]) -> QuantizeResult:
    from ounce import quantize

    return quantize(model, **options)


def quantize_many(
    models: Sequence[Path], *, output: Optional[Path] = None, num_cpus: float = 1, **options: Any
) -> List[QuantizeResult]:
    """``ounce.quantize`` of each model as a task. ``output`` is a folder; default: next to each model.

    The results are in the order of the models. The first error is raised after all models were tried.
    """
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    task = ray.remote(_quantize_one).options(num_cpus=num_cpus)
    references = []
    for model in models:
        own = dict(options, progress=False)
        if output is not None:
            own["output"] = os.path.join(os.path.abspath(os.fspath(output)), os.path.basename(os.fspath(model)))
        references.append(task.remote(os.path.abspath(os.fspath(model)), own))
    results, failed = [], []
    for reference in references:
        try:
            results.append(ray.get(reference))
        except ray.exceptions.RayTaskError as problem:
            failed.append(problem)
    if failed:
        raise failed[0]
    return results


def searcher(model: Path, **options: Any) -> Any:
    """A searcher for Ray Tune that suggests arguments of ``ounce.quantize``, most sensitive layers first.

        tuner = tune.Tuner(
            ounce.ray.trainable("/shared/model.onnx", data="/shared/val.npz", labels="label", max_drop="1%",
                                quantize={"data": "/shared/calib.npz"}),
            tune_config=tune.TuneConfig(search_alg=ounce.ray.searcher("/shared/model.onnx", data="/shared/calib.npz"),
                                        num_samples=20))
        best = tuner.fit().get_best_result("ratio", "min", filter_nan_and_inf=False)

    ``ounce.ray.tune`` is a better search of one model: it needs no trial per suggestion, and it confirms its result on held-out
    data. Use this searcher to combine a model's formats with your own schedulers and trials. Needs `pip install 'ray[tune]'`.
    """
    from . import _ray_search

    return _ray_search.searcher(model, **options)


def trainable(model: Path, **options: Any) -> Any:
    """The trials of ``searcher``: quantize with the suggested arguments, ``ounce.verify`` with ``options``, report."""
    from . import _ray_search

    return _ray_search.trainable(model, **options)
