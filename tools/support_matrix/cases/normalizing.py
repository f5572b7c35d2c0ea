"""Normalisations."""
from probe import case


def same_types(schema, *variables):
    return [{v: t for v in variables if v in schema.types} for t in schema.types["T"]]


def batch_norm_types(schema):
    mixed = [{"T": t, "T1": u, "T2": u, "U": u} for t in ("float16", "bfloat16") for u in ("float",)
             if t in schema.types["T"] and "T2" in schema.types]
    found = same_types(schema, "T", "T1", "T2", "U") + mixed
    return [{v: t for v, t in binding.items() if v in schema.types} for binding in found]


@case("BatchNormalization", bindings=batch_norm_types,
      by={"training_mode": lambda s: [0, 1] if "training_mode" in s.attributes else []})
def batch_norm(p):
    channels = p.size(2, 4)
    p.input(2, channels, *[p.size(2, 4) for _ in range(p.pick(0, 1, 2, 3))])
    p.constant(channels, low=0.5, high=2)
    p.constant(channels)
    p.constant(channels)
    p.constant(channels, low=0.5, high=2)
    training = p.by.get("training_mode", 0)
    if training:
        p.attr(training_mode=1)
        p.tolerance = 2e-2
        p.output_count(3)


@case("InstanceNormalization", by={"rank": [3, 4, 5]})
def instance_norm(p):
    p.input(2, 3, *[p.size(2, 4) for _ in range(p.by["rank"] - 2)])
    p.constant(3, low=0.5, high=2)
    p.constant(3)


@case("GroupNormalization")
def group_norm(p):
    p.input(1, 4, p.size(2, 4), 3)
    p.constant(2 if p.since < 21 else 4, low=0.5, high=2)
    p.constant(2 if p.since < 21 else 4)
    p.attr(num_groups=2)


def layer_norm_types(schema):
    return same_types(schema, "T", "V")


@case("LayerNormalization", bindings=layer_norm_types)
def layer_norm(p):
    width = p.size(3, 8)
    p.input(2, 3, width)
    p.constant(width, low=0.5, high=2)
    if p.pick(True, False):
        p.constant(width)
    p.attr(axis=-1)
    p.opsets = {"": 16} if p.since == 1 else {}


@case("RMSNormalization", "SimplifiedLayerNormalization", bindings=layer_norm_types)
def rms_norm(p):
    width = p.size(3, 8)
    p.input(2, 3, width)
    p.constant(width, low=0.5, high=2)
    p.attr(axis=-1)
    p.opsets = {"": 16} if p.since == 1 else {}


@case("LRN")
def lrn(p):
    p.input(1, p.size(4, 6), 3, 3)
    p.attr(size=p.pick(3, 5))


@case("LpNormalization", by={"p": [1, 2]})
def lp_norm(p):
    p.input(2, p.size(3, 5), low=0.5, high=2)
    p.attr(p=p.by["p"], axis=p.pick(0, 1))


@case("MeanVarianceNormalization")
def mean_variance(p):
    p.input(2, 3, p.size(2, 3), 3)


@case("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain="com.microsoft")
def skip_layer_norm(p):
    width = p.pick(4, 8)
    p.input(1, 3, width)
    p.input(1, 3, width)
    p.constant(width, low=0.5, high=2)
    if p.pick(True, False):
        p.constant(width)


@case("EmbedLayerNormalization", domain="com.microsoft")
def embed_layer_norm(p):
    p.input(1, 3, low=0, high=4)
    p.skip()
    p.constant(5, 4)
    p.constant(6, 4)
    p.skip()
    p.constant(4, low=0.5, high=2)
    p.constant(4)
    p.output_count(2)
