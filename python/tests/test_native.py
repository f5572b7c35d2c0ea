"""The C API through ctypes."""

import json
import threading

import pytest
from example import MODEL
from ounce import _native
from ounce._errors import RequestError


def test_every_verb_describes_itself():
    for verb in _native.verbs():
        described = _native.describe(verb)
        assert described["verb"] == verb
        assert all(option["help"] for option in described["options"])


def test_a_verb_that_is_none_is_refused_with_a_guess():
    with pytest.raises(RequestError, match="did you mean 'quantize'"):
        _native.describe("quantise")


def test_a_call_gives_document_and_text():
    with _native.Call("inspect") as call:
        call.add_options({"model": MODEL})
        assert call.run() == 0
        assert call.document()["verb"] == "inspect"
        assert "Conv" in call.text()
        assert call.message() is None
        assert call.output() is None


def test_calls_of_several_threads_do_not_meet():
    found = []

    def inspect():
        with _native.Call("inspect") as call:
            call.add_options({"model": MODEL})
            call.run()
            found.append(json.dumps(call.document(), sort_keys=True))

    threads = [threading.Thread(target=inspect) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
