#include "fuzz/sample_tflites.h"

#include <utility>

#include "support/archive_bytes.h"
#include "support/tflite_builder.h"

namespace ounce::tflite {

using enum TensorType;

namespace {

std::vector<float> some_values(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 7) * 0.25F - 0.75F;
  return values;
}

// Elements of a vector in an options table.
template <class Number>
Bytes elements(Model& model, const std::vector<Number>& values) {
  return model.intern({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)});
}

std::string strings(const std::vector<std::string>& texts) {
  std::string head = data::test::little_endian(texts.size(), 4), body;
  const std::size_t start = (texts.size() + 2) * 4;
  for (const std::string& text : texts) {
    head += data::test::little_endian(start + body.size(), 4);
    body += text;
  }
  return head + data::test::little_endian(start + body.size(), 4) + body;
}

// A 4x4 matrix with a value in each row of its right half: blocks of 1x2, the columns of blocks compressed.
Record some_sparsity(Model& model) {
  Record sparsity(kSparsityParameters);
  sparsity.set("traversal_order", elements<std::int32_t>(model, {0, 1, 2}));
  sparsity.set("block_map", elements<std::int32_t>(model, {1}));
  const FieldInfo& field = kSparsityParameters.fields[2];
  const TableInfo& dimension = *field.tables[0];
  const auto dense = [&](std::int64_t size) {
    Record record(dimension);
    record.set("dense_size", size);
    return record;
  };
  const auto indices = [&](std::vector<std::uint8_t> values) {
    Record record(*dimension.fields[3].tables[2]);
    record.set("values", elements(model, values));
    return record;
  };
  Record compressed(dimension);
  compressed.set("format", std::int64_t{1});
  compressed.put(2, std::uint64_t{3});
  compressed.put(3, std::vector<Record>{indices({0, 1, 2, 3, 4})});
  compressed.put(4, std::uint64_t{3});
  compressed.put(5, std::vector<Record>{indices({1, 1, 1, 1})});
  sparsity.put(2, std::vector<Record>{dense(4), compressed, dense(2)});
  return sparsity;
}

void add_control_flow(TfliteBuilder& model, std::int32_t flag, std::int32_t x, std::int32_t y,
                      std::int32_t z) {
  model.op(Builtin::kIf, {flag, x}, {y}, "IfOptions");
  model.options().set("then_subgraph_index", std::int64_t{1});
  model.options().set("else_subgraph_index", std::int64_t{2});
  model.op(Builtin::kWhile, {y}, {z}, "WhileOptions");
  model.options().set("cond_subgraph_index", std::int64_t{3});
  model.options().set("body_subgraph_index", std::int64_t{1});
}

void add_bodies(TfliteBuilder& model) {
  for (const char* name : {"then", "else"}) {
    model.subgraph(name);
    const auto x = model.tensor("x", {1, 4}), y = model.tensor("y", {1, 4});
    model.op(Builtin::kRelu, {x}, {y});
    model.inputs({x}).outputs({y});
  }
  model.subgraph("cond");
  const auto x = model.tensor("x", {1, 4}), flag = model.constant("no", {}, kBool, std::string(1, '\0'));
  model.inputs({x}).outputs({flag});
}

}  // namespace

Model small_tflite() {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 4, 4, 1}), c = model.tensor("c", {1, 4, 4, 2}),
             p = model.tensor("p", {1, 2, 2, 2}), f = model.tensor("f", {1, 8}),
             l = model.tensor("l", {1, 3}), y = model.tensor("y", {1, 3});
  const auto w = model.weights("w", {2, 3, 3, 1}, some_values(18)),
             b = model.weights("b", {2}, {0.5F, -0.5F}), v = model.weights("v", {3, 8}, some_values(24)),
             shape = model.integers("shape", {2}, {1, 8});
  model.op(Builtin::kConv2D, {x, w, b}, {c}, "Conv2DOptions");
  model.options().set("stride_w", std::int64_t{1});
  model.options().set("stride_h", std::int64_t{1});
  model.options().set("fused_activation_function", std::int64_t{1});
  model.op(Builtin::kMaxPool2D, {c}, {p}, "Pool2DOptions");
  for (const char* field : {"stride_w", "stride_h", "filter_width", "filter_height"})
    model.options().set(field, std::int64_t{2});
  model.op(Builtin::kReshape, {p, shape}, {f}, "ReshapeOptions");
  model.options().set("new_shape", elements<std::int32_t>(model.model, {1, 8}));
  model.op(Builtin::kFullyConnected, {f, v, -1}, {l}, "FullyConnectedOptions");
  model.op(Builtin::kSoftmax, {l}, {y}, "SoftmaxOptions");
  model.options().set("beta", 1.0F);
  model.inputs({x}).outputs({y}).signature("serving_default");
  return model.model;
}

