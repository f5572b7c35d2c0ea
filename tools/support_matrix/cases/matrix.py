"""Products of matrices, determinants, transforms."""
from probe import case


@case("MatMul")
def matmul(p):
    inner = p.size(2, 9)
    p.input(*p.pick((), (2,)), p.size(1, 4), inner)
    shape = (inner, p.size(2, 9))
    (p.constant if p.pick(True, False) else p.input)(*shape)


@case("Gemm")
def gemm(p):
    rows, inner, columns = p.size(1, 4), p.size(2, 6), p.size(2, 6)
    flip = p.pick(0, 1)
    p.input(rows, inner)
    p.constant(*((columns, inner) if flip else (inner, columns)))
    if p.since < 11 or p.pick(True, False):
        p.constant(columns)
    p.attr(transB=flip, alpha=p.pick(None, 2.0), beta=p.pick(None, 3.0))


@case("FusedMatMul", "TransposeMatMul", domain="com.microsoft")
def fused_matmul(p):
    inner = p.size(2, 6)
    p.input(2, inner)
    p.input(3, inner)
    p.attr(transB=1, alpha=0.5)


@case("FusedGemm", domain="com.microsoft", by={"activation": ["Relu", "LeakyRelu"]})
def fused_gemm(p):
    inner = p.size(2, 6)
    p.input(2, inner)
    p.constant(inner, 3)
    p.constant(3)
    p.attr(activation=p.by["activation"])
    if p.by["activation"] == "LeakyRelu":
        p.attr(activation_alpha=0.25)


@case("Det")
def det(p):
    p.input(2, 3, 3)
    p.tolerance = 5e-2


@case("Inverse", domain="com.microsoft")
def inverse(p):
    import numpy as np
    p.value(np.eye(3) * 2 + 0.25)


@case("CDist", domain="com.microsoft", by={"metric": ["euclidean", "sqeuclidean"]})
def cdist(p):
    width = p.size(2, 4)
    p.input(3, width)
    p.input(2, width)
    p.attr(metric=p.by["metric"])


@case("DFT", by={"inverse": [0, 1], "onesided": [0, 1]})
def dft(p):
    inverse, onesided = p.by["inverse"], p.by["onesided"]
    if inverse and onesided:
        p.reject()
    p.input(1, p.pick(4, 8, 5), 2 if inverse else 1)
    p.attr(inverse=inverse, onesided=onesided)
    p.tolerance = 5e-2


@case("STFT")
def stft(p):
    p.input(1, 16, 1)
    p.value(4, constant=True)
    p.constant(8, low=0.5, high=1)
    p.value(8, constant=True)
    p.tolerance = 5e-2


@case("MatMulInteger16", domain="com.microsoft", bindings=lambda s: [
    {"T1": a, "T2": b, "T3": "uint32" if a == b == "uint16" else "int32"}
    for a in s.types["T1"] for b in s.types["T2"]])
def matmul_integer16(p):
    inner = p.size(2, 5)
    p.input(2, inner, high=90)
    p.input(inner, 3, high=90)
