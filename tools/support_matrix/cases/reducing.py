"""Reductions and the softmax family."""
from probe import case

AXES_ARE_AN_INPUT = {"ReduceSum": 13}   # from 18 on for the others


@case("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
      "ReduceProd", "ReduceSum", "ReduceSumSquare", by={"reduced": ["some", "all"]})
def reduce(p):
    p.input(3, p.size(2, 4), 2, low=1, high=3)
    axes = p.pick([0], [1], [0, 2])
    if p.by["reduced"] == "all":
        pass    # none are named
    elif p.since < AXES_ARE_AN_INPUT.get(p.schema.name, 18):
        p.attr(axes=axes)
    else:
        p.value(axes, constant=True)
    p.attr(keepdims=p.pick(0, 1))


@case("Softmax", "LogSoftmax", "Hardmax")
def softmax(p):
    shape = (2, p.size(2, 4), 3)
    p.value(p.rng.permutation(shape[0] * shape[1] * 3).reshape(shape) / 8)
    p.attr(axis=p.pick(0, 1, 2))


@case("Einsum")
def einsum(p):
    equation, shapes = p.pick(("ij,jk->ik", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]),
                              ("ij->ji", [(2, 3)]), ("i,i->", [(4,), (4,)]))
    for shape in shapes:
        p.input(*shape)
    p.attr(equation=equation)


@case("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss", by={"reduction": ["none", "sum", "mean"]})
def loss(p):
    p.input(3, 5)
    p.input(3, low=0, high=4)
    p.attr(reduction=p.by["reduction"])
