"""A searcher and a trainable for Ray Tune, which needs `pip install 'ray[tune]'`."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ray import tune
from ray.tune.search import Searcher

from . import _verbs


class LayerSearcher(Searcher):  # type: ignore[misc]  # Ray has no types here
    """Suggests arguments of ``ounce.quantize``: each format alone, then the last format without its most sensitive layers.

    The number of layers that stay in FP32 is doubled until a trial passes, and then halved between the last two numbers. At
    most ``parallel`` suggestions wait for a result.
    """

    def __init__(self, layers: Sequence[str], formats: Sequence[str], metric: str, mode: str, passed: str, parallel: int):
        super().__init__(metric=metric, mode=mode)
        self._layers = list(layers)
        self._formats = list(formats)
        self._passed = passed
        self._parallel = parallel
        self._running: Dict[str, Optional[int]] = {}  # the number of layers in FP32, by trial; None: a format alone
        self._tried: set[int] = set()
        self._fails, self._passes = 0, len(self._layers) + 1  # numbers of layers that are known to

    def suggest(self, trial_id: str) -> Any:
        if len(self._running) >= self._parallel:
            return None
        if self._formats:
            last = len(self._formats) == 1
            chosen = self._formats.pop(0)
            self._running[trial_id] = 0 if last else None
            self._last = chosen
            return {"to": chosen, "exclude": []}
        count = self._next_count()
        if count is None:
            return None if self._running else Searcher.FINISHED
        self._tried.add(count)
        self._running[trial_id] = count
        return {"to": self._last, "exclude": self._exclusion(count)}

    def on_trial_complete(self, trial_id: str, result: Optional[Mapping[str, Any]] = None, error: bool = False) -> None:
        count = self._running.pop(trial_id, None)
        if count is None:
            return
        if result is not None and not error and result.get(self._passed):
            self._passes = min(self._passes, count)
        else:
            self._fails = max(self._fails, count)

    def save(self, checkpoint_path: str) -> None:
        import json

        state = {key: value for key, value in vars(self).items() if key.startswith("_") and _is_plain(value)}
        state["_tried"] = sorted(self._tried)
        with open(checkpoint_path, "w", encoding="utf-8") as file:
            json.dump(state, file)

    def restore(self, checkpoint_path: str) -> None:
        import json

        with open(checkpoint_path, encoding="utf-8") as file:
            self.__dict__.update(json.load(file))
        self._tried = set(self._tried)

    def _next_count(self) -> Optional[int]:
        if any(count is not None for count in self._running.values()) or self._passes <= self._fails + 1:
            return None  # the next number depends on the running trial, or there is none between the last two
        found = self._passes <= len(self._layers)
        count = (self._fails + self._passes) // 2 if found else min(max(1, 2 * self._fails), len(self._layers))
        return None if count in self._tried else count

    def _exclusion(self, count: int) -> List[str]:
        return [f"^{re.escape(name)}$" for name in self._layers[:count]]


def _is_plain(value: Any) -> bool:
    return isinstance(value, (int, str, list, dict))


def searcher(
    model: Any,
    *,
    metric: str = "ratio",
    mode: str = "min",
    passed: str = "passed",
    formats: Sequence[str] = ("w8", "int8-dynamic", "int8"),
    parallel: int = 4,
    **options: Any,
) -> Searcher:
    """A searcher for ``ray.tune.TuneConfig(search_alg=...)``; ``options`` are those of ``ounce.sensitivity``, which is run first."""
    how: Dict[str, Any] = {"to": formats[-1], "progress": False, **options}
    ranking = _verbs.sensitivity(model, **how)
    layers = [name for group in ranking.groups for name in group.layers]
    return LayerSearcher(layers, formats, metric, mode, passed, parallel)


def trainable(model: Any, *, quantize: Optional[Mapping[str, Any]] = None, **options: Any) -> Any:
    """A function for ``ray.tune.Tuner``: quantizes with the arguments of the trial, verifies, and reports the result.

    ``options`` are those of ``ounce.verify``, ``quantize`` those of ``ounce.quantize`` that all trials share. Reported are
    ``ratio`` (of the bytes), ``bytes``, ``sqnr_db``, ``passed``, and ``drop`` of the first metric if there are labels.
    """
    source = os.path.abspath(os.fspath(model))

    def trial(config: Mapping[str, Any]) -> None:
        output = os.path.join(os.getcwd(), "candidate" + os.path.splitext(source)[1])
        making: Dict[str, Any] = {"progress": False, **(quantize or {}), **config, "output": output}
        judging: Dict[str, Any] = {"progress": False, **options}
        made = _verbs.quantize(source, **making)
        proof = _verbs.verify(source, output, **judging)
        report: Dict[str, Any] = {
            "bytes": made.bytes_after,
            "ratio": made.bytes_after / made.bytes_before,
            "passed": proof.passed,
            "sqnr_db": min((one.sqnr_db for one in proof.outputs if one.sqnr_db is not None), default=float("inf")),
        }
        if proof.metrics:
            report["drop"] = proof.metrics[0].drop
        tune.report(report)

    return trial
