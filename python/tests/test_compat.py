"""Scripts of ONNX Runtime's quantization tools, with another import."""

import numpy
import onnx
import onnx.helper
import onnx.numpy_helper
import ounce
import pytest
from example import MODEL, clips
from ounce.compat import (
    CalibrationDataReader,
    CalibrationMethod,
    MatMulNBitsQuantizer,
    QuantFormat,
    QuantType,
    convert_float_to_float16,
    quant_pre_process,
    quantize_dynamic,
    quantize_static,
)


class Reader(CalibrationDataReader):
    def __init__(self, sound):
        self.left = iter([{"audio": one[None]} for one in sound])

    def get_next(self):
        return next(self.left, None)


@pytest.fixture
def perceptron():
    """Two products with 64 × 64 weights, named nodes."""
    random = numpy.random.default_rng(1)
    weights = [onnx.numpy_helper.from_array(random.normal(size=(64, 64)).astype("float32"), name) for name in "ab"]
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "a"], ["h"], name="first"),
        onnx.helper.make_node("MatMul", ["h", "b"], ["y"], name="second"),
    ]
    values = [onnx.helper.make_tensor_value_info(name, 1, ["N", 64]) for name in "xy"]
    graph = onnx.helper.make_graph(nodes, "g", values[:1], values[1:], weights)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)


def ops(model):
    return [node.op_type for node in (onnx.load(model) if isinstance(model, str) else model).graph.node]


def test_dynamic(perceptron, tmp_path):
    output = str(tmp_path / "out.onnx")
    result = quantize_dynamic(perceptron, output, weight_type=QuantType.QInt8, nodes_to_exclude=["second"])
    arithmetic = {node.name: node.arithmetic for node in result.nodes}
    assert arithmetic == {"first": "dynamic", "second": "float"}
    assert ops(output).count("MatMulInteger") == 1


def test_static_as_in_the_examples(tmp_path):
    sound, _ = clips(8)
    prepared, output = str(tmp_path / "prepared.onnx"), str(tmp_path / "out.onnx")
    quant_pre_process(MODEL, prepared, skip_symbolic_shape=True)
    quantize_static(
        prepared,
        output,
        Reader(sound),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=CalibrationMethod.MinMax,
        op_types_to_quantize=["Conv"],
        extra_options={"ActivationSymmetric": False, "EnableSubgraph": True},
    )
    assert ops(output).count("QuantizeLinear") > 10
    assert ounce.verify(MODEL, output, data=sound, min_sqnr=15, edge_cases=False).passed


def test_float16(perceptron):
    made = convert_float_to_float16(perceptron, keep_io_types=True, node_block_list=["second"])
    types = {value.name: value.data_type for value in made.graph.initializer}
    assert sorted(types.values()) == [onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16]
    assert made.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    halves = convert_float_to_float16(perceptron)
    assert halves.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT16


def test_what_the_model_does_not_have_is_a_warning(perceptron, tmp_path):
    output = str(tmp_path / "out.onnx")
    with pytest.warns(UserWarning, match=r"called 'Conv', 'third\.a/b'$"):
        result = quantize_dynamic(
            perceptron, output, op_types_to_quantize=["Conv", "MatMul"], nodes_to_exclude=["second", "third.a/b"]
        )
    arithmetic = {node.name: node.arithmetic for node in result.nodes}
    assert arithmetic == {"first": "dynamic", "second": "float"}
    data = {"x": numpy.random.default_rng(2).normal(size=(32, 64)).astype("float32")}
    with pytest.warns(UserWarning, match="called 'Conv'$"):
        quantize_static(perceptron, output, data, op_types_to_quantize=["Conv", "MatMul"])
    with pytest.warns(UserWarning, match="called 'Loop', 'zeroth'$"):
        convert_float_to_float16(perceptron, op_block_list=["Loop"], node_block_list=["second", "zeroth"])
    quantizer = MatMulNBitsQuantizer(perceptron, block_size=32, nodes_to_exclude=["third"])
    with pytest.warns(UserWarning, match="called 'third'$"):
        quantizer.process()
    with pytest.raises(ounce.RequestError, match="matches no"):
        ounce.quantize(perceptron, output=output, to="int8-dynamic", exclude=["third"])


