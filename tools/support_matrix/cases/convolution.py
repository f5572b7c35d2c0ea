"""Convolutions and pools."""
import numpy as np

from probe import case

SPATIAL = {"spatial": [1, 2, 3]}


def image(p, channels, low=5, high=7):
    return (1, channels) + tuple(p.size(low, high) for _ in range(p.by["spatial"]))


def windows(p, pads=True):
    """Attributes that are never a question of support: they vary with the seed."""
    n = p.by["spatial"]
    p.attr(strides=[p.size(1, 2)] * n)
    if pads:
        p.attr(pads=[p.size(0, 1)] * (2 * n))


@case("Conv", by=SPATIAL | {"groups": ["one", "some", "each"], "bias": ["no", "yes"]})
def conv(p):
    n, group = p.by["spatial"], {"one": 1, "some": 2, "each": 4}[p.by["groups"]]
    p.input(*image(p, 4))
    p.constant(4, 4 // group, *[3] * n)
    if p.by["bias"] == "yes":
        p.constant(4)
    if p.pick(True, False):
        windows(p)
        p.attr(dilations=[p.size(1, 2)] * n)
    else:
        p.attr(auto_pad=p.pick("SAME_UPPER", "SAME_LOWER", "VALID"))
    p.attr(group=group, kernel_shape=[3] * n)


@case("ConvTranspose", by=SPATIAL)
def conv_transpose(p):
    n, group = p.by["spatial"], p.pick(1, 2)
    p.input(*image(p, 4, 3, 4))
    p.constant(4, 2, *[3] * n)
    if p.pick(True, False):
        p.constant(2 * group)
    windows(p)
    p.attr(group=group, kernel_shape=[3] * n, dilations=[p.size(1, 2)] * n)


@case("FusedConv", domain="com.microsoft", by={"spatial": [2], "activation": ["Relu", "Sigmoid"]})
def fused_conv(p):
    p.input(*image(p, 4))
    p.constant(4, 4, 3, 3)
    p.constant(4)
    p.attr(activation=p.by["activation"], kernel_shape=[3, 3])


@case("ConvTransposeWithDynamicPads", domain="com.microsoft", by={"spatial": [2]})
def conv_transpose_dynamic(p):
    p.input(*image(p, 2, 3, 4))
    p.constant(2, 2, 3, 3)
    p.value([0, 1, 1, 0])


@case("DeformConv")
def deform_conv(p):
    p.input(1, 2, 5, 5)
    p.constant(2, 2, 3, 3)
    p.input(1, 18, 3, 3)


def ceil_modes(schema):
    return [0, 1] if "ceil_mode" in schema.attributes else []


def dilated(schema):
    return ["no", "yes"] if "dilations" in schema.attributes else []


def inclusions(schema):
    return [0, 1] if "count_include_pad" in schema.attributes else []


def indices(schema):
    return ["no", "yes"] if schema.name == "MaxPool" and schema.since >= 8 else []


POOLS = SPATIAL | {"indices": indices, "ceil_mode": ceil_modes, "overhang": ["none", "window", "padding"],
                   "dilated": dilated, "count_include_pad": inclusions}


@case("AveragePool", "LpPool", "MaxPool", by=POOLS)
def pool(p):
    """The overhang, with ceil_mode: no window, or the last one reaches beyond the input; or one would begin in
    the padding behind it, and must not be."""
    n, ceil, overhang = p.by["spatial"], p.by.get("ceil_mode", 0), p.by["overhang"]
    spread = 2 if p.by.get("dilated") == "yes" else 1
    if (overhang != "none" and not ceil) or (overhang == "padding" and spread == 2):
        return p.reject()
    if overhang == "none":
        kernel, stride, pads, size = p.size(2, 3), 1, p.size(0, 1), [p.size(5, 7) for _ in range(n)]
    elif overhang == "window":
        kernel, stride, pads, size = 3, 2, 0, [p.pick(6, 8)] * n
    else:
        kernel, stride, pads, size = 2, 2, 1, [p.pick(5, 7)] * n
    p.input(1, p.size(1, 3), *size)
    p.attr(kernel_shape=[kernel] * n, strides=[stride] * n, pads=[pads] * 2 * n, ceil_mode=ceil or None,
           count_include_pad=p.by.get("count_include_pad"))
    if spread == 2:
        p.attr(dilations=[2] * n)
    if p.by.get("indices") == "yes":
        p.output_count(2)     # they are not compared


@case("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", by=SPATIAL)
def global_pool(p):
    p.input(*image(p, 3))


@case("MaxUnpool")
def max_unpool(p):
    p.value(p.rng.integers(1, 9, (1, 1, 2, 2)))
    p.value([[[[p.pick(0, 1), 3], [8, p.pick(10, 11)]]]])
    p.attr(kernel_shape=[2, 2], strides=[2, 2])


@case("MaxRoiPool")
def max_roi_pool(p):
    p.input(1, 2, 6, 6)
    p.value([[0, 0, 0, p.size(2, 4), 4]])
    p.attr(pooled_shape=[2, 2])


@case("MaxpoolWithMask", domain="com.microsoft")
def max_pool_with_mask(p):
    p.input(1, 1, 4, 4)
    p.value(np.ones((1, 1, 4, 4)))
    p.attr(kernel_shape=[2, 2])


@case("NhwcMaxPool", domain="com.microsoft")
def nhwc_max_pool(p):
    p.input(1, 4, 4, p.size(2, 4))
    p.attr(kernel_shape=[2, 2])


@case("CausalConvWithState")
def causal_conv(p):
    p.input(1, 4, p.size(3, 6))
    p.constant(4, 1, 3)


@case("CausalConvWithState", domain="com.microsoft")
def causal_conv_contrib(p):
    p.input(1, 4, p.size(3, 6))
    p.constant(4, 1, 3)
