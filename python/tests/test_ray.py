"""ounce.ray with a local substitute for Ray, which runs actors in threads: the bridge between the queue and the actors.

tests/cluster/ray_test.py runs the same functions on a Ray cluster (`make test-ray`).
"""

import concurrent.futures
import os
import pathlib
import sys
import types

import ounce
import pytest

from example import FOLDER, MODEL

CALIB = str(FOLDER / "commands_calib.npz")


class ActorDied(Exception):
    pass


class Handle:
    """An actor: its calls run in one thread, and are repeated when the actor has ended."""

    def __init__(self, make):
        self._make, self._actor = make, make()
        self._thread = concurrent.futures.ThreadPoolExecutor(1)
        self.answer = types.SimpleNamespace(remote=self._submit)

    def _submit(self, question):
        return self._thread.submit(self._call, question)

    def _call(self, question):
        while True:
            try:
                return self._actor.answer(question)
            except ActorDied:
                self._actor = self._make()

    def end(self):
        self._thread.shutdown(wait=True)
        self._actor._process.stdin.close()
        self._actor._process.wait()
        self._actor._process.stdout.close()


class LocalRay(types.ModuleType):
    def __init__(self):
        super().__init__("ray")
        self.resources = {"CPU": 2.0}
        self.wanted = []
        self.exceptions = types.SimpleNamespace(RayTaskError=RuntimeError)

    def is_initialized(self):
        return True

    def cluster_resources(self):
        return self.resources

    def remote(self, target):
        def options(**wanted):
            self.wanted.append(wanted)
            if isinstance(target, type):
                return types.SimpleNamespace(remote=lambda *words: Handle(lambda: target(*words)))
            pool = concurrent.futures.ThreadPoolExecutor(2)
            return types.SimpleNamespace(remote=lambda *words: pool.submit(target, *words))

        return types.SimpleNamespace(options=options)

    def get(self, future):
        return future.result()

    def kill(self, actor):
        actor.end()

    def wait(self, futures, num_returns, timeout):
        done, rest = concurrent.futures.wait(futures, timeout=timeout, return_when=concurrent.futures.FIRST_COMPLETED)
        return list(done), list(rest)


@pytest.fixture
def ray(monkeypatch):
    local = LocalRay()
    monkeypatch.setitem(sys.modules, "ray", local)
    monkeypatch.delitem(sys.modules, "ounce.ray", raising=False)
    import ounce.ray as module

    monkeypatch.setattr(module, "ray", local)
    yield local, module
    sys.modules.pop("ounce.ray", None)


def test_calibrate_has_the_bytes_of_one_process(ray, tmp_path):
    _, module = ray
    one = ounce.calibrate(MODEL, tmp_path / "one.ranges", data=CALIB, rescale="1/32768")
    many = module.calibrate(MODEL, output=tmp_path / "many.ranges", data=CALIB, rescale="1/32768", workers=2, parts=5)
    assert (tmp_path / "one.ranges").read_bytes() == (tmp_path / "many.ranges").read_bytes()
    assert one.samples == many.samples


def test_sensitivity_is_that_of_one_process(ray):
    _, module = ray
    how = {"data": CALIB, "rescale": "1/32768", "samples": 8, "top": 2, "to": "w8", "no_cache": True}
    one, many = ounce.sensitivity(MODEL, **how), module.sensitivity(MODEL, workers=2, **how)
    assert one.to_dict()["results"][0]["groups"] == many.to_dict()["results"][0]["groups"]
    assert one.exclude == many.exclude


def test_an_actor_that_ends_is_asked_again(ray, tmp_path, monkeypatch):
    _, module = ray
    answer, calls = module.Measurer.answer, []

    def dies_first(self, question):
        calls.append(question)
        if len(calls) % 3 == 1:
            self._process.kill()
            self._process.wait()
            raise ActorDied
        return answer(self, question)

    monkeypatch.setattr(module.Measurer, "answer", dies_first)
    module.calibrate(MODEL, output=tmp_path / "many.ranges", data=CALIB, rescale="1/32768", workers=2, parts=4)
    ounce.calibrate(MODEL, tmp_path / "one.ranges", data=CALIB, rescale="1/32768")
    assert (tmp_path / "one.ranges").read_bytes() == (tmp_path / "many.ranges").read_bytes()
    assert len(calls) > 4


