#include "formats/onnx/file/serializer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <protozero/pbf_reader.hpp>
#include <algorithm>

#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/tensor_reader.h"
#include "fuzz/sample_models.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/read_model.h"
#include "support/temporary_folder.h"

namespace ounce::onnx {
namespace {

using ounce::test::read;
using test::Dims;
using test::field;
using test::GraphBuilder;
using test::ModelBuilder;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const Rope& rope) {
  std::string text;
  for (const Rope::Piece& piece : rope.pieces()) {
    if (const auto* copied = std::get_if<std::string>(&piece)) text += *copied;
    if (const auto* bytes = std::get_if<Bytes>(&piece)) text += *bytes;
  }
  EXPECT_EQ(text.size(), rope.size());
  return text;
}

std::string kept(const Model& model) { return text_of(serialize(model, Placement::kKeep, "").model); }
std::string rewritten(const Model& model) {
  return text_of(serialize(model, Placement::kKeep, "", true).model);
}

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) * 0.25F;
  return values;
}

// --- Unmodified models.

TEST(SerializerTest, AnUneditedModelComesBackIdentical) {
  for (const test::Sample& sample : test::sample_models())
    EXPECT_EQ(kept(read(sample.bytes)), sample.bytes) << sample.name;
  const std::string real = test::read_file(OUNCE_EXAMPLES "/commands/commands.onnx");
  EXPECT_TRUE(kept(read(real)) == real);
}

std::vector<std::string> fields_of(const std::string& message) {
  std::vector<std::string> fields;
  protozero::pbf_reader reader(message);
  while (true) {
    const char* start = reader.data().data();
    if (!reader.next()) return fields;
    reader.skip();
    fields.emplace_back(start, reader.data().data());
  }
}

// The message with its fields in reverse order, also in nested messages along `nested`.
std::string reversed(const std::string& message, const std::vector<std::uint32_t>& nested) {
  std::vector<std::string> fields = fields_of(message);
  std::reverse(fields.begin(), fields.end());
  std::string result;
  for (const std::string& bytes : fields) {
    protozero::pbf_reader reader(bytes);
    reader.next();
    if (std::find(nested.begin(), nested.end(), reader.tag()) != nested.end() &&
        reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
      const std::uint32_t number = reader.tag();
      result += field(number, reversed(reader.get_string(), nested));
    } else {
      result += bytes;
    }
  }
  return result;
}

TEST(SerializerTest, FieldsInAnUnusualOrderComeBackIdentical) {
  // Model → graph (7) → nodes (1): the only path on which these numbers are messages.
  const std::string bytes = reversed(test::everything_model(), {7});
  EXPECT_NE(bytes, test::everything_model());
  EXPECT_EQ(kept(read(bytes)), bytes);
}

TEST(SerializerTest, UnusualOrderBecomesUsualWhenEncodedAnew) {
  const std::string usual = ModelBuilder()
                                .input("x", test::kFloat, {1})
                                .output("y", test::kFloat, {1})
                                .node("Relu", {"x"}, {"y"})
                                .bytes();
  EXPECT_EQ(rewritten(read(reversed(usual, {7}))), usual);
}

TEST(SerializerTest, EncodingAnewGivesTheSameBytesForFilesInTheUsualOrder) {
  for (const test::Sample& sample : test::sample_models())
    EXPECT_EQ(rewritten(read(sample.bytes)), sample.bytes) << sample.name;
  const std::string real = test::read_file(OUNCE_EXAMPLES "/commands/commands.onnx");
  EXPECT_TRUE(rewritten(read(real)) == real);
}

TEST(SerializerTest, OverlongNumbersComeBackIdentical) {
  const std::string bytes =
      std::string("\x88\x00\x88\x80\x00", 5) +
      std::string("\xba\x80\x00\x82\x00\x12\x00", 7);  // ir_version 8, a graph with an empty name
  EXPECT_EQ(kept(read(bytes)), bytes);
}

// --- Edits do not change anything else.

