"""Attention and what belongs to it."""
import numpy as np

from probe import case


def attention_types(schema):
    return [{"T1": t, "T2": t} for t in schema.types["T1"]]


def masked_types(schema):
    return [{"T1": t, "T2": t, "U": u} for t in schema.types["T1"] for u in ("bool", t)]


FORMS = {"rank": [3, 4], "is_causal": [0, 1]}


def attention_inputs(p):
    steps, heads, size = p.size(2, 6), 2, p.pick(8, 16)   # float16 heads of 4 are all zeros on arm64
    shape = (1, steps, heads * size) if p.by["rank"] == 3 else (1, heads, steps, size)
    for _ in range(3):
        p.input(*shape)
    if p.by["rank"] == 3:
        p.attr(q_num_heads=heads, kv_num_heads=heads)
    p.attr(is_causal=p.by["is_causal"])
    return steps


@case("Attention", bindings=attention_types, by={"mask": ["no"]} | FORMS)
def attention(p):
    attention_inputs(p)


@case("Attention", bindings=masked_types, by={"mask": ["yes"]} | FORMS)
def masked_attention(p):
    steps = attention_inputs(p)
    p.value(np.tril(np.ones((steps, steps))))


@case("RotaryEmbedding", by={"interleaved": [0, 1]})
def rotary(p):
    p.input(1, 2, 3, 4)
    p.constant(6, 2)
    p.constant(6, 2)
    p.value([[0, p.size(0, 3), 2]])
    p.attr(interleaved=p.by["interleaved"])


@case("RotaryEmbedding", domain="com.microsoft", by={"interleaved": [0, 1]})
def rotary_contrib(p):
    p.input(1, 2, 3, 4)
    p.value([[0, p.size(0, 3), 2]])
    p.constant(6, 2)
    p.constant(6, 2)
    p.attr(interleaved=p.by["interleaved"])


@case("Attention", domain="com.microsoft", by={"unidirectional": [0, 1], "mask": ["no", "yes"]})
def attention_contrib(p):
    p.input(1, p.size(2, 4), 4)
    p.constant(4, 12)
    p.constant(12)
    if p.by["mask"] == "yes":
        p.value([2])
    p.attr(num_heads=2, unidirectional=p.by["unidirectional"])


@case("MultiHeadAttention", domain="com.microsoft", by={"bias": ["no", "yes"], "mask": ["no", "yes"]})
def multi_head(p):
    steps = p.size(2, 4)
    for _ in range(3):
        p.input(1, steps, 8)
    p.constant(24) if p.by["bias"] == "yes" else p.skip()
    if p.by["mask"] == "yes":
        p.value(np.ones((1, steps)))
    p.attr(num_heads=2)


def cache_types(schema):
    return [{"T": t, "T_CACHE": t} if "T_CACHE" in schema.types else {"T": t} for t in schema.types["T"]]


@case("GroupQueryAttention", domain="com.microsoft", bindings=cache_types, by={"do_rotary": [0, 1]})
def group_query(p):
    heads, size, steps, room = 4, 16, p.size(2, 3), 6
    p.input(1, steps, heads * size)
    p.input(1, steps, 2 * size)
    p.input(1, steps, 2 * size)
    p.value(np.zeros((1, 2, room, size)))
    p.value(np.zeros((1, 2, room, size)))
    p.value([steps - 1])
    p.value(steps)
    if p.by["do_rotary"]:
        p.constant(room, size // 2)
        p.constant(room, size // 2)
    p.attr(num_heads=heads, kv_num_heads=2, do_rotary=p.by["do_rotary"])
    p.output_count(3)


def one_type(schema):
    return [{"T": t, "S": t} for t in schema.types["T"]]


@case("LinearAttention", bindings=one_type)
@case("LinearAttention", domain="com.microsoft", bindings=one_type)
def linear_attention(p):
    for _ in range(3):
        p.input(1, p.size(2, 2), 8)
    p.attr(q_num_heads=2, kv_num_heads=2, update_rule="linear")
