"""The verbs as functions, from their arguments to their results."""

import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import textwrap
import threading
import types

import numpy
import onnx
import onnx.helper
import ounce
import pytest
from example import FOLDER, MODEL, clips


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    output = tmp_path_factory.mktemp("small") / "small.onnx"
    return ounce.quantize(MODEL, output=output, verify=False)


def test_quantize_gives_what_the_command_line_prints(small):
    assert small.bytes_after == os.path.getsize(small.output)
    assert small.ratio == pytest.approx(small.bytes_after / small.bytes_before)
    assert small.to_dict()["results"][0]["stored_as"] == small.stored_as == "w8"
    assert json.dumps(small.to_dict())
    assert f"{100 * small.ratio:.1f} %" in str(small)
    assert "bytes_after=" in repr(small)


def test_a_notebook_shows_a_table(small):
    shown = small._repr_html_()
    assert "<table>" in shown and f"{small.bytes_after:,}" in shown and "<pre>" in shown


def test_a_result_can_be_kept(small):
    again = pickle.loads(pickle.dumps(small))
    assert again.bytes_after == small.bytes_after and again.to_dict() == small.to_dict()


def test_a_typing_error_is_an_attribute_error(small):
    assert "trial" in dir(small)
    with pytest.raises(AttributeError, match="has no 'bites'"):
        small.bites


def test_a_model_may_be_bytes_or_a_proto(small):
    with open(MODEL, "rb") as file:
        model = file.read()
    written = small.to_bytes()
    result = ounce.quantize(model, verify=False)
    assert (result.output, result.to_bytes()) == ("", written)
    made = ounce.quantize(onnx.load(MODEL), verify=False).to_onnx()
    assert isinstance(made, onnx.ModelProto)
    assert ounce.inspect(made).bytes == len(made.SerializeToString())


def test_errors_have_classes_and_speak_of_arguments():
    with pytest.raises(ounce.RefusedError, match="nothing.onnx") as refused:
        ounce.quantize("nothing.onnx")
    assert refused.value.code == 4 and isinstance(refused.value, OSError)
    assert refused.value.document["errors"][0]["code"] == "io"
    with pytest.raises(ValueError, match="needs calibration data: give `data` with real samples, or `ranges` from `calibrate\\(\\)`"):
        ounce.quantize(MODEL, to="int8")
    with pytest.raises(ounce.RequestError, match="to: w7 not in"):
        ounce.quantize(MODEL, to="w7")
    with pytest.raises(ounce.RequestError, match="a path, bytes or"):
        ounce.quantize(3)
    with pytest.raises(TypeError):
        ounce.quantize(MODEL, too="w8")
    with pytest.raises(ounce.RequestError, match="some models are paths"):
        ounce.bench([MODEL, b"model"])


def test_a_missing_file_is_a_file_not_found_error():
    with pytest.raises(FileNotFoundError) as missing:
        ounce.quantize("nothing.onnx")
    assert isinstance(missing.value, ounce.RefusedError) and missing.value.filename == "nothing.onnx"
    with pytest.raises(ounce.MissingFileError) as missing:
        ounce.verify(MODEL, MODEL, data="nothing.npz")
    assert missing.value.filename == "nothing.npz"
    with pytest.raises(FileNotFoundError, match="absent/small.onnx"):
        ounce.quantize(MODEL, "absent/small.onnx")
    with pytest.raises(FileNotFoundError, match="absent/report.html"):
        ounce.verify(MODEL, MODEL, report="absent/report.html")


def test_natural_calls_work(small, tmp_path):
    output = tmp_path / "positional.onnx"
    assert ounce.quantize(MODEL, output, verify=False).output == str(output)
    timed = ounce.bench(MODEL, output, repeats=2, cold_starts=0)
    assert [model.model for model in timed.models] == [str(MODEL), str(output)]
    assert ounce.verify(MODEL, small, edge_cases=False).passed
    in_memory = ounce.quantize(onnx.load(MODEL), verify=False)
    assert ounce.inspect(in_memory).bytes == len(in_memory.to_bytes())
    sound, labels = clips(8)
    found = ounce.verify(MODEL, small, data=(sound, labels), max_drop="20%", edge_cases=False)
    assert found.metrics and found.samples == 8