std::string branch_with(const std::string& op_type) {
  GraphBuilder graph;
  graph.initializer(field(8, std::string("w")) + field(2, std::int64_t{1}) +
                    field(4, test::raw_floats({1, 2})) + field(1, std::int64_t{2}));
  graph.node(op_type, {"x", "w"}, {"z"},
             {field(20, std::int64_t{2}) + field(3, std::int64_t{7}) + field(1, std::string("axis"))},
             "deep");
  return graph.node("Relu", {"z"}, {"out"}).output("out", 1, {2}).add(99, "later").bytes();
}

std::string model_with(const std::string& op_type) {
  ModelBuilder model;
  model.input("c", 9, {}).output("y", 1, {2}).initializer("x", {2}, {1, 2});
  model.node("If", {"c"}, {"y"},
             {test::graph_attribute("then_branch", branch_with(op_type)),
              test::graph_attribute("else_branch", branch_with("Sub"))});
  return model.add_to_model(14, field(1, std::string("k")) + field(2, std::string("v")))
      .add_to_model(99, "later")
      .bytes();
}

TEST(SerializerTest, EditingOneDeepNodeChangesNothingElse) {
  Model model = read(model_with("Add"));
  Node& outer = model.proto.edit().graph.edit().nodes[0].edit();
  outer.attributes[0].edit().graphs[0]->edit().nodes[0].edit().set_op(Op::kMul);
  // The attribute of the edited node and the tensor next to it have an unusual field order: both must be
  // copied unchanged.
  EXPECT_EQ(kept(model), model_with("Mul"));
}

TEST(SerializerTest, AMessageKeepsItsBytesUntilItIsEdited) {
  Model model = read(model_with("Add"));
  auto& nodes = model.proto.edit().graph.edit().nodes;
  EXPECT_FALSE(nodes[0].is_edited());
  EXPECT_EQ(*nodes[0]->op_type().data(), 'I');
  EXPECT_FALSE(nodes[0].is_edited());
  nodes[0].edit();
  EXPECT_TRUE(nodes[0].is_edited());
  EXPECT_FALSE(nodes[0]->attributes[0].is_edited());
}

TEST(SerializerTest, AnEmptyMessageIsNotAnEditedOne) {
  const std::string bytes = field(7, field(1, std::string()));
  const Model model = read(bytes);
  EXPECT_FALSE(model.proto->graph->nodes[0].is_edited());
  EXPECT_EQ(kept(model), bytes);
}

TEST(SerializerTest, AddedMessagesFollowThoseThatWereThere) {
  Model model = read(model_with("Add"));
  MetadataEntry entry;
  entry.key = "ounce";
  entry.value = "";
  model.proto.edit().metadata.emplace_back(entry);
  const std::string before = field(14, field(1, std::string("k")) + field(2, std::string("v")));
  std::string expected = model_with("Add");
  expected.insert(expected.find(before) + before.size(),
                  field(14, field(1, std::string("ounce")) + field(2, std::string())));
  EXPECT_EQ(kept(model), expected);
}

TEST(SerializerTest, EditedMessagesKeepTheFieldsOfALaterSchema) {
  Model model = read(test::everything_model());
  ModelProto& proto = model.proto.edit();
  for (auto& import : proto.opset_imports) import.edit();
  for (auto& entry : proto.metadata) entry.edit();
  for (auto& training : proto.training) training.edit();
  for (auto& function : proto.functions) function.edit();
  Graph& graph = proto.graph.edit();
  for (auto& info : graph.inputs) info.edit();
  for (auto& node : graph.nodes) {
    for (auto& attribute : node.edit().attributes) attribute.edit();
  }
  EXPECT_EQ(kept(model), test::everything_model());
}

TEST(SerializerTest, EditedTensorsKeepTheirDocumentationAndMetadata) {
  Model model = read(test::everything_model());
  auto& tensor = model.proto.edit().graph.edit().initializers[0];
  const std::string before(tensor.file_bytes());
  tensor.edit();
  EXPECT_EQ(kept(model), test::everything_model()) << before;
}

