"""Images made larger, smaller, sampled and cut."""
import numpy as np

from probe import case, random_array

# Resizing of other types is only probed for the nearest neighbor of an image.
IMAGE_TYPES = ("float", "float16", "bfloat16", "double", "uint8", "int8", "int32")


def modes(schema):
    return ["nearest", "linear", "cubic"] if schema.since >= 11 else ["nearest", "linear"]


def antialias(schema):
    return [0, 1] if "antialias" in schema.attributes else []


def unusual(p, type_):
    return type_ not in IMAGE_TYPES and (p.by["mode"] != "nearest" or p.by["rank"] != 4
                                           or p.by.get("target") == "sizes")


def shape_and_scales(p):
    rank = p.by["rank"]
    outer = 2 if rank > 2 else 0
    shape = [1, 2][:outer] + [p.pick(2, 4) for _ in range(rank - outer)]   # sizes stay whole
    scales = [1.0] * outer + [p.pick(2.0, 1.5)] * (rank - outer)
    return shape, scales


@case("Upsample", by={"mode": ["nearest", "linear"], "rank": [3, 4, 5]})
def upsample(p):
    shape, scales = shape_and_scales(p)
    scales = [float(np.ceil(s)) for s in scales]
    p.input(*shape)
    if p.since < 9:
        p.attr(scales=scales)
    else:
        p.value(scales, constant=True)
    p.attr(mode=p.by["mode"])
    p.off_by = 0 if p.by["mode"] == "nearest" else 1
    if p.types and unusual(p, p.type_of("T")):
        p.reject()


def resize_types(schema):
    main = "T1" if "T1" in schema.types else "T"
    found = [{main: t} for t in schema.types[main]]
    if schema.since == 11:
        found = [b | {"T2": "float"} for b in found] + [{main: t, "T2": t} for t in ("float16", "double")]
    return found


@case("Resize", bindings=resize_types, by={"mode": modes, "rank": [2, 3, 4, 5], "antialias": antialias,
                                         "target": lambda s: ["scales", "sizes"] if s.since >= 11 else []})
def resize(p):
    if p.by.get("antialias") and (p.by["mode"] == "nearest" or p.by["rank"] in (3, 5)):
        return p.reject()
    shape, scales = shape_and_scales(p)
    picture = random_array(p.rng, p.type_at(0), shape, None, None)
    if p.type_at(0).startswith("int"):
        picture.reshape(-1)[:2] = -5      # there are always negative numbers
    p.value(picture)
    if p.since >= 11:
        p.value([]) if p.since == 11 else p.skip()
    if p.by.get("target") == "sizes":
        p.skip() if p.since >= 13 else p.value([], constant=True)
        p.value([int(n * s) for n, s in zip(shape, scales)], constant=True)
    else:
        p.value(scales, constant=True)
    p.attr(mode=p.by["mode"], antialias=p.by.get("antialias"))
    p.attr_if_known(coordinate_transformation_mode=p.pick("half_pixel", "align_corners", "asymmetric",
                                                          "pytorch_half_pixel"))
    if p.by["mode"] == "nearest":
        p.attr_if_known(nearest_mode=p.pick("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"))
    if p.types and unusual(p, p.type_at(0)):
        p.reject()
    if p.type_at(0) in ("uint8", "int8", "int32"):
        p.off_by = 1


def grid_types(schema):
    return [{"T1": t, "T2": "float"} for t in schema.types["T1"]] + [
        {"T1": t, "T2": t} for t in schema.types["T2"] if t != "float"]


def grid_modes(schema):
    return ["bilinear", "nearest", "bicubic"] if schema.since < 20 else ["linear", "nearest", "cubic"]


@case("GridSample", bindings=grid_types,
      by={"mode": grid_modes, "rank": lambda s: [4] if s.since < 20 else [4, 5]})
def grid_sample(p):
    n = p.by["rank"] - 2
    p.input(1, 1, *[4] * n)
    p.input(1, *[p.size(2, 3)] * n, n, low=-0.75, high=0.75)
    p.attr(mode=p.by["mode"], padding_mode=p.pick("zeros", "border", "reflection"),
           align_corners=p.pick(0, 1))


@case("GridSample", domain="com.microsoft", by={"mode": ["bilinear", "nearest", "bicubic"]},
      bindings=lambda s: [{"T1": "float", "T2": "float"}])
def grid_sample_contrib(p):
    p.input(1, 1, 4, 4)
    p.input(1, 2, 2, 2, low=-0.75, high=0.75)
    p.attr(mode=p.by["mode"])


@case("AffineGrid", by={"rank": [4, 5]})
def affine_grid(p):
    n = p.by["rank"] - 2
    p.input(1, n, n + 1)
    p.value([1, 1] + [p.size(2, 3)] * n, constant=True)


@case("RoiAlign", by={"mode": ["avg", "max"]})
def roi_align(p):
    p.input(1, 2, 6, 6)
    p.value([[0, 0, p.size(2, 4), 4]])
    p.value([0])
    p.attr(mode=p.by["mode"], output_height=2, output_width=2, sampling_ratio=2)
    if p.since < 16:
        p.unchecked()   # its corners lie otherwise


@case("CropAndResize", domain="com.microsoft", by={"mode": ["bilinear", "nearest"]})
def crop_and_resize(p):
    p.input(1, 2, 6, 6)
    p.value([[0, 0, 0.5, 1.0]])
    p.value([0])
    p.value([2, 3], constant=True)
    p.attr(mode=p.by["mode"])
