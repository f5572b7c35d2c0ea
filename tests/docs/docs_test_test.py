"""Tests of the comparison of outputs in docs_test.py."""

from docs_test import commands, difference


def test_figures_of_the_machine_may_differ():
    assert difference("speed: 2.85× the original\n", "speed: 3.1× the original\n") is None
    assert difference("a.onnx  455 kB  4.4 s\n", "a.onnx  455 kB  310 ms\n") is None
    assert difference("  note: Calibration: minmax (3 dB)\n  done\n", "  done\n") is None


def test_other_figures_and_words_may_not():
    assert difference("SQNR 41.9 dB\n", "SQNR 41.2 dB\n") is None
    assert difference("SQNR 41.9 dB\n", "SQNR 30.0 dB\n")
    assert difference("passed\n", "failed\n")
    assert difference("one\n", "one\ntwo\n")
    assert difference("one\ntwo\n", "one\n")


def test_an_ellipsis_stands_for_lines():
    assert difference("one\n…\nfour\n", "one\ntwo\nthree\nfour\n") is None
    assert difference("one\n…\nfive\n", "one\ntwo\n")


def test_commands_of_blocks():
    page = "```\nounce a \\\n  b  # c\n```\n<!-- exits 3 -->\n```console\n$ ounce d\nout\n$ ounce e\n```\n<!-- not run: x -->\n```\nounce f\n```\n"
    assert [(one.line.split(), one.code, one.shown) for one in commands(page)] == [
        (["ounce", "a", "b"], 0, None), (["ounce", "d"], 3, "out\n"), (["ounce", "e"], 3, "")]