def test_numbers_of_channels_are_lists():
    for mean in ([0.5], (0.5,), numpy.array([0.5]), "0.5", 0.5):
        assert ounce.verify(MODEL, MODEL, data=clips(2)[0], mean=mean, std=[0.25], edge_cases=False).passed
    with pytest.raises(ounce.RequestError, match="mean and std must have one entry"):
        ounce.verify(MODEL, MODEL, data=clips(2)[0], kind="image", mean=[0.49, 0.48], edge_cases=False)


def test_verdicts_and_notes_name_parameters(small):
    sound, labels = clips(8)
    found = ounce.verify(MODEL, small, data=(sound, labels), max_drop="1%", edge_cases=False)
    assert "--" not in found.verdict and "`max_drop`" in found.verdict
    noted = ounce.quantize(MODEL, to="fp16", dry_run=True)
    assert any('`to="w16"`' in note for note in noted.notes)
    for text in (found.verdict, str(found), *noted.notes, *found.notes):
        assert not re.search(r"(?<![-\w])--[a-z]", text), text


def test_names_that_are_no_utf8_are_refused_with_a_reason(tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/model-\xff.onnx")
    with open(MODEL, "rb") as file, open(name, "wb") as copy:
        copy.write(file.read())
    with pytest.raises(ounce.RequestError, match=r"model: the name '.*model-\\udcff.onnx' is not valid UTF-8: rename the file"):
        ounce.inspect(name)
    with pytest.raises(ounce.RequestError, match="output: the name"):
        ounce.quantize(MODEL, output=name)


@pytest.mark.parametrize("wrong, said", [(len, "builtin_function_or_method; the argument metric takes a function"), (object(), "object"), ({1, 2}, "set")])
def test_a_value_of_a_type_that_no_argument_takes_is_named(wrong, said):
    with pytest.raises(ounce.RequestError, match=f"metric_command: takes text, a number, a path, .* and not {said}"):
        ounce.verify(MODEL, MODEL, metric_command=wrong)
    with pytest.raises(ounce.RequestError, match="exclude: takes text"):
        ounce.inspect(MODEL, exclude=["a", wrong])


def test_paths_may_be_bytes_and_lists_may_be_arrays(tmp_path):
    assert ounce.inspect(pathlib.Path(MODEL), exclude=numpy.array(["a", "b"])).bytes > 0
    ounce.quantize(MODEL, output=os.fsencode(tmp_path / "small.onnx"), verify=False, min_bytes=numpy.int64(2048))
    assert (tmp_path / "small.onnx").exists()


def test_a_file_that_is_cut_while_it_is_read_does_not_end_the_process(tmp_path):
    """Wherever the call is by then, it raises or, if it was done before, returns."""
    script = """
        import numpy, onnx, onnx.helper, onnx.numpy_helper, ounce
        rows, count = 512, 48
        nodes = [onnx.helper.make_node("MatMul", [f"v{i}", f"w{i}"], [f"v{i + 1}"]) for i in range(count)]
        rng = numpy.random.default_rng(1)
        weights = [onnx.numpy_helper.from_array(rng.standard_normal((rows, rows)).astype("float32"), f"w{i}") for i in range(count)]
        values = [onnx.helper.make_tensor_value_info(name, 1, [1, rows]) for name in ("v0", f"v{count}")]
        graph = onnx.helper.make_graph(nodes, "g", values[:1], values[1:], weights)
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, "big.onnx", save_as_external_data=True, location="big.bin")

        def cut(*_):
            open("big.bin", "wb").close()

        try:
            ounce.quantize("big.onnx", output="small.onnx", threads=1, verify=False, expert={"rounding": "zero-sum"}, progress=cut)
            print("done")
        except ounce.RefusedError as error:
            assert error.code == 4
            print("refused:", error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("done", "refused:"))
    assert done.stdout.startswith("done") == (tmp_path / "small.onnx").exists()


def test_nothing_to_do_is_unsupported(tmp_path):
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    values = [onnx.helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "g", values[:1], values[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    with pytest.raises(ounce.UnsupportedError):
        ounce.quantize(model)


def test_a_gate_that_fails_is_a_result(small):
    sound, labels = clips(8)
    found = ounce.verify(MODEL, small.output, data=sound, min_sqnr=200, edge_cases=False)
    assert not found.passed
    assert found.failures
    assert ounce.verify(MODEL, small.output, data=sound, min_sqnr=1, edge_cases=False).passed


def classifier(last):
    """A label, and a probability for each of two classes, as scikit-learn's converter writes them."""
    helper, numbers = onnx.helper, onnx.TensorProto
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["probabilities"]),
        helper.make_node("ArgMax", ["probabilities"], ["label"], axis=1, keepdims=0),
    ]
    weights = helper.make_tensor("w", numbers.FLOAT, [2, 2], [1, 0, 0, last])
    inputs = [helper.make_tensor_value_info("x", numbers.FLOAT, ["N", 2])]
    outputs = [
        helper.make_tensor_value_info("label", numbers.INT64, ["N"]),
        helper.make_tensor_value_info("probabilities", numbers.FLOAT, ["N", 2]),
    ]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_labels_agree_or_not_and_outputs_may_be_chosen():
    data = {"x": numpy.array([[1, 0.99 + (row - 20) / 16] for row in range(40)], numpy.float32)}
    found = ounce.verify(classifier(1), classifier(1 + 1 / 64), data=data, abs_tol=0.04, mean_tol=0.01, edge_cases=False)
    label, probabilities = found.outputs
    assert found.passed and found.max_abs_diff < 0.04
    assert (label.labels, label.answers_changed, label.max_abs_diff) == (True, 1, None)
    far = ounce.verify(classifier(1), classifier(2), data=data, outputs=["label"], abs_tol=0.04, edge_cases=False)
    assert not far.passed and far.max_abs_diff is None
    assert [output.judged for output in far.outputs] == [True, False]
    with pytest.raises(ounce.RequestError, match="`outputs`: the model has no output 'probs'. Outputs: label, probabilities"):
        ounce.verify(classifier(1), classifier(2), data=data, outputs=["probs"])


