#!/usr/bin/env python3
"""Writes a tiny BERT that distinguishes praise from complaint, as a Hugging Face folder: onnx/model.onnx, config, tokenizer, README.

usage: make_bert.py FOLDER DATA.npz

It has two attention layers and a WordPiece vocabulary of about a hundred words. Words of praise and of complaint have opposite
signs in one direction of the embedding, which the layers transfer to the first token, so that its predictions are meaningful.
Needs only Python. Every run writes the same bytes.
"""

import json
import math
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
from data_bytes import npz, npy  # noqa: E402
from onnx_bytes import INT64, attribute, field, floats_of, graph, ints, model, node, tensor, value, varint  # noqa: E402

HIDDEN, HEADS, INNER, LAYERS, LONGEST = 64, 4, 128, 2, 64
PRAISE = "good great lovely fine excellent happy wonderful superb bright kind fast love enjoy best nice".split()
COMPLAINT = "bad awful poor sad terrible broken horrible dull slow rude late hate avoid worst nasty".split()
OTHERS = ("the a an this that it is was are were be i we you they he she my your our and or but so very really quite too "
          "movie film book food place staff room phone screen music story actor plot price service day time of in on at "
          "with for to from not no yes all some one two new old as by , . ! ?").split()
PIECES = "##s ##ed ##ing ##ly ##er ##est ##ness".split()
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + PRAISE + COMPLAINT + OTHERS + PIECES


def floats(seed, rows, columns, scale):
    draw = random.Random(seed).gauss
    return [[scale * draw(0, 1) for _ in range(columns)] for _ in range(rows)]


def flat(rows):
    return [v for row in rows for v in row]


def weight(name, rows):
    return tensor(name, [len(rows), len(rows[0])], floats_of(flat(rows)))


def vector(name, values):
    return tensor(name, [len(values)], floats_of(values))


def scalar(name, number):
    return tensor(name, [], floats_of([number]))


def word_embeddings():
    rows = floats("words", len(VOCABULARY), HIDDEN, 0.5)
    for word, row in zip(VOCABULARY, rows):
        row[0] = 3.0 if word in PRAISE else -3.0 if word in COMPLAINT else 0.0
    return rows


class Builder:
    def __init__(self):
        self.nodes, self.weights = [], []

    def op(self, op_type, inputs, output, *attributes):
        self.nodes.append(node(op_type, inputs, [output], attributes, name=output))
        return output

    def dense(self, name, x, rows, columns, keep=None):
        """`keep`: the share of the first feature that passes through unchanged."""
        values = floats(name, rows, columns, 0.5 / math.sqrt(rows))
        if keep is not None:
            for row in values:
                row[0] = 0.0
            values[0][0] = keep
        self.weights += [weight(f"{name}.weight", values), vector(f"{name}.bias", flat(floats(name + "b", 1, columns, 0.02)))]
        return self.op("Add", [self.op("MatMul", [x, f"{name}.weight"], f"{name}/matmul"), f"{name}.bias"], f"{name}/out")

    def norm(self, name, x):
        self.weights += [vector(f"{name}.weight", [1.0] * HIDDEN), vector(f"{name}.bias", [0.0] * HIDDEN)]
        epsilon = field(1, "epsilon") + varint(2 << 3 | 5) + bytes.fromhex("cc2b2b2d") + field(20, 1)  # 1e-12, as usual
        return self.op("LayerNormalization", [x, f"{name}.weight", f"{name}.bias"], f"{name}/out", attribute("axis", -1), epsilon)

    def heads(self, name, x):
        split = self.op("Reshape", [x, "split"], f"{name}/split")
        return self.op("Transpose", [split], f"{name}/heads", attribute("perm", [0, 2, 1, 3]))

    def layer(self, number, x):
        at = f"layer.{number}"
        q = self.heads(f"{at}.q", self.dense(f"{at}.query", x, HIDDEN, HIDDEN))
        k = self.heads(f"{at}.k", self.dense(f"{at}.key", x, HIDDEN, HIDDEN))
        v = self.heads(f"{at}.v", self.dense(f"{at}.value", x, HIDDEN, HIDDEN, keep=2.0))
        k = self.op("Transpose", [k], f"{at}.k/t", attribute("perm", [0, 1, 3, 2]))
        scores = self.op("Div", [self.op("MatMul", [q, k], f"{at}/qk"), "root"], f"{at}/scaled")
        shares = self.op("Softmax", [self.op("Add", [scores, "mask/added"], f"{at}/masked")], f"{at}/shares", attribute("axis", -1))
        mixed = self.op("Transpose", [self.op("MatMul", [shares, v], f"{at}/mixed")], f"{at}/back", attribute("perm", [0, 2, 1, 3]))
        joined = self.op("Reshape", [mixed, "join"], f"{at}/joined")
        x = self.norm(f"{at}.attention.norm", self.op("Add", [self.dense(f"{at}.output", joined, HIDDEN, HIDDEN, keep=2.0), x], f"{at}/sum"))
        inner = self.dense(f"{at}.inner", x, HIDDEN, INNER)
        erf = self.op("Add", [self.op("Erf", [self.op("Div", [inner, "two"], f"{at}/halved")], f"{at}/erf"), "one"], f"{at}/erf1")
        gelu = self.op("Mul", [self.op("Mul", [inner, erf], f"{at}/gelu2"), "half"], f"{at}/gelu")
        return self.norm(f"{at}.norm", self.op("Add", [self.dense(f"{at}.outer", gelu, INNER, HIDDEN), x], f"{at}/sum2"))


