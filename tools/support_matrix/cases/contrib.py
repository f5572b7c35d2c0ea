"""The other operators of com.microsoft."""
from probe import case as any_case


def case(*names, **options):
    return any_case(*names, domain="com.microsoft", **options)


@case("Gelu", "QuickGelu", "FastGelu")
def unary(p):
    p.input(2, p.size(2, 9))


@case("BiasGelu")
def bias_gelu(p):
    width = p.size(2, 9)
    p.input(2, width)
    p.constant(width)


@case("NGramRepeatBlock")
def ngram_repeat_block(p):
    p.value([[1, 2, 1, 2]])
    p.input(1, 6)
    p.attr(ngram_size=2)


@case("BifurcationDetector")
def bifurcation(p):
    p.value([1, 2, 3, 4])
    p.value([1, 2])
    p.value([0])


@case("DynamicTimeWarping")
def time_warping(p):
    p.input(3, p.size(3, 5))


@case("GatedAdd")
def gated_add(p):
    p.input(2, 4)
    p.input(2, 4)
    p.input(2, 1)


@case("GatedRMSNorm")
def gated_rms_norm(p):
    p.input(2, 4)
    p.constant(4)
    p.input(2, 4)


@case("ScaledSiLU")
def scaled_silu(p):
    p.input(2, p.size(2, 5))


@case("MoE")
def mixture(p):
    p.input(2, 4)
    p.input(2, 2)
    p.constant(2, 8, 4)
    p.skip()
    p.constant(2, 4, 8)
    p.attr(k=1, activation_type="relu")