def test_a_metric_may_be_a_function(small):
    sound, labels = clips(16)
    seen = []

    def accuracy(outputs, truth):
        seen.append({name: array.shape for name, array in outputs.items()})
        return {"mine": (next(iter(outputs.values())).argmax(-1) == truth).mean()}

    found = ounce.verify(MODEL, small.output, data=sound, labels=labels, metric=accuracy, max_drop="50%", edge_cases=False)
    assert found.passed
    assert 0.5 < found.metric("mine").reference <= 1
    assert len(seen) == 2 and next(iter(seen[0].values()))[0] == 16
    with pytest.raises(KeyError):
        found.metric("other")


def test_what_a_metric_raises_is_raised(small):
    sound, _ = clips(4)
    with pytest.raises(ZeroDivisionError):
        ounce.verify(MODEL, small.output, data=sound, metric=lambda outputs, labels: 1 / 0, edge_cases=False)


def test_progress_is_told_and_may_stop(small):
    sound, _ = clips(8)
    told = []

    def slow(outputs, labels):
        threading.Event().wait(0.4)  # so that progress is asked for in between
        return 1

    def progress(*how):
        told.append(how)
        return True

    with pytest.raises(ounce.StoppedError):
        ounce.verify(MODEL, small.output, data=sound, metric=slow, progress=progress)
    assert told[0][0] == small.output
    with pytest.raises(ZeroDivisionError):
        ounce.verify(MODEL, small.output, data=sound, metric=slow, progress=lambda *_: 1 / 0)


def test_progress_is_a_bar_of_tqdm(small, monkeypatch):
    bars = []

    class Bar:
        desc, total, n = "", 0, 0

        def __init__(self, **_):
            bars.append(self)
            self.shown = []

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.is_closed = True

        def reset(self, total):
            self.total = total

        def set_description(self, text, refresh):
            self.desc = text + ": "

        def refresh(self):
            self.shown.append((self.desc, self.n, self.total))

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    ounce.bench(MODEL, seconds=0.6, cold_starts=0, progress=True)
    assert bars[0].shown and bars[0].is_closed
    assert bars[0].shown[-1][0].startswith("1 model: ")
    ounce.bench(MODEL, repeats=2, cold_starts=0)
    assert len(bars) == 1  # the output is no terminal


