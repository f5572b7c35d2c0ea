#!/usr/bin/env python3
"""Writes a tiny decoder with a cache of keys and values, as an onnxruntime-genai folder: model.onnx and genai_config.json.

usage: make_decoder.py FOLDER

It continues a sequence by counting: n is followed by n + 1. The embedding and the last layer implement this, and one small
random attention layer does not change it.
"""

import json
import math
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from make_bert import Builder, floats, scalar, weight  # noqa: E402
from onnx_bytes import INT64, attribute, floats_of, graph, ints, model, tensor, tensor_attribute, value  # noqa: E402

WORDS, HIDDEN, HEADS, LONGEST = 96, 64, 4, 128
SIZE = HIDDEN // HEADS


def embeddings():
    """Unit vectors in random directions, far from each other."""
    draw = random.Random("decoder").gauss
    rows = [[draw(0, 1) for _ in range(HIDDEN)] for _ in range(WORDS)]
    return [[v / math.sqrt(sum(w * w for w in row)) for v in row] for row in rows]


def decoder():
    b = Builder()
    words = embeddings()
    head = [[words[(column - 1) % WORDS][row] for column in range(WORDS)] for row in range(HIDDEN)]
    b.weights += [weight("words", words), weight("head", head), ints("split", 0, 0, HEADS, SIZE), ints("join", 0, 0, HIDDEN),
                  ints("one_index", 1), ints("two_index", 2), ints("three_index", 3), ints("zero_axis", 0),
                  scalar("root", math.sqrt(SIZE)), scalar("one", 1.0), scalar("far", -10000.0), scalar("small", 0.05)]
    x = b.op("Gather", ["words", "input_ids"], "embedded")
    length = b.op("Slice", [b.op("Shape", ["input_ids"], "ids/shape"), "one_index", "two_index"], "length")
    parts = {}
    for name in ("query", "key", "value"):
        values = floats("decoder." + name, HIDDEN, HIDDEN, 0.5 / math.sqrt(HIDDEN))
        b.weights.append(weight(f"{name}.weight", values))
        split = b.op("Reshape", [b.op("MatMul", [x, f"{name}.weight"], f"{name}/out"), "split"], f"{name}/split")
        parts[name] = b.op("Transpose", [split], f"{name}/heads", attribute("perm", [0, 2, 1, 3]))
    key = b.op("Concat", ["past_key_values.0.key", parts["key"]], "present.0.key", attribute("axis", 2))
    val = b.op("Concat", ["past_key_values.0.value", parts["value"]], "present.0.value", attribute("axis", 2))
    total = b.op("Slice", [b.op("Shape", [key], "key/shape"), "two_index", "three_index"], "total")
    past = b.op("Squeeze", [b.op("Sub", [total, length], "past/wide"), "zero_axis"], "past")
    ones = b.op("ConstantOfShape", [b.op("Concat", [length, total], "mask/shape", attribute("axis", 0))], "mask/ones",
                tensor_attribute("value", tensor("", [1], floats_of([1.0]))))
    seen = b.op("Trilu", [ones, past], "mask/seen", attribute("upper", 0))
    mask = b.op("Mul", [b.op("Sub", ["one", seen], "mask/hidden"), "far"], "mask")
    turned = b.op("Transpose", [key], "key/turned", attribute("perm", [0, 1, 3, 2]))
    scores = b.op("Add", [b.op("Div", [b.op("MatMul", [parts["query"], turned], "qk"), "root"], "scaled"), mask], "masked")
    mixed = b.op("MatMul", [b.op("Softmax", [scores], "shares", attribute("axis", -1)), val], "mixed")
    joined = b.op("Reshape", [b.op("Transpose", [mixed], "back", attribute("perm", [0, 2, 1, 3])), "join"], "joined")
    x = b.op("Add", [x, b.op("Mul", [joined, "small"], "step")], "sum")
    b.op("MatMul", [x, "head"], "logits")
    cache = ["batch_size", HEADS, "past_sequence_length", SIZE]
    longer = ["batch_size", HEADS, "total_sequence_length", SIZE]
    inputs = [value("input_ids", ["batch_size", "sequence_length"], INT64), value("attention_mask", ["batch_size", "total_sequence_length"], INT64)]
    inputs += [value(f"past_key_values.0.{kind}", cache) for kind in ("key", "value")]
    outputs = [value("logits", ["batch_size", "sequence_length", WORDS])] + [value(f"present.0.{kind}", longer) for kind in ("key", "value")]
    return model(graph(b.nodes, inputs, outputs, b.weights))


def genai_config():
    decoder_config = {
        "session_options": {"provider_options": []}, "filename": "exported.onnx", "head_size": SIZE, "hidden_size": HIDDEN,
        "inputs": {"input_ids": "input_ids", "attention_mask": "attention_mask", "past_key_names": "past_key_values.%d.key",
                   "past_value_names": "past_key_values.%d.value"},
        "outputs": {"logits": "logits", "present_key_names": "present.%d.key", "present_value_names": "present.%d.value"},
        "num_attention_heads": HEADS, "num_hidden_layers": 1, "num_key_value_heads": HEADS}
    return {"model": {"bos_token_id": 1, "eos_token_id": WORDS - 1, "pad_token_id": 0, "context_length": LONGEST, "decoder": decoder_config,
                      "type": "llama", "vocab_size": WORDS},
            "search": {"do_sample": False, "max_length": LONGEST, "num_beams": 1, "past_present_share_buffer": False}}


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(decoder())
    (folder / "genai_config.json").write_text(json.dumps(genai_config(), indent=2) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