Model quantized_tflite() {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 4, 4, 2}, kInt8);
  model.quantized({0.5F}, {-3});
  const auto h = model.tensor("h", {1, 4, 4, 2}, kInt8);
  model.quantized({0.25F}, {-128});
  const auto y = model.tensor("y", {1, 4, 4, 2}, kInt8);
  model.quantized({0.125F}, {5});
  const auto w = model.constant("w", {2, 1, 1, 2}, kInt8, "\1\2\3\4");
  model.quantized({0.5F, 0.25F}, {0, 0}, 0);
  const auto d = model.constant("d", {1, 1, 1, 2}, kInt8, "\5\6");
  model.quantized({0.5F, 0.125F}, {0, 0}, 3);
  const auto b = model.integers("b", {2}, {7, -7});
  model.quantized({0.25F, 0.125F}, {0, 0}, 0);
  model.op(Builtin::kConv2D, {x, w, b}, {h}, "Conv2DOptions", 3);
  for (const char* field : {"stride_w", "stride_h"}) model.options().set(field, std::int64_t{1});
  model.op(Builtin::kDepthwiseConv2D, {h, d, -1}, {y}, "DepthwiseConv2DOptions", 3);
  for (const char* field : {"stride_w", "stride_h", "depth_multiplier"})
    model.options().set(field, std::int64_t{1});
  model.inputs({x}).outputs({y});
  return model.model;
}

Model everything_tflite() {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 4});
  model.graph().tensors.back().shape_signature = {-1, 4};
  model.graph().tensors.back().has_rank = true;
  const auto flag = model.tensor("flag", {}, kBool), y = model.tensor("y", {1, 4}),
             z = model.tensor("z", {1, 4}), u = model.tensor("u", {1, 4}),
             dense = model.tensor("dense", {4, 4}), texts = model.tensor("t", {2}, kString),
             handle = model.tensor("handle", {1}, kResource), composed = model.tensor("composed", {1, 4}),
             state = model.tensor("state", {1, 4}), inner = model.tensor("inner", {1, 4});
  model.graph().tensors[static_cast<std::size_t>(state)].is_variable = true;
  add_control_flow(model, flag, x, y, z);
  Operator& custom = model.custom_op("Twice", {z, state}, {u}, "options of a custom operator");
  custom.mutating_variable_inputs = {0, 1};
  custom.intermediates = {inner};
  custom.debug_metadata_index = 4;
  const auto sparse = model.weights("sparse", {4, 4}, some_values(8));
  model.graph().tensors.back().sparsity = some_sparsity(model.model);
  model.op(Builtin::kDensify, {sparse}, {dense}, "DensifyOptions");
  const auto words = model.constant("words", {2}, kString, strings({"yes", "no"}));
  model.custom_op("Echo", {words}, {texts}, "");
  model.op(Builtin::kVarHandle, {}, {handle}, "VarHandleOptions");
  model.options().set("shared_name", Bytes("variable"));
  model.graph().tensors[static_cast<std::size_t>(handle)].variant_tensors.emplace_back(kVariantSubType);
  model.op(Builtin::kStablehloComposite, {z}, {composed}).options_2.type = 21;
  Record composite(*builtin_options_2(21));
  composite.set("name", Bytes("odml.something"));
  composite.set("decomposition_subgraph_index", std::int64_t{2});
  composite.set("composite_attributes", Bytes("attributes"));
  model.graph().operators.back().options_2.table = composite;
  const auto scales = model.weights("scales", {2, 2}, {1, 2, 3, 4});
  const auto four_bits = model.constant("four_bits", {3, 3}, kInt4, "\x21\x43\x65\x87\x09");
  Quantization& blocks = model.graph().tensors.back().quantization.emplace();
  blocks.details.type = static_cast<std::uint8_t>(DetailsType::kBlockwise);
  blocks.details.table.emplace(*quantization_details(2));
  blocks.details.table->set("scales", std::int64_t{scales});
  blocks.details.table->set("zero_points", std::int64_t{-1});
  blocks.details.table->set("block_size", std::int64_t{2});
  const auto outside = model.tensor("outside", {4});
  model.graph().tensors.back().external_buffer = 7;
  model.model.external_buffer_groups.emplace_back(kExternalBufferGroup).set("name", Bytes("weights.bin"));
  ExternalBuffer& external = model.model.external_buffers.emplace_back();
  external.id = 7;
  external.length = 16;
  external.packing = "raw";
  model.op(Builtin::kQuantize, {four_bits}, {model.tensor("q", {3, 3}, kInt8)});
  model.op(Builtin::kAdd, {u, outside}, {model.tensor("sum", {1, 4})}, "AddOptions");
  model.inputs({x, flag}).outputs({u, dense, texts, composed}).signature("serving_default");
  model.graph().debug_metadata_index = 3;
  add_bodies(model);
  model.metadata("min_runtime_version", std::string("2.9.0\0\0\0", 8)).metadata("ounce.note", "a note");
  model.model.metadata_buffer = {1, 2};
  // Fields that no schema has: numbers of each size.
  model.model.carried = {{20, "\7"}};
  model.model.operator_codes[0].carried = {{9, Bytes("\1\2", 2)}};
  model.model.subgraphs[0].tensors[0].carried = {{30, Bytes("\1\0\0\0", 4)}};
  model.model.subgraphs[0].operators[0].carried = {{19, Bytes("\1\0\0\0\2\0\0\0", 8)}};
  return model.model;
}

