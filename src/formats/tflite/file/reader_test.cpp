#include "formats/tflite/file/reader.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <cstring>
#include <limits>

#include "formats/tflite/file/ops.h"
#include "formats/tflite/file/writer.h"
#include "fuzz/check_tflite.h"
#include "fuzz/every_damage.h"
#include "fuzz/sample_tflites.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/tflite_builder.h"

namespace ounce::tflite {
namespace {

using test::error_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal_of(const std::string& bytes) {
  const Error error = error_of([&] { read_model_from_memory(bytes, "m.tflite"); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  return error.what();
}

// The findings of the checks in a model that was changed after it was built.
template <class Change>
std::string refusal_of_changed(Change&& change, Model model = everything_tflite()) {
  change(model);
  return error_of([&] { to_bytes(model); }).what();
}

template <class Number>
void put(std::string& bytes, std::size_t at, Number value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

TEST(TfliteReaderTest, TablesAreReadAsTheyWereWritten) {
  const Model model = read_model_from_memory(to_bytes(small_tflite()), "m.tflite");
  ASSERT_EQ(model.subgraphs.size(), 1U);
  const SubGraph& graph = model.subgraphs[0];
  EXPECT_EQ(graph.name, "main");
  ASSERT_EQ(graph.operators.size(), 5U);
  EXPECT_EQ(code_of(model, graph.operators[0]), static_cast<std::int32_t>(Builtin::kConv2D));
  EXPECT_EQ(graph.operators[0].options.table->integer("stride_w"), 1);
  EXPECT_EQ(graph.operators[0].options.table->integer("dilation_w_factor"), 1);  // the default
  EXPECT_EQ(graph.operators[4].options.table->number("beta"), 1.0F);
  EXPECT_THAT(graph.operators[2].options.table->integers("new_shape"), ElementsAre(1, 8));
  const auto& weights = graph.tensors[static_cast<std::size_t>(graph.operators[0].inputs[1])];
  EXPECT_EQ(weights.name, "w");
  EXPECT_THAT(weights.shape, ElementsAre(2, 3, 3, 1));
  EXPECT_EQ(data_of(model, weights).size(), 72U);
  EXPECT_THAT(input_names(model), ElementsAre("x"));
}

TEST(TfliteReaderTest, ValuesAreViewsIntoTheFile) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "m.tflite", to_bytes(small_tflite()));
  const Model model = read_model(folder / "m.tflite");
  for (const Buffer& buffer : model.buffers) {
    if (!buffer.data.empty()) {
      EXPECT_TRUE(model.file.contains(buffer.data.bytes()));
    }
  }
}

TEST(TfliteReaderTest, EveryTruncationAndBitFlipIsRefusedOrAModel) {
  for (const Model& model : {small_tflite(), quantized_tflite()}) {
    std::size_t taken = 0, inputs = 0;
    test::for_every_damage(to_bytes(model), [&](const std::string& damaged) {
      ++inputs;
      ASSERT_NO_THROW(taken += test::check_tflite(damaged) ? 1U : 0U) << "damage " << inputs;
    });
    EXPECT_GT(taken, inputs / 10);  // bits of weights, for example
  }
}

TEST(TfliteReaderTest, DamageOfEveryTableIsRefusedOrAModel) {
  const std::string bytes = with_archive(everything_tflite(), true);
  constexpr std::size_t kStep = 7;  // of all damages; `exhaust` of tests/fuzz tries each
  std::size_t number = 0;
  test::for_every_damage(bytes, [&](const std::string& damaged) {
    if (++number % kStep == 0) {
      ASSERT_NO_THROW(test::check_tflite(damaged)) << "damage " << number;
    }
  });
}

TEST(TfliteReaderTest, WhatIsNoFlatbufferIsRefused) {
  EXPECT_THAT(refusal_of(""), HasSubstr("the file is empty"));
  EXPECT_THAT(refusal_of("short"), HasSubstr("no identifier TFL3"));
  EXPECT_THAT(refusal_of(std::string("\xff\xff\0\0TFL3", 8)), HasSubstr("past the end of the file"));
}

// A vector of subgraphs that all are the same one.
TEST(TfliteReaderTest, SharedTablesDoNotGrowWithoutEnd) {
  constexpr std::uint32_t kCount = 40000;
  std::string bytes(64, '\0');
  std::memcpy(bytes.data() + 4, "TFL3", 4);
  put<std::uint32_t>(bytes, 0, 24);  // the model
  put<std::uint16_t>(bytes, 8, 10);  // with a list of three fields:
  put<std::uint16_t>(bytes, 10, 12);
  put<std::uint16_t>(bytes, 12, 4);  // version
  put<std::uint16_t>(bytes, 16, 8);  // subgraphs
  put<std::int32_t>(bytes, 24, 16);
  put<std::uint32_t>(bytes, 28, 3);
  put<std::uint32_t>(bytes, 32, 32);  // to the vector
  put<std::uint16_t>(bytes, 40, 6);   // a subgraph with a list of one field
  put<std::uint16_t>(bytes, 42, 8);
  put<std::uint16_t>(bytes, 44, 4);
  put<std::int32_t>(bytes, 48, 8);
  put<std::uint32_t>(bytes, 52, 12);  // tensors: the vector of subgraphs
  bytes += std::string(4 * kCount + 4, '\0');
  put<std::uint32_t>(bytes, 64, kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) put<std::uint32_t>(bytes, 68 + 4 * i, 48 - (68 + 4 * i));
  EXPECT_THAT(refusal_of(bytes), HasSubstr("past the end"));
  // References lead forward: the table behind the vector.
  bytes += std::string(bytes, 40, 16);
  const auto table = static_cast<std::uint32_t>(bytes.size() - 8);
  put<std::uint32_t>(bytes, table + 4, 4);  // its tensors
  bytes += std::string(4 * kCount + 4, '\0');
  put<std::uint32_t>(bytes, table + 8, kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    put<std::uint32_t>(bytes, 68 + 4 * i, table - (68 + 4 * i));
    put<std::uint32_t>(bytes, table + 12 + 4 * i,
                       static_cast<std::uint32_t>(bytes.size()) - (table + 12 + 4 * i));
  }
  bytes += std::string("\4\0\4\0\4\0\0\0", 8);
  for (std::uint32_t i = 0; i < kCount; ++i)
    put<std::uint32_t>(bytes, table + 12 + 4 * i,
                       static_cast<std::uint32_t>(bytes.size() - 4) - (table + 12 + 4 * i));
  EXPECT_THAT(refusal_of(bytes), HasSubstr("shared so often"));
}

TEST(TfliteReaderTest, ErrorsNameThePlace) {
  EXPECT_THAT(refusal_of_changed([](Model& model) { model.subgraphs[0].tensors[0].buffer = 99; }),
              AllOf(HasSubstr("there is no buffer 99"), HasSubstr("subgraph 0, tensor 0 'x'")));
  EXPECT_THAT(refusal_of_changed([](Model& model) { model.subgraphs[0].operators[0].inputs[0] = 99; }),
              AllOf(HasSubstr("there is no tensor 99"), HasSubstr("subgraph 0, operator 0 'IF'")));
}

TEST(TfliteCheckTest, IndicesAreInRange) {
  const auto refused = [](auto change, const char* what) {
    EXPECT_THAT(refusal_of_changed(change), HasSubstr(what));
  };
  refused([](Model& m) { m.subgraphs[0].inputs[0] = -1; }, "there is no tensor -1 for an input");
  refused([](Model& m) { m.subgraphs[0].outputs[0] = 77; }, "there is no tensor 77 for an output");
  refused([](Model& m) { m.subgraphs[0].operators[1].opcode_index = 77; }, "there is no operator code 77");
  refused([](Model& m) { m.subgraphs[0].operators[1].outputs[0] = -2; }, "there is no tensor -2");
  refused([](Model& m) { m.subgraphs[0].operators[2].intermediates[0] = 1000; }, "there is no tensor 1000");
  refused([](Model& m) { m.signatures[0].subgraph = 9; }, "there is no subgraph 9");
  refused([](Model& m) { m.signatures[0].inputs[0].tensor = 77; }, "there is no tensor 77 for 'x'");
  refused([](Model& m) { m.metadata[0].buffer = 77; }, "there is no buffer 77");
  refused([](Model& m) { m.external_buffers[0].group = 3; }, "there is no group 3");
  refused([](Model& m) { m.external_buffers[0].id = 8; }, "there is no external buffer 7");
  refused(
      [](Model& m) {
        m.subgraphs[0].operators[0].options.table->set("then_subgraph_index", std::int64_t{9});
      },
      "there is no subgraph 9");
  refused([](Model& m) { m.operator_codes[0].code = -1; }, "operator code 0 is negative");
  refused([](Model& m) { m.version = 2; }, "schema version 2");
  refused([](Model& m) { m.subgraphs.clear(); }, "no subgraph");
}

Tensor& tensor_named(Model& model, Bytes name) {
  for (Tensor& tensor : model.subgraphs[0].tensors) {
    if (tensor.name == name) return tensor;
  }
  throw Error(ErrorCode::kInternal, "there is no such tensor", std::string(name));
}

TEST(TfliteCheckTest, ValuesHaveTheSizeOfTheirTensor) {
  const auto refused = [](auto change, const char* what) {
    EXPECT_THAT(refusal_of_changed(change), HasSubstr(what));
  };
  refused([](Model& m) { tensor_named(m, "scales").shape = {2, 3}; }, "needs 24 bytes and has 16");
  refused([](Model& m) { tensor_named(m, "four_bits").shape = {3, 4}; }, "needs 6 bytes and has 5");
  refused([](Model& m) { tensor_named(m, "scales").shape = {-1, 2}; }, "a constant with a dynamic dimension");
  refused([](Model& m) { tensor_named(m, "scales").shape = {-2, 2}; }, "a dimension is negative");
  refused(
      [](Model& m) {
        tensor_named(m, "u").shape = {2000000000, 2000000000, 2000000000};
      },
      "its size has no end");
  refused([](Model& m) { tensor_named(m, "scales").is_variable = true; }, "a variable and a constant");
  refused([](Model& m) { tensor_named(m, "words").shape = {3}; }, "strings are not inside");
  refused([](Model& m) { tensor_named(m, "scales").type = TensorType{23}; }, "element type 23 is unknown");
  refused([](Model& m) { tensor_named(m, "x").shape_signature = {-1}; }, "2 dimensions and a signature of 1");
  refused([](Model& m) { tensor_named(m, "scales").external_buffer = 7; }, "values in the file and outside");
}

TEST(TfliteCheckTest, ScalesFitTheirTensor) {
  const auto refused = [](auto change, const char* what) {
    EXPECT_THAT(refusal_of_changed(change, quantized_tflite()), HasSubstr(what));
  };
  refused([](Model& m) { tensor_named(m, "w").quantization->scale.push_back(1); },
          "3 scales and 2 zero points");
  refused([](Model& m) { tensor_named(m, "d").quantization->dimension = 1; }, "2 scales for 1 channels");
  refused([](Model& m) { tensor_named(m, "w").quantization->dimension = 4; }, "along axis 4 of 4");
  refused([](Model& m) { tensor_named(m, "w").quantization->dimension = -1; }, "along axis -1");
  refused(
      [](Model& m) { tensor_named(m, "w").quantization->scale[0] = std::numeric_limits<float>::quiet_NaN(); },
      "not finite");
  EXPECT_THAT(refusal_of_changed([](Model& m) {
                tensor_named(m, "four_bits").quantization->details.table->set("scales", std::int64_t{999});
              }),
              HasSubstr("no tensor 999 of scales"));
}

TEST(TfliteCheckTest, SparseValuesFitTheirDimensions) {
  const auto refused = [](auto change, const char* what) {
    EXPECT_THAT(refusal_of_changed([&](Model& m) { change(m, tensor_named(m, "sparse")); }), HasSubstr(what));
  };
  refused([](Model&, Tensor& t) { t.shape = {4, 5}; }, "blocks do not fit");
  refused([](Model&, Tensor& t) { t.shape = {5, 4}; }, "wrong size");
  refused([](Model&, Tensor& t) { t.sparsity->set("block_map", Bytes("\5\0\0\0", 4)); }, "blocks do not fit");
  refused(
      [](Model&, Tensor& t) { t.sparsity->set("traversal_order", Bytes("\0\0\0\0\1\0\0\0\1\0\0\0", 12)); },
      "not those of the tensor");
  refused([](Model& m, Tensor& t) { m.buffers[t.buffer].data = Data(std::string(28, '\0')); },
          "8 stored values in 28 bytes");
}

TEST(TfliteCheckTest, OperatorsRunInOrder) {
  const auto refused = [](auto change, const char* what) {
    EXPECT_THAT(refusal_of_changed(change, small_tflite()), HasSubstr(what));
  };
  refused([](Model& m) { std::swap(m.subgraphs[0].operators[0], m.subgraphs[0].operators[1]); },
          "reads tensor 1 'c' before it has a value");
  refused([](Model& m) { m.subgraphs[0].operators.push_back(m.subgraphs[0].operators[0]); },
          "'c' is made twice");
  refused([](Model& m) { m.subgraphs[0].operators.pop_back(); }, "is an output and has no value");
  refused([](Model& m) { m.subgraphs[0].inputs = {0, 0}; }, "is an input twice");
}

TEST(TfliteCheckTest, SubgraphsDoNotCallThemselves) {
  EXPECT_THAT(refusal_of_changed([](Model& model) {
                model.subgraphs[0].operators[0].options.table->set("then_subgraph_index", std::int64_t{0});
              }),
              AllOf(HasSubstr("calls itself"), HasSubstr("subgraph 0")));
  TfliteBuilder chain;
  constexpr int kDepth = 70;
  for (int i = 0; i < kDepth; ++i) {
    const auto x = chain.tensor("x", {1}), y = chain.tensor("y", {1});
    chain.op(Builtin::kCallOnce, {x}, {y}, i + 1 < kDepth ? "CallOnceOptions" : "");
    if (i + 1 < kDepth) chain.options().set("init_subgraph_index", std::int64_t{i + 1});
    chain.inputs({x}).outputs({y});
    if (i + 1 < kDepth) chain.subgraph("next");
  }
  EXPECT_THAT(error_of([&] { chain.bytes(); }).what(), HasSubstr("more than 64 deep"));
}

TEST(TfliteReaderTest, OldFilesNameTheirOperatorsInTheOldField) {
  Model model = small_tflite();
  std::string bytes = to_bytes(model);
  const Model again = read_model_from_memory(bytes, "m.tflite");
  EXPECT_EQ(again.operator_codes[0].code, 3);
  // CUSTOM is 32; codes above 127 are in the new field alone.
  model.operator_codes[4].code = static_cast<std::int32_t>(Builtin::kGelu);
  EXPECT_EQ(read_model_from_memory(to_bytes(model), "m.tflite").operator_codes[4].code, 150);
}

TEST(TfliteReaderTest, FieldsOfANewerSchemaAreCarriedIfTheyAreNumbers) {
  Model model = small_tflite();
  model.subgraphs[0].carried = {{40, Bytes("\3\0\0\0", 4)}};
  const Model again = read_model_from_memory(to_bytes(model), "m.tflite");
  EXPECT_EQ(again.subgraphs[0].carried, model.subgraphs[0].carried);
  EXPECT_TRUE(again.unwritable.empty());
}

TEST(TfliteReaderTest, WhatANewerSchemaMayReferToIsReadAndNotWritten) {
  Model model = small_tflite();
  model.subgraphs[0].carried = {{40, Bytes("\x10\0\0\0", 4)}};  // may be a number, or lead 16 bytes on
  const Model again = read_model_from_memory(to_bytes(model), "m.tflite");
  EXPECT_THAT(again.unwritable, HasSubstr("field 40 is of a newer schema (SubGraph"));
  const Error error = error_of([&] { to_bytes(again); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("cannot be written again"));
}

TEST(TfliteReaderTest, OptionsOfANewerSchemaAreReadAndNotWritten) {
  Model model = small_tflite();
  model.subgraphs[0].operators[0].options.type = 200;
  const Model again = read_model_from_memory(to_bytes(model), "m.tflite");
  EXPECT_THAT(again.unwritable, HasSubstr("a table of type 200 in field 4 is of a newer schema (Operator"));
}

TEST(TfliteReaderTest, UnknownBytesBehindTheModelAreNotDropped) {
  const std::string bytes = to_bytes(small_tflite());
  EXPECT_TRUE(read_model_from_memory(bytes + std::string(100, '\0'), "m").unwritable.empty());
  EXPECT_THAT(read_model_from_memory(bytes + "something", "m").unwritable,
              HasSubstr("bytes of unknown content"));
}

TEST(TfliteOpsTest, EveryOperatorHasARow) {
  for (const OpInfo& row : op_rows()) {
    EXPECT_EQ(&info(static_cast<std::int32_t>(row.code)), &row);
    EXPECT_STRNE(row.name, "");
    EXPECT_EQ(row.int8 == IntegerRule::kFixedRange, row.fixed.int8_scale != 0) << row.name;
    EXPECT_LE(row.int8 == IntegerRule::kWeights, row.has_weight() && row.bias != OpInfo::kNoInput)
        << row.name;
    if (row.in_xnnpack) {
      EXPECT_NE(row.int8, IntegerRule::kNone) << row.name;
    }
    if (row.has_int16) {
      EXPECT_NE(row.int8, IntegerRule::kNone) << row.name;
    }
    if (row.int8 == IntegerRule::kFixedRange) {
      EXPECT_EQ(row.has_int16, row.fixed.int16_scale != 0) << row.name;
    }
    EXPECT_TRUE(!row.has_weight() || row.weight != row.data) << row.name;
  }
  OperatorCode code;
  code.code = 3;
  EXPECT_EQ(op_name(code), "CONV_2D");
  code.code = 32;
  code.custom_code = "Mine";
  EXPECT_EQ(op_name(code), "Mine");
  code.code = 999;
  EXPECT_EQ(op_name(code), "operator 999");
}

TEST(TfliteTablesTest, OptionsAreFoundByName) {
  Record conv(*builtin_options(builtin_options_type("Conv2DOptions")));
  EXPECT_STREQ(conv.info().name, "Conv2DOptions");
  conv.set("stride_w", std::int64_t{2});
  conv.set("dilation_w_factor", std::int64_t{1});  // the default
  EXPECT_EQ(conv.fields().size(), 1U);
  conv.set("stride_w", std::int64_t{0});
  EXPECT_TRUE(conv.fields().empty());
  EXPECT_EQ(error_of([&] { conv.integer("no_such_field"); }).code(), ErrorCode::kInternal);
  EXPECT_EQ(builtin_options(0), nullptr);
  EXPECT_EQ(builtin_options(255), nullptr);
}

}  // namespace
}  // namespace ounce::tflite
