"""Operators that pick, scatter, search and sort."""
import numpy as np

from probe import case


@case("Gather", by={"block": ["one", "many"]})
def gather(p):
    """The block is what one index brings: a single element when the axis is the last one."""
    p.input(4, 4)
    p.input(*p.pick((2,), (2, 3), ()), low=0, high=3)
    p.attr(axis=1 if p.by["block"] == "one" else 0)


@case("GatherElements")
def gather_elements(p):
    p.input(3, 4)
    p.input(2, 4, low=0, high=2)
    p.attr(axis=0)


@case("GatherND")
@case("GatherND", domain="com.microsoft")
def gather_nd(p):
    p.input(3, 4, 2)
    p.input(p.size(1, 3), 2, low=0, high=2)


REDUCTIONS = {"reduction": lambda s: (["none", "add", "mul"] + (["max", "min"] if s.since >= 18 else [])
                                      if "reduction" in s.attributes else [])}


def scatter_types(schema):
    return [{"T": t} | ({"Tind": i} if "Tind" in schema.types else {}) for t in schema.types["T"]
            for i in (schema.types.get("Tind", ("int64",)) if t == "float" else ("int64",))]


@case("Scatter", "ScatterElements", by=REDUCTIONS, bindings=scatter_types)
def scatter_elements(p):
    if p.by.get("reduction", "none") != "none" and p.types and p.type_of("T") == "string":
        return p.reject()
    columns = p.size(3, 5)
    p.input(3, columns)
    p.value(np.stack([p.rng.permutation(3)[:2] for _ in range(columns)], axis=1))
    p.input(2, columns)
    p.attr(axis=0, reduction=p.by.get("reduction"))


@case("ScatterND", by=REDUCTIONS, bindings=scatter_types)
def scatter_nd(p):
    if p.by.get("reduction", "none") != "none" and p.types and p.type_of("T") == "string":
        return p.reject()
    p.input(4, 3)
    p.value([[p.size(0, 1)], [p.size(2, 3)]])
    p.input(2, 3)
    p.attr(reduction=p.by.get("reduction"))


@case("Compress")
def compress(p):
    p.input(3, 4)
    p.value([True, False, True])
    p.attr(axis=0)


@case("NonZero")
def non_zero(p):
    p.input(p.size(2, 4), 4)
    if p.types and p.type_of("T") == "string":
        p.unchecked()


@case("OneHot")
def one_hot(p):
    p.input(p.size(2, 4), low=0, high=3)
    p.value(4, constant=True)
    p.value(["a", "b"] if p.type_of("T3") == "string" else [0, 1])


@case("ArgMax", "ArgMin")
def arg_max(p):
    p.value(p.rng.permutation(12).reshape(3, 4))
    p.attr(axis=p.pick(0, 1), keepdims=p.pick(0, 1))
    p.attr_if_known(select_last_index=p.pick(0, 1))


@case("TopK", until=9)
def top_k_by_attribute(p):
    p.value(p.rng.permutation(12).reshape(3, 4))
    p.attr(k=p.size(1, 3), axis=1)


@case("TopK", since=10)
def top_k(p):
    p.value(p.rng.permutation(12).reshape(3, 4))
    p.value([p.size(1, 3)], constant=True)
    p.attr(axis=1)
    p.attr_if_known(largest=p.pick(0, 1), sorted=1)


@case("Unique")
def unique(p):
    p.input(p.size(5, 8))
    p.output_count(4)


@case("Unique", domain="com.microsoft")
def unique_contrib(p):
    p.input(p.size(5, 8))


@case("CumSum", "CumProd")
def cumulative(p):
    p.input(3, p.size(2, 5), low=1, high=3)
    p.value(p.pick(0, 1), constant=True)
    p.attr(exclusive=p.pick(0, 1), reverse=p.pick(0, 1))


@case("NonMaxSuppression")
def non_max_suppression(p):
    corners = np.sort(p.rng.uniform(0, 4, (1, 5, 2, 2)), axis=2).reshape(1, 5, 4)
    p.value(corners)
    p.value(p.rng.permutation(5).reshape(1, 1, 5) / 5)
    p.value([p.size(1, 3)], constant=True)
    p.value([0.5], constant=True)