def test_a_folder_keeps_the_answers(ray, tmp_path):
    _, module = ray
    how = {"data": CALIB, "rescale": "1/32768", "workers": 1, "parts": 3, "queue": tmp_path / "queue"}
    module.calibrate(MODEL, output=tmp_path / "a.ranges", **how)
    answers = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "queue" / "done").iterdir()}
    assert len(answers) == 3
    module.calibrate(MODEL, output=tmp_path / "b.ranges", **how)
    assert answers == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "queue" / "done").iterdir()}
    assert (tmp_path / "a.ranges").read_bytes() == (tmp_path / "b.ranges").read_bytes()


def test_times_need_a_node_for_them(ray, tmp_path):
    local, module = ray
    how = {"data": CALIB, "rescale": "1/32768", "output": tmp_path / "t.onnx", "no_cache": True, "on": "none"}
    with pytest.raises(ounce.UnsupportedError, match="resource bench"):
        module.tune(MODEL, budget="20s", min_sqnr=10, confidence="none", workers=1, **how)
    assert all("resources" not in wanted for wanted in local.wanted)


def test_memory_cannot_be_sent(ray):
    _, module = ray
    with pytest.raises(ounce.RequestError, match="path that all nodes can read"):
        module.calibrate(pathlib.Path(MODEL).read_bytes(), data=CALIB, workers=1)


def test_what_no_actor_can_measure_is_an_error(ray, tmp_path, monkeypatch):
    _, module = ray
    monkeypatch.setattr(module, "_roots_of", lambda arguments: [str(tmp_path)])
    monkeypatch.setattr(module, "_DECLINED_AFTER", "1s")
    with pytest.raises(ounce.UnsupportedError, match="reads no other folder"):
        module.calibrate(MODEL, output=tmp_path / "x.ranges", data=CALIB, rescale="1/32768", workers=1)


def test_quantize_many(ray, tmp_path):
    _, module = ray
    os.mkdir(tmp_path / "small")
    results = module.quantize_many([MODEL], to="w8", output=tmp_path / "small")
    assert [pathlib.Path(result.output).name for result in results] == ["commands.onnx"]


@pytest.fixture
def layer_searcher(monkeypatch, ray):
    class Searcher:
        FINISHED = "finished"

        def __init__(self, metric, mode):
            self.metric, self.mode = metric, mode

    for name, members in (("ray.tune", {}), ("ray.tune.search", {"Searcher": Searcher})):
        module = types.ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(ray[0], "tune", sys.modules["ray.tune"], raising=False)
    monkeypatch.delitem(sys.modules, "ounce._ray_search", raising=False)
    from ounce import _ray_search

    yield lambda layers, parallel=4: _ray_search.LayerSearcher(layers, ["w8", "int8"], "ratio", "min", "passed", parallel)
    sys.modules.pop("ounce._ray_search", None)


def test_the_searcher_finds_the_fewest_layers(layer_searcher, tmp_path):
    searcher = layer_searcher([f"/layer.{i}/Conv" for i in range(12)])
    assert searcher.suggest("w8") == {"to": "w8", "exclude": []}
    tried = []
    for trial in range(20):
        suggestion = searcher.suggest(str(trial))
        if suggestion == "finished":
            break
        assert suggestion["to"] == "int8"
        assert searcher.suggest("early") is None  # depends on the trial that runs
        tried.append(len(suggestion["exclude"]))
        searcher.save(str(tmp_path / "state"))
        searcher.restore(str(tmp_path / "state"))
        searcher.on_trial_complete(str(trial), {"passed": tried[-1] >= 5})
        searcher.on_trial_complete("w8", {"passed": True})
    assert tried == [0, 1, 2, 4, 8, 6, 5]
    assert suggestion == "finished"
    assert searcher._exclusion(1) == [r"^/layer\.0/Conv$"]


def test_the_searcher_ends_if_no_number_of_layers_is_enough(layer_searcher):
    searcher = layer_searcher(["a", "b", "c"], parallel=1)
    tried = []
    for trial in range(10):
        suggestion = searcher.suggest(str(trial))
        if suggestion == "finished":
            break
        tried.append((suggestion["to"], len(suggestion["exclude"])))
        searcher.on_trial_complete(str(trial), None, error=True)
    assert tried == [("w8", 0), ("int8", 0), ("int8", 1), ("int8", 2), ("int8", 3)]
    assert suggestion == "finished"
