"""ai.onnx.ml: trees, linear models, encoders."""
import numpy as np
from onnx import TypeProto, helper, numpy_helper

import element_types
from probe import case as any_case


def case(*names, **options):
    return any_case(*names, domain="ai.onnx.ml", **options)


@case("ArrayFeatureExtractor")
def extract(p):
    p.input(2, 4)
    p.value([p.size(0, 3), 1])


@case("Binarizer")
def binarize(p):
    p.input(2, 4)
    p.attr(threshold=0.5)


@case("CategoryMapper", "LabelEncoder", until=1, bindings=lambda s: [
    {"T1": "string", "T2": "int64"}, {"T1": "int64", "T2": "string"}])
def category(p):
    p.value(np.array(["s1", "s0"], dtype=object) if p.type_of("T1") == "string" else [1, 0])
    if p.schema.name == "LabelEncoder":
        p.attr(classes_strings=["s0", "s1"])
    else:
        p.attr(cats_strings=["s0", "s1"], cats_int64s=[0, 1])


SUFFIX = {"string": "strings", "int64": "int64s", "float": "floats"}
LABELS = {"string": ["s0", "s1"], "int64": [0, 1], "float": [0.0, 1.0]}


@case("LabelEncoder", since=2)
def label_encoder(p):
    source, target = p.type_of("T1"), p.type_of("T2")
    p.value(np.array(["s1", "s0"], dtype=object) if source == "string" else [1, 0])
    if source in SUFFIX and target in SUFFIX:
        p.attr(**{f"keys_{SUFFIX[source]}": LABELS[source], f"values_{SUFFIX[target]}": LABELS[target]})
        return
    for name, type_ in (("keys_tensor", source), ("values_tensor", target)):
        values = LABELS["string" if type_ == "string" else "int64"]
        dtype = object if type_ == "string" else element_types.numpy_type(type_)
        p.attr(**{name: numpy_helper.from_array(np.array(values, dtype=dtype))})
    default = np.array(["s0"], dtype=object) if target == "string" else np.zeros(
        1, element_types.numpy_type(target))
    p.attr(default_tensor=numpy_helper.from_array(default))


@case("FeatureVectorizer")
def vectorize(p):
    p.input(2, 2)
    p.input(2, 1)
    p.attr(inputdimensions=[2, 1])


@case("Imputer")
def impute(p):
    whole = p.type_of("T").startswith("int")
    p.value([[1, 0, 2]])
    if whole:
        p.attr(imputed_value_int64s=[7], replaced_value_int64=0)
    else:
        p.attr(imputed_value_floats=[7.0], replaced_value_float=0.0)


def classified(schema):
    return [{"T1": x, "T2": y} for x in schema.types["T1"] for y in schema.types["T2"]]


def class_labels(p, ints, strings):
    p.attr(**({ints: [0, 1]} if p.type_of("T2") == "int64" else {strings: ["s0", "s1"]}))


@case("LinearClassifier", bindings=classified)
def linear_classifier(p):
    p.input(2, 3)
    p.attr(coefficients=[0.5, -1.0, 0.25, 1.0, 0.5, -0.5], intercepts=[0.25, 0.5], multi_class=1)
    class_labels(p, "classlabels_ints", "classlabels_strings")


@case("LinearRegressor")
def linear_regressor(p):
    p.input(2, 3)
    p.attr(coefficients=[0.5, -1.0, 0.25], intercepts=[0.25], targets=1)


@case("Normalizer", by={"norm": ["MAX", "L1", "L2"]})
def normalize(p):
    p.input(2, 3, low=1, high=4)
    p.attr(norm=p.by["norm"])


@case("OneHotEncoder")
def one_hot(p):
    text = p.type_of("T") == "string"
    p.value(np.array(["s1", "s0"], dtype=object) if text else [1, 0])
    p.attr(**({"cats_strings": ["s0", "s1"]} if text else {"cats_int64s": [0, 1]}), zeros=1)