def test_a_function_leaves_no_measurements(tmp_path):
    sound, labels = clips(4)
    ounce.sensitivity(MODEL, to="w4", by="op", data=sound, labels=labels, metric=lambda *_: 1.0, cache=tmp_path)
    assert not list(tmp_path.rglob("*.*"))


def test_the_module_is_the_program():
    done = subprocess.run([sys.executable, "-m", "ounce", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, ounce.__version__)


def test_advice_on_data_in_memory_names_a_place_for_it():
    sound, labels = clips(24)
    advice = ounce.advise(MODEL, data=sound, labels=labels, budget="1s")
    assert advice.headline
    assert "--data DATA" in str(advice) or "--data" not in str(advice)


def test_ctrl_c_ends_a_call_and_leaves_nothing(tmp_path):
    program = textwrap.dedent(
        """
        import numpy, ounce, sys
        print("started", flush=True)
        try:
            ounce.bench(sys.argv[1], seconds=1000, cold_starts=0)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program, MODEL], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout.readline() == "started\n"
    threading.Event().wait(1.0)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "interrupted\n"
    assert process.returncode == 0
    assert not list(tmp_path.iterdir())


def test_other_threads_go_on_while_a_call_runs(small):
    ticks, over = [], threading.Event()

    def count():
        while not over.wait(0.01):
            ticks.append(1)

    thread = threading.Thread(target=count)
    thread.start()
    ounce.bench(MODEL, seconds=0.3, cold_starts=0)
    over.set()
    thread.join()
    assert len(ticks) > 5


def test_nothing_is_printed(capfd, small):
    ounce.inspect(small.output)
    ounce.quantize(MODEL, dry_run=True)
    with pytest.raises(ounce.OunceError):
        ounce.quantize("nothing.onnx")
    assert capfd.readouterr() == ("", "")


def test_bench_takes_several_models(small):
    found = ounce.bench([MODEL, small.output], repeats=5, cold_starts=0)
    assert [model.model for model in found.models] == [MODEL, small.output]


def test_calibrate_and_its_parts(tmp_path):
    sound, _ = clips(6)
    parts = []
    for part in ("1/2", "2/2"):
        parts.append(tmp_path / part.replace("/", "_"))
        assert ounce.calibrate(MODEL, data=sound, shard=part, output=parts[-1]).samples == 3
    merged = ounce.calibrate_merge(parts, output=tmp_path / "all.ranges")
    assert merged.samples == 6
    with pytest.raises(ounce.RequestError, match="covers 3 samples that"):
        ounce.calibrate_merge([parts[0], parts[0]], output=tmp_path / "twice.ranges")
    planned = ounce.quantize(MODEL, to="int8", ranges=merged.output, search=False, dry_run=True)
    assert {node.arithmetic for node in planned.nodes} >= {"static"}


def test_tflite_models_are_calibrated_and_tuned(tmp_path):
    model, output = str(FOLDER / "commands.tflite"), tmp_path / "tuned.tflite"
    sound = clips(24)[0].transpose(0, 2, 1)  # channels last
    assert ounce.calibrate(model, data=sound, output=tmp_path / "sound.ranges").samples == 24
    planned = ounce.quantize(model, to="int8", ranges=tmp_path / "sound.ranges", search=False, dry_run=True)
    assert {node.arithmetic for node in planned.nodes} >= {"static"}
    tuned = ounce.tune(model, data=sound, min_sqnr=20, confidence="none", budget="20 models", no_cache=True, output=output)
    assert tuned.passed and tuned.best.bytes == output.stat().st_size
    assert ounce.verify(model, output, data=sound, min_sqnr=20).passed


def test_contract_is_kept_in_the_model(tmp_path):
    sound = numpy.load(FOLDER / "commands_val.npz")["audio"][:4]
    contract = {"inputs": {"audio": {"kind": "audio", "rescale_factor": 1 / 32768, "max_length": 8000}}}
    output = tmp_path / "model.onnx"
    ounce.contract.set(MODEL, output=output, preprocess=contract, data=sound)
    assert ounce.contract.show(output).inputs["audio"]["kind"] == "audio"
    assert ounce.contract.check(output, data=sound).passed
    with pytest.raises(ounce.RequestError, match="has no contract"):
        ounce.contract.show(MODEL)


def test_publish_and_prove(tmp_path, small):
    proof = ounce.prove(small.output)
    assert proof.verdict == "unproved" and proof.holds and proof.statement.format == "w8"
    assert ounce.prove(small.output, source=MODEL).verdict == "proved"
    other = ounce.prove(small.output, source=small.output)
    assert other.verdict == "refuted" and not other.holds and other.reason.startswith("source: ")
    made = ounce.publish(MODEL, output=tmp_path / "published", layout="plain", variants="q8", bench=False)
    assert [one.variant for one in made.models[0].variants if one.written]


def test_diff_and_report(tmp_path, small):
    changed = ounce.diff(MODEL, small.output)
    assert not changed.same and changed.bytes_after < changed.bytes_before and changed.tensors
    page, document = tmp_path / "page.html", tmp_path / "diff.json"
    assert ounce.diff(MODEL, MODEL, report=page).same
    assert page.read_text().startswith("<!DOCTYPE html>")
    document.write_text(json.dumps(changed.to_dict()))
    assert ounce.report([document], output=page).bytes == os.path.getsize(page)


def test_check_copy_sensitivity_and_tune(tmp_path, small):
    assert ounce.check(small.output, target="linux-x64@1.22.0").runs
    assert ounce.copy(MODEL, output=tmp_path / "copy.onnx").bytes_after == os.path.getsize(MODEL)
    sound, labels = clips(24)
    ranking = ounce.sensitivity(MODEL, to="w4", by="op", data=sound, no_cache=True)
    assert ranking.groups[0].name
    tuned = ounce.tune(
        MODEL, data=sound, min_sqnr=10, budget="2 models", no_cache=True, output=tmp_path / "tuned.onnx", confidence="none"
    )
    assert tuned.trials
    assert not tuned.passed or os.path.exists(tuned.output)


def test_results_are_objects_all_the_way_down(tmp_path):
    small = ounce.quantize(MODEL, tmp_path / "small.onnx", data=clips(8), to="w8")
    assert small.next.startswith("ounce verify ")
    result = ounce.verify(MODEL, small, data=clips(8))
    assert result.outputs[0].name == "logits"
    assert result.next == f"ounce bench {MODEL} {small.output}"
    random = ounce.verify(MODEL, small)
    assert all(note.message for note in random.all_notes)
    table = ounce.overview(MODEL)
    assert table.formats[0].format == "w8" and 0.2 < table.formats[0].ratio < 0.35
    assert ounce.explain("OUN701").fix


def test_results_are_saved_and_shown(tmp_path, capsys):
    result = ounce.verify(MODEL, MODEL, data=clips(4))
    result.show()
    assert "passed: " in capsys.readouterr().out
    assert "<html" in result.to_html()
    result.save(tmp_path / "run.html")
    result.save(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text())["verb"] == "verify"
    assert (tmp_path / "run.html").stat().st_size > 10_000
    with pytest.raises(ounce.RequestError, match="must end in .html or .json"):
        result.save(tmp_path / "run.txt")
    pandas = pytest.importorskip("pandas")
    table = result.to_dataframe()
    assert isinstance(table, pandas.DataFrame) and list(table["name"]) == ["logits"]


def test_expert_options_are_a_dictionary(tmp_path):
    made = ounce.quantize(MODEL, tmp_path / "b.onnx", expert={"rounding": "nearest"}, verify=False)
    assert "--expert rounding=nearest" in made.command
    with pytest.raises(ounce.RequestError, match="did you mean 'rounding'"):
        ounce.quantize(MODEL, tmp_path / "c.onnx", expert={"roundin": "nearest"})


def test_preprocessing_is_derived(tmp_path):
    sound = numpy.load(FOLDER / "commands_val.npz")["audio"][:4]
    with pytest.raises(ounce.RequestError, match='preprocess="auto"'):
        ounce.verify(MODEL, MODEL, data=sound)
    result = ounce.verify(MODEL, MODEL, data=sound, preprocess="auto")
    assert any("rescale 1/32768" in note for note in result.notes)