namespace {

// A convolution as converters from a format with the channels first write it: with layouts, a padding and an
// activation around it, and halves for weights.
std::int32_t add_turned_convolution(TfliteBuilder& model, std::int32_t x, const std::string& name) {
  const auto first = model.integers("first", {4}, {0, 3, 1, 2}),
             last = model.integers("last", {4}, {0, 2, 3, 1});
  const auto r = model.tensor(name + "_r", {1, 3, 1, 4}), t = model.tensor(name + "_t", {1, 1, 4, 3}),
             p = model.tensor(name + "_p", {1, 1, 6, 3}), c = model.tensor(name + "_c", {1, 1, 4, 3}),
             m = model.tensor(name + "_m", {1, 1, 4, 3}), a = model.tensor(name + "_a", {1, 1, 4, 3}),
             b = model.tensor(name + "_b", {1, 3, 1, 4}), y = model.tensor(name, {1, 3, 4}),
             w = model.tensor(name + "_w", {3, 1, 3, 3});
  const auto halves = model.constant(name + "_h", {3, 1, 3, 3}, kFloat16, std::string(54, '\x3c'));
  model.op(Builtin::kDequantize, {halves}, {w}, "", 3);
  model.op(Builtin::kExpandDims, {x, model.integers("axis", {1}, {2})}, {r}, "ExpandDimsOptions");
  model.op(Builtin::kTranspose, {r, last}, {t}, "TransposeOptions");
  model.op(Builtin::kPad, {t, model.integers("pads", {4, 2}, {0, 0, 0, 0, 1, 1, 0, 0})}, {p}, "PadOptions");
  model.op(Builtin::kConv2D, {p, w, model.weights("bias", {3}, {1, 2, 3})}, {c}, "Conv2DOptions");
  for (const char* field : {"stride_w", "stride_h", "padding"}) model.options().set(field, std::int64_t{1});
  model.op(Builtin::kMul, {c, model.weights("scale", {3}, {0.5F, 2, -1})}, {m}, "MulOptions");
  model.op(Builtin::kRelu6, {m}, {a});
  model.op(Builtin::kTranspose, {a, first}, {b}, "TransposeOptions");
  model.op(Builtin::kSqueeze, {b}, {y}, "SqueezeOptions");
  model.options().set("squeeze_dims", elements<std::int32_t>(model.model, {2}));
  return y;
}

}  // namespace