TEST(SerializerTest, AbsentNamesOfOptionalInputsAreWritten) {
  Model model = read(ModelBuilder().bytes());
  Node node;
  node.set_op(Op::kClip);
  node.inputs = {"x", Bytes(), "max"};
  node.outputs = {"y"};
  model.proto.edit().graph.edit().nodes.emplace_back(std::move(node));
  EXPECT_THAT(kept(model), HasSubstr(field(1, test::node("Clip", {"x", "", "max"}, {"y"}))));
}

// --- Placement of tensor bytes.

class PlacementTest : public testing::Test {
 protected:
  PlacementTest() {
    const std::string halves = [] {
      std::string values;
      for (int i = 0; i < 600; ++i) values += field(5, std::int64_t{0x3c00 + i});
      return values;
    }();
    source.initializer("large", {300}, ramp(300));
    source.initializer("small", {3}, {1, 2, 3});
    source.initializer(field(1, std::int64_t{600}) + field(2, std::int64_t{10}) + halves +
                       field(8, std::string("halves")) + field(12, std::string("kept")));
    source.initializer(field(1, std::int64_t{1}) + field(2, std::int64_t{8}) +
                       field(6, std::string(5000, 's')) + field(8, std::string("text")));
    source.initializer("huge", {1 << 19}, ramp(1 << 19));
    source.initializer("odd", {257}, ramp(257));
    const std::string constant = test::float_tensor("constant", {400}, ramp(400));
    const std::string inner = GraphBuilder().initializer("inner", {500}, ramp(500)).bytes();
    source.node("Constant", {}, {"c"}, {test::tensor_attribute("value", constant)});
    source.node("If", {}, {}, {test::graph_attribute("then_branch", inner)});
  }

  // Writes both files and reads them.
  Model write_and_read(const Model& model, Placement placement) {
    const Serialized result = serialize(model, placement, "m.data");
    test::write_file(folder / "m.onnx", text_of(result.model));
    if (result.data.size() != 0) test::write_file(folder / "m.data", text_of(result.data));
    return read_model(folder / "m.onnx");
  }

  static void expect_same_values(const Model& a, const Model& b) {
    const auto& ours = a.proto->graph->initializers;
    const auto& theirs = b.proto->graph->initializers;
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(ours[i]->name, theirs[i]->name);
      EXPECT_EQ(ours[i]->dims, theirs[i]->dims);
      EXPECT_EQ(ours[i]->type, theirs[i]->type);
      if (ours[i]->type == ElementType::kString) continue;
      EXPECT_TRUE(RawValues(*ours[i]).bytes() == RawValues(*theirs[i]).bytes()) << ours[i]->name;
    }
  }

  ModelBuilder source;
  test::TemporaryFolder folder;
};

TEST_F(PlacementTest, LargeInitializersMoveToTheDataFileWithTheirValues) {
  const Model before = read(source.bytes());
  const Model after = write_and_read(before, Placement::kExternal);
  expect_same_values(before, after);
  for (const auto& tensor : after.proto->graph->initializers) {
    EXPECT_EQ(tensor->is_external, tensor->name != "small" && tensor->name != "text") << tensor->name;
  }
  const Graph& inner = **after.proto->graph->nodes[1]->attributes[0]->graphs[0];
  EXPECT_TRUE(inner.initializers[0]->is_external);
  EXPECT_EQ(RawValues(*inner.initializers[0]).bytes(), test::raw_floats(ramp(500)));
}

// Runtimes do not support external data in attributes.
TEST_F(PlacementTest, TensorsInAttributesStayInline) {
  const Model after = write_and_read(read(source.bytes()), Placement::kExternal);
  EXPECT_FALSE(after.proto->graph->nodes[0]->attributes[0]->tensors[0]->is_external);
}

TEST_F(PlacementTest, TensorsInTheDataFileAreAligned) {
  const Model after = write_and_read(read(source.bytes()), Placement::kExternal);
  const Bytes data = after.external_files.at("m.data").bytes();
  for (const auto& tensor : after.proto->graph->initializers) {
    if (!tensor->is_external) continue;
    const auto offset = static_cast<std::uint64_t>(RawValues(*tensor).bytes().data() - data.data());
    EXPECT_EQ(offset % (tensor->byte_count() >= (1U << 20) ? 4096 : 64), 0U) << tensor->name;
  }
}