def test_four_bits(perceptron, tmp_path):
    quantizer = MatMulNBitsQuantizer(perceptron, block_size=32, is_symmetric=True, nodes_to_exclude=["second"])
    quantizer.process()
    stored = {tensor.name: tensor.stored for tensor in quantizer.result.tensors}
    assert stored == {"a": True, "b": False}
    assert ops(quantizer.model.model) == ["MatMulNBits", "MatMul"]
    assert isinstance(quantizer.model.model, onnx.ModelProto)
    quantizer.model.save_model_to_file(str(tmp_path / "out.onnx"), use_external_data_format=True)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_configuration_of_four_bits_counts(perceptron):
    class Configuration:
        algorithm, block_size, is_symmetric, bits, accuracy_level = "DEFAULT", 16, True, 4, 4

    quantizer = MatMulNBitsQuantizer(perceptron, algo_config=Configuration())
    quantizer.process()
    assert {tensor.granularity for tensor in quantizer.result.tensors} == {"block 16"}
    level = [a.i for node in quantizer.model.model.graph.node for a in node.attribute if a.name == "accuracy_level"]
    assert level == [4, 4]


def test_four_bits_by_data(perceptron):
    class Configuration:
        algorithm, block_size = "GPTQ", 32
        calibration_data_reader = {"x": numpy.random.default_rng(2).normal(size=(32, 64)).astype("float32")}

    quantizer = MatMulNBitsQuantizer(perceptron, algo_config=Configuration())
    quantizer.process()
    assert quantizer.result.trial.samples > 4


class TheirType:
    """An enumeration of another package, by its name."""

    name = "QUInt8"


def test_what_has_no_counterpart_is_refused(perceptron, tmp_path):
    output = tmp_path / "out.onnx"
    refused = [
        lambda: quantize_dynamic(perceptron, output, weight_type=QuantType.QFLOAT8E4M3FN),
        lambda: quantize_dynamic(perceptron, output, op_types_to_quantize=["MatMul"], nodes_to_quantize=["first"]),
        lambda: quantize_dynamic(perceptron, output, extra_options={"Unheard": 1}),
        lambda: quantize_static(perceptron, output, {}, calibrate_method=CalibrationMethod.Distribution),
        lambda: quantize_static(perceptron, output, {}, calibration_providers=["CUDAExecutionProvider"]),
        lambda: quantize_static(perceptron, output, {}, extra_options={"SmoothQuant": True}),
        lambda: quantize_static(perceptron, output, {}, calibration_cache_path="cache"),
        lambda: convert_float_to_float16(perceptron, force_fp16_initializers=True),
        lambda: quant_pre_process(MODEL, output, external_data_location="weights"),
        lambda: convert_float_to_float16(perceptron, max_finite_val=1e4),
        lambda: convert_float_to_float16(perceptron, keep_io_types=["x"]),
        lambda: MatMulNBitsQuantizer(perceptron, bits=2),
        lambda: MatMulNBitsQuantizer(perceptron, accuracy_level=3),
        lambda: MatMulNBitsQuantizer(perceptron, algo_config=object()),
        lambda: MatMulNBitsQuantizer(perceptron, quant_axes=(("MatMul", 0),)),
    ]
    for call in refused:
        with pytest.raises(ounce.RequestError, match="counterpart|takes True or False"):
            call()
    assert not output.exists()


def test_enumerations_of_others_are_known_by_their_names(perceptron, tmp_path):
    result = quantize_dynamic(perceptron, tmp_path / "out.onnx", weight_type=TheirType())
    assert {tensor.encoding for tensor in result.tensors} == {"uint8"}
