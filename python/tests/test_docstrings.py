"""The documentation of every function has all sections, and its example runs."""

import ast
import inspect
import re

import ounce
import pytest

from example import FOLDER

FUNCTIONS = {
    name: function
    for owner, prefix in ((ounce, ""), (ounce.contract, "contract."), (ounce.shadow, "shadow."))
    for name, function in ((prefix + name, one) for name, one in vars(owner).items() if not name.startswith("_"))
    if inspect.isfunction(getattr(function, "__func__", function)) and getattr(function, "__module__", "ounce._verbs") == "ounce._verbs"
}

# Statistics of one device, as a shadow deployment writes them.
SHADOW = """
{"format": "ounce.shadow", "version": 1, "primary": "a", "candidate": "b", "calls": 1000, "compared": 500, "dropped": 3,
 "errors": 0, "crashes": 0, "timeouts": 0, "not_finite": 0, "canary_calls": 0, "canary_fallbacks": 0, "devices": 1,
 "canary_share": 0, "canary_stopped": "",
 "outputs": {"logits": {"values": 5000, "signal": 1000, "noise": 0.1, "largest": 0.25, "answers": 500, "flips": 2}},
 "primary_latency": [[133, 500], [141, 500]], "candidate_latency": [[125, 500]]}
"""


def section(text, title):
    match = re.search(rf"^{title}:\n((?:    .*\n?|\n)+)", inspect.cleandoc(text) + "\n", re.MULTILINE)
    return inspect.cleandoc(match.group(1)) if match else ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docstrings")
    for name in ("calib.npz", "val.npz"):
        (folder / name).write_bytes((FOLDER / f"commands_{name}").read_bytes())
    ounce.contract.set(FOLDER / "commands.onnx", folder / "model.onnx", rate=8000, length=8000, rescale="1/32768")
    ounce.quantize(folder / "model.onnx", folder / "small.onnx")
    (folder / "phone.json").write_text(SHADOW, encoding="utf-8")
    return folder


def test_functions_are_found():
    assert {"quantize", "verify", "contract.set", "shadow.report"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_documentation(name, folder, monkeypatch):
    text = FUNCTIONS[name].__doc__
    assert re.match(r"[A-Z][a-z]+ .*\.\n", text), "no summary"
    for title in ("Args", "Returns", "Raises", "Example"):
        assert section(text, title), f"no section {title}"
    monkeypatch.chdir(folder)
    code = section(text, "Example")
    ast.parse(code)
    exec(compile(code, name, "exec"), {"ounce": ounce})