TEST_F(PlacementTest, ComesBackInlineAsItWas) {
  const Model before = read(source.bytes());
  const Model external = write_and_read(before, Placement::kExternal);
  const Serialized back = serialize(external, Placement::kInline, "");
  EXPECT_EQ(back.data.size(), 0U);
  const Model after = read(text_of(back.model));
  expect_same_values(before, after);
  for (const auto& tensor : after.proto->graph->initializers) EXPECT_FALSE(tensor->is_external);
}

TEST_F(PlacementTest, KeepsExternalDataWhereItIs) {
  const Model external = write_and_read(read(source.bytes()), Placement::kExternal);
  EXPECT_EQ(kept(external), test::read_file(folder / "m.onnx"));
  EXPECT_EQ(rewritten(external), test::read_file(folder / "m.onnx"));
}

TEST_F(PlacementTest, InlineModelsWithNothingExternalStayIdentical) {
  EXPECT_TRUE(text_of(serialize(read(source.bytes()), Placement::kInline, "").model) == source.bytes());
}

TEST_F(PlacementTest, MovedTensorsKeepTheirDocumentation) {
  const Model before = read(source.bytes());
  const Serialized result = serialize(before, Placement::kExternal, "m.data");
  EXPECT_THAT(text_of(result.model), HasSubstr(field(12, std::string("kept"))));
}

TEST_F(PlacementTest, TensorsOfFunctionsDefaultsAndTrainingMoveToo) {
  test::write_file(folder / "old.bin", test::raw_floats(ramp(300)));
  const std::string external = test::external_tensor("e", {300}, "old.bin", "0", "1200");
  const std::string constant = test::node("Constant", {}, {"c"}, {test::tensor_attribute("value", external)});
  ModelBuilder model;
  model.add_to_model(20, field(1, GraphBuilder().initializer(external).bytes()) +
                             field(2, GraphBuilder().add(1, constant).bytes()));
  model.add_to_model(
      25, field(1, std::string("f")) + field(7, constant) + field(11, test::tensor_attribute("d", external)));
  test::write_file(folder / "old.onnx", model.bytes());
  const Model before = read_model(folder / "old.onnx");
  EXPECT_THAT(text_of(serialize(before, Placement::kInline, "").model), Not(HasSubstr("old.bin")));
  EXPECT_THAT(text_of(serialize(before, Placement::kExternal, "m.data").model), Not(HasSubstr("old.bin")));
}

TEST_F(PlacementTest, ExternalSparseTensorsDoNotStayBehind) {
  test::write_file(folder / "old.bin", test::raw_floats({1, 2}));
  const std::string values = test::external_tensor("sp", {2}, "old.bin", "0", "8");
  const std::string indices = test::tensor("", test::kInt64, {2}, std::string(16, '\0'));
  const std::string sparse =
      field(1, values) + field(2, indices) + field(3, std::int64_t{8}) + field(99, std::string("later"));
  const std::string attribute =
      field(1, std::string("sparse_value")) + field(20, std::int64_t{11}) + field(22, sparse);
  test::write_file(folder / "old.onnx",
                   ModelBuilder().add(15, sparse).node("Constant", {}, {"c"}, {attribute}).bytes());
  const Model before = read_model(folder / "old.onnx");
  EXPECT_EQ(kept(before), test::read_file(folder / "old.onnx"));
  for (const Placement placement : {Placement::kInline, Placement::kExternal}) {
    const std::string after = text_of(serialize(before, placement, "m.data").model);
    EXPECT_THAT(after, Not(HasSubstr("old.bin")));
    const Model again = read(after);
    const SparseTensor& initializer = *again.proto->graph->sparse_initializers.at(0);
    EXPECT_EQ(RawValues(*initializer.values).bytes(), test::raw_floats({1, 2}));
    EXPECT_EQ(initializer.dims, Dims{8});
    EXPECT_THAT(after, HasSubstr("later"));
    EXPECT_EQ(RawValues(*again.proto->graph->nodes[0]->attributes[0]->sparse_tensors.at(0)->values).bytes(),
              test::raw_floats({1, 2}));
  }
}

}  // namespace
}  // namespace ounce::onnx
