"""Operators that move elements about and never look at their values."""
import element_types
from probe import case


@case("Identity")
def identity(p):
    if p.type_at(0).startswith("seq("):
        return p.reject()
    p.input(p.size(2, 4), p.size(2, 4))


@case("Reshape")
def reshape(p):
    p.input(2, 6)
    p.value(p.pick([3, 4], [-1, 2], [0, 2, 3]), constant=True)


@case("Flatten")
def flatten(p):
    p.input(2, p.size(2, 3), 4)
    p.attr(axis=p.pick(0, 1, 2))


def axes_as_told(p, axes, since):
    """Attribute up to `since`, constant input from there on."""
    if p.since < since:
        p.attr(axes=axes)
    else:
        p.value(axes, constant=True)


@case("Squeeze")
def squeeze(p):
    p.input(1, p.size(2, 4), 1, 2)
    axes_as_told(p, p.pick([0], [2], [0, 2]), 13)


@case("Unsqueeze")
def unsqueeze(p):
    p.input(p.size(2, 4), 2)
    axes_as_told(p, p.pick([0], [1], [0, 3]), 13)


@case("Transpose")
def transpose(p):
    p.input(p.size(2, 4), 3, 2)
    p.attr(perm=p.pick([2, 1, 0], [1, 0, 2], [0, 2, 1]))


@case("Concat")
def concat(p):
    rows = p.size(2, 4)
    for _ in range(p.size(2, 3)):
        p.input(rows, p.size(1, 3))
    p.attr(axis=1)


@case("Split")
def split(p):
    p.input(2, 6)
    parts = p.pick([3, 3], [2, 2, 2], [2, 4])
    if p.since < 13:
        p.attr(split=parts)
    else:
        p.value(parts, constant=True)
    p.attr(axis=1)
    p.output_count(len(parts))


@case("Slice", until=9)
def slice_by_attributes(p):
    p.input(4, 6)
    p.attr(starts=[1, 0], ends=[3, p.size(2, 5)], axes=[0, 1])


@case("Slice", since=10)
def slice_(p):
    p.input(4, 6)
    p.value([1, 0], constant=True)
    p.value([3, p.size(2, 5)], constant=True)
    if p.pick(True, False):
        p.value([0, 1], constant=True)
        p.value([1, p.pick(1, 2)], constant=True)


PAD_MODES = {"mode": lambda s: ["constant", "reflect", "edge"] + (["wrap"] if s.since >= 19 else [])}


@case("Pad", until=10, by={"mode": ["constant", "reflect", "edge"]})
def pad_by_attributes(p):
    p.input(3, p.size(3, 5))
    p.attr(pads=[0, 1, p.size(0, 2), 1], mode=p.by["mode"])


@case("Pad", since=11, by=PAD_MODES)
def pad(p):
    p.input(3, p.size(3, 5))
    p.value([0, 1, p.size(0, 2), 1], constant=True)
    p.attr(mode=p.by["mode"])


@case("Tile")
def tile(p):
    p.input(2, p.size(2, 3))
    p.value([p.size(1, 2), p.size(1, 3)], constant=True)


@case("Expand")
def expand(p):
    p.input(3, 1)
    p.value(p.pick([3, 4], [2, 3, 1], [1, 2]), constant=True)


@case("DepthToSpace", by={"mode": lambda s: ["DCR", "CRD"] if s.since >= 11 else []})
def depth_to_space(p):
    p.input(1, 8, p.size(2, 3), 2)
    p.attr(blocksize=2, mode=p.by.get("mode"))


@case("SpaceToDepth")
def space_to_depth(p):
    p.input(1, p.size(1, 2), 4, 4)
    p.attr(blocksize=2)


@case("Shape", "Size")
def shape(p):
    p.input(p.size(1, 4), p.size(2, 4))


@case("ReverseSequence")
def reverse_sequence(p):
    p.input(4, 3)
    p.value([p.size(1, 4), 2, 4])
    p.attr(time_axis=0, batch_axis=1)


@case("Trilu")
def trilu(p):
    p.input(p.size(3, 4), 4)
    if p.pick(True, False):
        p.value(p.size(-1, 1), constant=True)
    p.attr(upper=p.pick(0, 1))


@case("CenterCropPad")
def center_crop_pad(p):
    p.input(4, p.size(3, 5))
    p.value([p.size(2, 6), 4], constant=True)


@case("TensorScatter")
def tensor_scatter(p):
    p.input(2, 1, 4, 3)
    p.input(2, 1, 1, 3)
    p.value([p.size(0, 3), 1], constant=False)


@case("ExpandDims", domain="com.microsoft")
def expand_dims(p):
    p.input(2, p.size(2, 4))
    p.value(p.pick(0, 1, 2), constant=True)


@case("Pad", domain="com.microsoft", by={"mode": ["constant", "reflect", "edge"]})
def pad_contrib(p):
    p.input(3, p.size(3, 5))
    p.value([0, 1, 1, 1], constant=True)
    p.attr(mode=p.by["mode"])


@case("Trilu", domain="com.microsoft")
def trilu_contrib(p):
    trilu(p)


@case("UnfoldTensor", domain="com.microsoft")
def unfold(p):
    p.input(2, p.size(5, 8))
    p.attr(dim=1, size=3, step=2)


@case("Col2Im")
def col2im(p):
    p.input(1, 5, 5)
    p.value([5, 5], constant=True)
    p.value([1, 5], constant=True)


@case("EyeLike")
def eye_like(p):
    p.input(p.size(2, 4), 4)
    p.attr(dtype=element_types.number(p.type_of("T2")), k=p.pick(0, 1))
    p.tolerance = 0