Model unprepared_tflite() {
  TfliteBuilder model;
  const auto x = model.tensor("x", {1, 3, 4});
  const auto a = add_turned_convolution(model, x, "a"), b = add_turned_convolution(model, a, "b");
  const auto sum = model.tensor("sum", {1, 3, 4}), half = model.tensor("half", {1, 3, 4}),
             product = model.tensor("product", {1, 3, 2}), biased = model.tensor("biased", {1, 3, 2}),
             sizes = model.tensor("sizes", {3}, kInt32), two = model.tensor("two", {2}, kInt32),
             flat = model.tensor("flat", {3, 2}), positive = model.tensor("positive", {3, 2}),
             image = model.tensor("image", {1, 2, 2, 1}), up = model.tensor("up", {1, 6, 6, 2}),
             cut = model.tensor("cut", {1, 4, 4, 2}), pool = model.tensor("pool", {1, 1, 1, 2}),
             y = model.tensor("y", {1, 1, 1, 2});
  model.op(Builtin::kAdd, {a, b}, {sum}, "AddOptions");
  model.op(Builtin::kDiv, {sum, model.weights("divisor", {}, {2})}, {half}, "DivOptions");
  model.op(Builtin::kBatchMatmul, {half, model.weights("matrix", {4, 2}, some_values(8))}, {product},
           "BatchMatMulOptions");
  model.op(Builtin::kAdd, {model.weights("addend", {2}, {1, -1}), product}, {biased}, "AddOptions");
  model.op(Builtin::kShape, {biased}, {sizes}, "ShapeOptions");
  model.options().set("out_type", std::int64_t{2});
  model.op(Builtin::kGather, {sizes, model.integers("indices", {2}, {1, 2})}, {two}, "GatherOptions");
  model.op(Builtin::kReshape, {biased, two}, {flat}, "ReshapeOptions");
  model.op(Builtin::kMaximum, {flat, model.weights("zero", {}, {0})}, {positive}, "MaximumMinimumOptions");
  model.op(Builtin::kTransposeConv,
           {model.integers("up_shape", {4}, {1, 6, 6, 2}),
            model.weights("kernel", {2, 4, 4, 1}, some_values(32)), image},
           {up}, "TransposeConvOptions");
  for (const auto& [field, value] : {std::pair("stride_w", 2), {"stride_h", 2}, {"padding", 1}})
    model.options().set(field, std::int64_t{value});
  model.op(Builtin::kStridedSlice,
           {up, model.integers("begin", {4}, {0, 1, 1, 0}), model.integers("end", {4}, {1, 5, 5, 2}),
            model.integers("ones", {4}, {1, 1, 1, 1})},
           {cut}, "StridedSliceOptions");
  model.op(Builtin::kAveragePool2D, {cut}, {pool}, "Pool2DOptions");
  for (const char* field : {"filter_width", "filter_height"}) model.options().set(field, std::int64_t{4});
  for (const char* field : {"stride_w", "stride_h", "padding"}) model.options().set(field, std::int64_t{1});
  model.op(Builtin::kPrelu, {pool, model.weights("slopes", {1, 1, 2}, {0.5F, 0.5F})}, {y});
  model.weights("unused", {3}, {1, 2, 3});
  model.inputs({x, image}).outputs({positive, y}).signature("serving_default");
  return model.model;
}

std::string with_archive(const Model& model, bool counts_from_the_file) {
  std::string bytes = to_bytes(model);
  data::test::ZipBytes zip;
  // Offsets count from the start of the archive unless they are told otherwise.
  const std::string first = "one\ntwo\n", second = "three";
  for (const auto& [name, text] : {std::pair("labels.txt", first), std::pair("more.txt", second)}) {
    zip.add({.name = name,
             .stored = text,
             .size = text.size(),
             .checksum = data::test::checksum_of(text),
             .offset_error = counts_from_the_file ? bytes.size() : 0});
  }
  std::string archive = zip.bytes();
  if (counts_from_the_file) {
    // The end record is the last 22 bytes; the place of the directory is 16 bytes into it.
    const std::size_t at = archive.size() - 6;
    std::uint64_t directory = 0;
    for (std::size_t i = 4; i-- > 0;)
      directory = directory << 8U | static_cast<unsigned char>(archive[at + i]);
    archive.replace(at, 4, data::test::little_endian(directory + bytes.size(), 4));
  }
  return bytes + archive;
}

}  // namespace ounce::tflite