def bert():
    b = Builder()
    b.weights += [
        weight("words", word_embeddings()), weight("positions", floats("positions", LONGEST, HIDDEN, 0.05)),
        weight("types", floats("types", 2, HIDDEN, 0.05)), ints("split", 0, 0, HEADS, HIDDEN // HEADS), ints("join", 0, 0, HIDDEN),
        ints("axes", 1, 2), ints("zero", 0), ints("one_index", 1), ints("first", 0), ints("unit", 1),
        scalar("root", math.sqrt(HIDDEN / HEADS)), scalar("two", math.sqrt(2)), scalar("one", 1.0), scalar("half", 0.5),
        scalar("far", -10000.0)]
    length = b.op("Slice", [b.op("Shape", ["input_ids"], "shape"), "one_index", tensor_two(b)], "length")
    positions = b.op("Slice", ["positions", "zero", length, "zero"], "positions/used")
    x = b.op("Add", [b.op("Gather", ["words", "input_ids"], "words/out"), b.op("Gather", ["types", "token_type_ids"], "types/out")], "sum0")
    x = b.norm("embeddings.norm", b.op("Add", [x, positions], "sum1"))
    mask = b.op("Cast", [b.op("Unsqueeze", ["attention_mask", "axes"], "mask/wide")], "mask/float", attribute("to", 1))
    b.op("Mul", [b.op("Sub", ["one", mask], "mask/inverse"), "far"], "mask/added")
    for number in range(LAYERS):
        x = b.layer(number, x)
    first = b.op("Squeeze", [b.op("Slice", [x, "first", "unit", "unit"], "cls/wide"), "unit"], "cls")
    pooled = b.op("Tanh", [b.dense("pooler", first, HIDDEN, HIDDEN, keep=2.0)], "pooled")
    rows = [[0.0, 0.0] for _ in range(HIDDEN)]
    rows[0] = [-1.5, 1.5]
    for row, noise in zip(rows[1:], floats("classifier", HIDDEN - 1, 2, 0.05)):
        row[:] = noise
    b.weights += [weight("classifier.weight", rows), vector("classifier.bias", [0.0, 0.0])]
    b.op("Add", [b.op("MatMul", [pooled, "classifier.weight"], "classifier/matmul"), "classifier.bias"], "logits")
    dims = ["batch", "sequence"]
    inputs = [value(name, dims, INT64) for name in ("input_ids", "attention_mask", "token_type_ids")]
    return model(graph(b.nodes, inputs, [value("logits", ["batch", 2])], b.weights))


def tensor_two(builder):
    builder.weights.append(ints("two_index", 2))
    return "two_index"


def tokenizer():
    specials = [{"id": i, "content": VOCABULARY[i], "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
                 "special": True} for i in range(5)]
    token = {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}, "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}

    def special(name):
        return {"SpecialToken": {"id": name, "type_id": 0}}

    single = [special("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]")]
    pair = single + [{"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": specials,
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                           "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": token},
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                      "vocab": {word: i for i, word in enumerate(VOCABULARY)}}}


def config():
    return {"architectures": ["BertForSequenceClassification"], "model_type": "bert", "hidden_size": HIDDEN,
            "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "intermediate_size": INNER, "hidden_act": "gelu",
            "max_position_embeddings": LONGEST, "type_vocab_size": 2, "vocab_size": len(VOCABULARY), "pad_token_id": 0,
            "layer_norm_eps": 1e-12, "id2label": {"0": "COMPLAINT", "1": "PRAISE"}, "label2id": {"COMPLAINT": 0, "PRAISE": 1}}


def samples(count, length):
    """Sentences of a fixed length with their labels: [CLS], words with one to three of praise or complaint, [SEP]."""
    draw = random.Random("sentences")
    ids, labels = [], []
    for _ in range(count):
        is_praise = draw.random() < 0.5
        words = [draw.choice(OTHERS) for _ in range(length - 2)]
        for place in draw.sample(range(length - 2), draw.randint(1, 3)):
            words[place] = draw.choice(PRAISE if is_praise else COMPLAINT)
        ids += [2] + [VOCABULARY.index(word) for word in words] + [3]
        labels.append(int(is_praise))
    return ids, labels


def main(folder, data):
    folder = pathlib.Path(folder)
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    (folder / "onnx/model.onnx").write_bytes(bert())
    texts = {"config.json": config(), "tokenizer.json": tokenizer(),
             "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": LONGEST,
                                       "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]",
                                       "mask_token": "[MASK]"}}
    for name, document in texts.items():
        (folder / name).write_text(json.dumps(document, indent=2) + "\n")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n\n# Praise or complaint\n\nA tiny BERT for tests.\n")
    count, length = 128, 12
    ids, labels = samples(count, length)
    pathlib.Path(data).write_bytes(npz(
        input_ids=npy("q", [count, length], ids), attention_mask=npy("q", [count, length], [1] * (count * length)),
        token_type_ids=npy("q", [count, length], [0] * (count * length)), label=npy("q", [count], labels)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