@case("Scaler")
def scale(p):
    p.input(2, 3)
    p.attr(offset=[0.5, 0.25, 1.0], scale=[2.0, 0.5, 1.0])
    if p.type_of("T").startswith("int"):
        p.unchecked()


@case("SVMRegressor", by={"kernel_type": ["LINEAR", "RBF", "POLY", "SIGMOID"]})
def svm_regressor(p):
    p.input(2, 2)
    p.attr(kernel_type=p.by["kernel_type"], coefficients=[0.5, -0.5], support_vectors=[1.0, 0.5, 0.25, 1.0],
           n_supports=2, rho=[0.25], kernel_params=[0.5, 0.25, 2.0])


@case("SVMClassifier", bindings=classified, by={"kernel_type": ["LINEAR", "RBF", "POLY", "SIGMOID"]})
def svm_classifier(p):
    p.input(2, 2)
    p.attr(kernel_type=p.by["kernel_type"], coefficients=[0.5, -0.5], support_vectors=[1.0, 0.5, 0.25, 1.0],
           vectors_per_class=[1, 1], rho=[0.25], kernel_params=[0.5, 0.25, 2.0])
    class_labels(p, "classlabels_ints", "classlabels_strings")
    p.unchecked()


TREE = dict(nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[0, 0, 0],
            nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids=[1, 0, 0],
            nodes_falsenodeids=[2, 0, 0])


def tree_values(p, name, values):
    """Doubles are given in a tensor."""
    if p.type_at(0) == "double" and f"{name}_as_tensor" in p.schema.attributes:
        p.attr(**{f"{name}_as_tensor": numpy_helper.from_array(np.array(values))})
    else:
        p.attr(**{name: values})


@case("TreeEnsembleRegressor", by={"aggregate_function": ["SUM", "AVERAGE", "MIN", "MAX"]})
def tree_regressor(p):
    p.input(3, 2)
    p.attr(n_targets=1, target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0],
           aggregate_function=p.by["aggregate_function"], **TREE)
    tree_values(p, "nodes_values", [0.25, 0.0, 0.0])
    tree_values(p, "target_weights", [1.0, 2.0])


@case("TreeEnsembleClassifier", bindings=classified)
def tree_classifier(p):
    p.input(3, 2)
    p.attr(class_treeids=[0, 0], class_nodeids=[1, 2], class_ids=[0, 1], **TREE)
    tree_values(p, "nodes_values", [0.25, 0.0, 0.0])
    tree_values(p, "class_weights", [1.0, 2.0])
    class_labels(p, "classlabels_int64s", "classlabels_strings")
    p.unchecked()


@case("TreeEnsemble")
def tree(p):
    dtype = element_types.numpy_type(p.type_of("T"))
    p.input(3, 2)
    p.attr(n_targets=1, tree_roots=[0], nodes_featureids=[0], nodes_truenodeids=[0], nodes_falsenodeids=[1],
           nodes_trueleafs=[1], nodes_falseleafs=[1], leaf_targetids=[0, 0],
           nodes_modes=numpy_helper.from_array(np.array([0], np.uint8)),
           nodes_splits=numpy_helper.from_array(np.array([0.25], dtype)),
           leaf_weights=numpy_helper.from_array(np.array([1.0, 2.0], dtype)))


@case("ZipMap", by={"labels": ["ints", "strings"]})
def zip_map(p):
    text = p.by["labels"] == "strings"
    p.input(p.size(1, 3), 2)
    p.attr(**({"classlabels_strings": ["s0", "s1"]} if text else {"classlabels_int64s": [0, 1]}))
    pair = TypeProto.Map(key_type=element_types.number("string" if text else "int64"),
                         value_type=helper.make_tensor_type_proto(element_types.number("float"), None))
    p.output_protos[0] = helper.make_sequence_type_proto(TypeProto(map_type=pair))
    p.unchecked()
