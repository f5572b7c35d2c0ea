#include "formats/onnx/file/reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <random>

#include "fuzz/check_model.h"
#include "fuzz/sample_models.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/read_model.h"
#include "support/temporary_folder.h"

namespace ounce::onnx {
namespace {

using ounce::test::read;
using test::error_of;
using test::field;
using test::fixed32_field;
using test::fixed64_field;
using test::graph_attribute;
using test::GraphBuilder;
using test::int_attribute;
using test::kFloat;
using test::ModelBuilder;
using test::packed_varints;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Error refusal(const std::string& bytes) {
  Error error = error_of([&] { read(bytes); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput) << error.what();
  return error;
}

// --- Places for a message. Each function makes a model whose last bytes are `content`, inside that message.

struct Level {
  const char* name;
  std::function<std::string(const std::string& content)> model;
};

std::string in_model(const std::string& content) { return field(1, std::int64_t{8}) + content; }
std::string in_graph(const std::string& content) { return in_model(field(7, content)); }
std::string in_node(const std::string& content) { return in_graph(field(1, content)); }
std::string in_attribute(const std::string& content) { return in_node(field(5, content)); }
std::string in_tensor(const std::string& content) { return in_graph(field(5, content)); }
std::string in_sparse(const std::string& content) { return in_graph(field(15, content)); }
std::string in_value_info(const std::string& content) { return in_graph(field(11, content)); }
std::string in_type(const std::string& content) { return in_value_info(field(2, content)); }
std::string in_tensor_type(const std::string& content) { return in_type(field(1, content)); }
std::string in_shape(const std::string& content) { return in_tensor_type(field(2, content)); }
std::string in_dimension(const std::string& content) { return in_shape(field(1, content)); }
std::string in_sequence(const std::string& content) { return in_type(field(4, content)); }
std::string in_opset(const std::string& content) { return in_model(field(8, content)); }
std::string in_metadata(const std::string& content) { return in_model(field(14, content)); }
std::string in_training(const std::string& content) { return in_model(field(20, content)); }
std::string in_function(const std::string& content) { return in_model(field(25, content)); }
std::string in_subgraph(const std::string& content) { return in_attribute(field(6, content)); }
std::string in_external_entry(const std::string& content) {
  return in_tensor(field(2, std::int64_t{kFloat}) + field(14, std::int64_t{1}) + field(13, content));
}

const std::vector<Level> kLevels = {
    {"ModelProto", in_model},
    {"GraphProto", in_graph},
    {"NodeProto", in_node},
    {"AttributeProto", in_attribute},
    {"TensorProto", in_tensor},
    {"SparseTensorProto", in_sparse},
    {"ValueInfoProto", in_value_info},
    {"TypeProto", in_type},
    {"TypeProto.Tensor", in_tensor_type},
    {"TensorShapeProto", in_shape},
    {"Dimension", in_dimension},
    {"TypeProto", in_sequence},
    {"OperatorSetIdProto", in_opset},
    {"StringStringEntryProto", in_metadata},
    {"TrainingInfoProto", in_training},
    {"FunctionProto", in_function},
    {"GraphProto", in_subgraph},
    {"StringStringEntryProto", in_external_entry},
};

// --- Broken wire format, in every place for a message.

std::string tag(std::uint64_t number, unsigned wire_type) {
  return packed_varints({static_cast<std::int64_t>(number << 3U | wire_type)});
}

void expect_refused_everywhere(const std::string& broken, const std::string& why) {
  for (const Level& level : kLevels) {
    const std::string bytes = level.model(broken);
    const Error error = refusal(bytes);
    EXPECT_THAT(error.what(), HasSubstr(why)) << level.name;
    EXPECT_THAT(error.what(), EndsWith(fmt::format("({})", level.name)));
    EXPECT_EQ(error.where(), fmt::format("test, byte {}", bytes.size() - broken.size())) << level.name;
  }
}

TEST(ReaderTest, RefusesALengthPastTheEndOfTheMessage) {
  const std::string why = "a field reaches past the end of its message";
  expect_refused_everywhere(tag(1, 2) + packed_varints({1}), why);
  expect_refused_everywhere(tag(99, 2) + packed_varints({4}) + "abc", why);
  expect_refused_everywhere(tag(99, 2) + packed_varints({0x7fffffff}) + "abc", why);
  expect_refused_everywhere(tag(99, 2) + packed_varints({0xffffffff}) + "abc", why);
}

// Lengths have 64 bits in the file. Code that uses only the lower 32 bits would accept this field.
TEST(ReaderTest, RefusesALengthWhoseLow32BitsWouldFit) {
  const std::string why = "a field reaches past the end of its message";
  expect_refused_everywhere(tag(99, 2) + packed_varints({(std::int64_t{1} << 32) + 3}) + "abc", why);
  expect_refused_everywhere(tag(99, 2) + packed_varints({-(std::int64_t{1} << 32) + 3}) + "abc", why);
}

TEST(ReaderTest, RefusesAFieldNumberOfMoreThan32Bits) {
  expect_refused_everywhere(packed_varints({(std::int64_t{1} << 32) + (99 << 3)}) + "\x01",
                            "field number 0 or out of range");
}

TEST(ReaderTest, RefusesFieldNumberZero) {
  expect_refused_everywhere(tag(0, 0) + "\x01", "field number 0 or out of range");
  expect_refused_everywhere(tag(0, 2) + std::string(1, '\0'), "field number 0 or out of range");
}

TEST(ReaderTest, RefusesNumbersLongerThanTenBytes) {
  const std::string eleven = std::string(10, '\x80') + '\x01';
  expect_refused_everywhere(tag(99, 0) + eleven, "a number is longer than 10 bytes");
  expect_refused_everywhere(eleven, "a number is longer than 10 bytes");
  expect_refused_everywhere(tag(99, 2) + eleven, "a number is longer than 10 bytes");
}

TEST(ReaderTest, AcceptsNumbersOfTenBytes) {
  EXPECT_EQ(read(field(1, std::int64_t{-1}) + field(7, std::string())).proto->ir_version, -1);
}

TEST(ReaderTest, RefusesNumbersThatEndWithTheMessage) {
  const std::string why = "a field reaches past the end of its message";
  expect_refused_everywhere(tag(99, 0) + "\x80", why);
  expect_refused_everywhere("\x80", why);
  expect_refused_everywhere(tag(99, 0), why);
  expect_refused_everywhere(tag(99, 1) + "1234567", why);
  expect_refused_everywhere(tag(99, 5) + "123", why);
}

TEST(ReaderTest, RefusesGroupsAndUnknownWireTypes) {
  for (const unsigned wire_type : {3U, 4U, 6U, 7U})
    expect_refused_everywhere(tag(99, wire_type), "unknown wire type");
  expect_refused_everywhere(tag(99, 3) + tag(99, 4), "unknown wire type");
}

constexpr unsigned kVarint = 1, kFixed64 = 2, kLength = 4, kFixed32 = 8;  // a set of wire types

struct KnownFields {
  std::function<std::string(const std::string&)> model;
  unsigned allowed;
  std::vector<std::uint32_t> numbers;
};

TEST(ReaderTest, RefusesKnownFieldsOfTheWrongWireType) {
  const std::vector<KnownFields> table = {
      {in_model, kVarint, {1}},
      {in_model, kLength, {7, 8, 14, 20, 25}},
      {in_graph, kLength, {1, 2, 5, 11, 12, 13, 15}},
      {in_node, kLength, {1, 2, 3, 4, 5, 7}},
      {in_attribute, kLength, {1, 4, 5, 6, 9, 10, 11, 21, 22, 23}},
      {in_attribute, kVarint, {3, 20}},
      {in_attribute, kFixed32, {2}},
      {in_attribute, kFixed32 | kLength, {7}},
      {in_attribute, kVarint | kLength, {8}},
      {in_tensor, kLength, {6, 8, 9, 13}},
      {in_tensor, kVarint, {2, 14}},
      {in_tensor, kVarint | kLength, {1, 5, 7, 11}},
      {in_tensor, kFixed32 | kLength, {4}},
      {in_tensor, kFixed64 | kLength, {10}},
      {in_sparse, kLength, {1, 2}},
      {in_sparse, kVarint | kLength, {3}},
      {in_value_info, kLength, {1, 2}},
      {in_type, kLength, {1, 4, 5, 8, 9}},
      {in_tensor_type, kVarint, {1}},
      {in_tensor_type, kLength, {2}},
      {in_shape, kLength, {1}},
      {in_dimension, kVarint, {1}},
      {in_dimension, kLength, {2}},
      {in_sequence, kLength, {1}},
      {in_opset, kLength, {1}},
      {in_opset, kVarint, {2}},
      {in_metadata, kLength, {1, 2}},
      {in_training, kLength, {1, 2}},
      {in_function, kLength, {1, 4, 5, 6, 7, 9, 10, 11, 13}},
      {in_external_entry, kLength, {1, 2}},
  };
  for (const KnownFields& known : table) {
    for (const std::uint32_t number : known.numbers) {
      const std::vector<std::pair<unsigned, std::string>> every_type = {
          {kVarint, field(number, std::int64_t{1})},
          {kFixed64, fixed64_field(number, 1)},
          {kLength, field(number, std::string())},
          {kFixed32, fixed32_field(number, 1)},
      };
      for (const auto& [type, bytes] : every_type) {
        if ((known.allowed & type) != 0) continue;
        EXPECT_THAT(refusal(known.model(bytes)).what(),
                    HasSubstr(fmt::format("field {} has the wrong wire type", number)));
      }
    }
  }
}

TEST(ReaderTest, RefusesAttributeListsWhosePackedValuesAreBroken) {
  const std::string why = "a packed field has a broken length";
  EXPECT_THAT(refusal(in_attribute(field(8, std::string("\x80")))).what(), HasSubstr(why));
  EXPECT_THAT(refusal(in_attribute(field(7, std::string("abc")))).what(), HasSubstr(why));
  EXPECT_THAT(refusal(in_attribute(field(8, std::string(10, '\x80') + '\x01'))).what(),
              HasSubstr("longer than 10 bytes"));
  EXPECT_THAT(refusal(in_tensor(field(1, std::string("\x80")))).what(),
              HasSubstr("past the end of its message"));
}

// --- Truncation.

TEST(ReaderTest, ATruncatedSmallModelIsRefusedOrWhole) {
  for (const test::Sample& sample : test::sample_models()) {
    for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
      ASSERT_NO_THROW(test::check_model(sample.bytes.substr(0, size))) << sample.name << " cut at " << size;
    }
    ASSERT_NO_THROW(test::check_model(sample.bytes)) << sample.name;
  }
}

TEST(ReaderTest, ATruncatedRealModelIsRefusedOrWhole) {
  const std::string bytes = test::read_file(OUNCE_EXAMPLES "/commands/commands.onnx");
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size < 1000; ++size) sizes.push_back(size);
  for (std::size_t size = 1000; size < bytes.size(); size += 997) sizes.push_back(size);
  for (std::size_t size = bytes.size() - 100; size < bytes.size(); ++size) sizes.push_back(size);
  int refused = 0;
  for (const std::size_t size : sizes) {
    try {
      read(bytes.substr(0, size));
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::kBadInput) << size;
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_NO_THROW(read(bytes));
}

TEST(ReaderTest, TruncationIsReportedAtTheFieldThatIsCut) {
  const std::string head = field(1, std::int64_t{8});
  const std::string bytes = head + field(7, GraphBuilder().bytes());
  const Error error = refusal(bytes.substr(0, bytes.size() - 1));
  EXPECT_STREQ(
      error.what(),
      "test, byte 2: not a valid ONNX file: a field reaches past the end of its message (ModelProto)");
  EXPECT_EQ(head.size(), 2U);
}

// --- Nesting.

TEST(ReaderTest, AcceptsGraphsNested64DeepAndRefuses65) {
  EXPECT_NO_THROW(test::check_model(test::nested_model(64)));
  EXPECT_NO_THROW(read(test::nested_model(64)));
  EXPECT_THAT(refusal(test::nested_model(65)).what(), HasSubstr("graphs are nested more than 64 deep"));
  EXPECT_THAT(refusal(test::nested_model(5000)).what(), HasSubstr("graphs are nested more than 64 deep"));
}

TEST(ReaderTest, AcceptsTypesNested64DeepAndRefuses65) {
  EXPECT_NO_THROW(test::check_model(test::nested_type_model(64)));
  EXPECT_NO_THROW(read(test::nested_type_model(64)));
  EXPECT_THAT(refusal(test::nested_type_model(65)).what(), HasSubstr("types are nested more than 64 deep"));
  EXPECT_THAT(refusal(test::nested_type_model(5000)).what(), HasSubstr("types are nested more than 64 deep"));
}

TEST(ReaderTest, LimitsNestingInFunctionsDefaultsAndTrainingToo) {
  std::string graph;
  for (int i = 0; i < 70; ++i) graph = field(1, field(5, field(6, graph)));
  const std::string why = "graphs are nested more than 64 deep";
  EXPECT_THAT(refusal(in_training(field(1, graph))).what(), HasSubstr(why));
  EXPECT_THAT(refusal(in_training(field(2, graph))).what(), HasSubstr(why));
  EXPECT_THAT(refusal(in_function(field(7, field(5, field(6, graph))))).what(), HasSubstr(why));
  EXPECT_THAT(refusal(in_function(field(11, field(6, graph)))).what(), HasSubstr(why));
}

TEST(ReaderTest, LimitsNestingOfMapsOptionalsAndSequencesInMixture) {
  std::string type = field(1, std::string());
  for (int i = 0; i < 70; ++i)
    type = i % 3 == 0   ? field(4, field(1, type))
           : i % 3 == 1 ? field(5, field(2, type))
                        : field(9, field(1, type));
  EXPECT_THAT(refusal(in_type(type)).what(), HasSubstr("types are nested more than 64 deep"));
}

// --- Singular fields that appear twice.

TEST(ReaderTest, RefusesSingularFieldsThatAppearTwice) {
  const auto twice = [](std::uint32_t number, const std::string& payload) {
    return field(number, payload) + field(number, payload);
  };
  const std::string tensor = test::float_tensor("t", {1}, {1});
  const auto expect_refused = [](const std::string& bytes, int number) {
    EXPECT_THAT(refusal(bytes).what(), HasSubstr(fmt::format("field {} appears twice", number)));
  };
  expect_refused(in_model(twice(7, GraphBuilder().bytes())), 7);
  expect_refused(in_graph(twice(2, "g")), 2);
  for (const int number : {3, 4, 7})
    expect_refused(in_node(twice(static_cast<std::uint32_t>(number), "n")), number);
  expect_refused(in_attribute(twice(1, "a")), 1);
  expect_refused(in_attribute(twice(5, tensor)), 5);
  expect_refused(in_attribute(twice(6, GraphBuilder().bytes())), 6);
  expect_refused(in_tensor(twice(8, "t")), 8);
  expect_refused(in_tensor(twice(9, "1234")), 9);
  expect_refused(in_sparse(twice(1, tensor)), 1);
  expect_refused(in_sparse(twice(2, tensor)), 2);
  expect_refused(in_value_info(twice(1, "x")), 1);
  expect_refused(in_value_info(twice(2, std::string())), 2);
  expect_refused(in_opset(twice(1, "d")), 1);
  expect_refused(in_metadata(twice(1, "k")), 1);
  expect_refused(in_metadata(twice(2, "v")), 2);
  for (const int number : {1, 10, 13})
    expect_refused(in_function(twice(static_cast<std::uint32_t>(number), "f")), number);
  EXPECT_THAT(refusal(in_training(twice(1, std::string()))).what(), HasSubstr("a graph appears twice"));
  EXPECT_THAT(refusal(in_training(twice(2, std::string()))).what(), HasSubstr("a graph appears twice"));
}

TEST(ReaderTest, RefusesAnEmptySingularFieldThatAppearsTwice) {
  EXPECT_THAT(refusal(in_graph(field(2, std::string()) + field(2, std::string("g")))).what(),
              HasSubstr("field 2 appears twice"));
}

TEST(ReaderTest, RefusesAttributesWithOneValueAndAList) {
  const std::string tensor = test::float_tensor("t", {1}, {1});
  EXPECT_THAT(refusal(in_attribute(field(5, tensor) + field(10, tensor))).what(),
              HasSubstr("both one value and a list"));
  EXPECT_THAT(refusal(in_attribute(field(11, std::string()) + field(6, std::string()))).what(),
              HasSubstr("both one value and a list"));
}

TEST(ReaderTest, RefusesAValueOfTwoTypes) {
  EXPECT_THAT(refusal(in_type(field(1, std::string()) + field(4, std::string()))).what(),
              HasSubstr("a value has two types"));
}

// --- Names.

TEST(ReaderTest, RefusesNamesWithControlCharacters) {
  for (const std::string& name :
       {std::string("a\nb"), std::string("a\0b", 3), std::string("\x1b[31m"), std::string("a\x7f")}) {
    for (const std::string& bytes :
         {in_graph(field(2, name)), in_node(field(1, name)), in_node(field(2, name)), in_node(field(3, name)),
          in_node(field(4, name)), in_node(field(7, name)), in_attribute(field(1, name)),
          in_tensor(field(8, name)), in_value_info(field(1, name)), in_dimension(field(2, name)),
          in_opset(field(1, name)), in_function(field(1, name)), in_function(field(4, name)),
          in_function(field(5, name)), in_function(field(6, name)), in_function(field(10, name)),
          in_function(field(13, name))}) {
      const Error error = refusal(bytes);
      EXPECT_THAT(error.what(), HasSubstr("a name contains control characters"));
      EXPECT_THAT(error.where(), StartsWith("test, byte "));
    }
  }
}

TEST(ReaderTest, AcceptsNamesInAnyScriptAndEmptyOnes) {
  const Model model =
      read(in_graph(field(2, std::string("größe/权重:0")) + field(1, field(3, std::string()))));
  EXPECT_EQ(model.proto->graph->name, "größe/权重:0");
}

// --- Input that is not a model.

TEST(ReaderTest, RefusesAnEmptyFile) {
  EXPECT_STREQ(refusal("").what(), "test: the file is empty");
  const test::TemporaryFolder folder;
  test::write_file(folder / "empty.onnx", "");
  EXPECT_THAT(error_of([&] { read_model(folder / "empty.onnx"); }).what(),
              EndsWith("empty.onnx: the file is empty"));
}

TEST(ReaderTest, RefusesFilesOfOtherKinds) {
  const std::vector<std::string> others = {
      "This is a text file, and a rather long one at that; it goes on for more than a line.\n",
      "{\"format\": \"json\", \"weights\": [1, 2, 3]}",
      std::string("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xdb", 23),
      std::string("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", 16),
      std::string("PK\x03\x04\x14\x00\x00\x00\x08\x00", 10),
      std::string("\x7f"
                  "ELF\x02\x01\x01",
                  7),
      std::string("GGUF\x03\x00\x00\x00", 8),
      std::string(4096, '\0'),
      std::string(4096, '\xff'),
  };
  for (const std::string& bytes : others) EXPECT_THAT(refusal(bytes).what(), HasSubstr("not a"));
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string noise(1 + random() % 2000, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    EXPECT_NO_THROW(test::check_model(noise));
  }
}

TEST(ReaderTest, RefusesAModelWithoutAGraph) {
  EXPECT_STREQ(refusal(field(1, std::int64_t{8})).what(), "test: not an ONNX model: it has no graph");
}

TEST(ReaderTest, SaysWhichFileIsMissing) {
  const Error error = error_of([] { read_model("/no/such/model.onnx"); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_STREQ(error.what(), "/no/such/model.onnx: cannot open: No such file or directory");
}

TEST(ReaderTest, RefusesAFileThatIsLargerThanTheFormatAllows) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "large.onnx", field(7, std::string()));
  std::filesystem::resize_file(folder / "large.onnx",
                               (std::uint64_t{1} << 32) + 1);  // sparse file: uses no disk space
  const Error error = error_of([&] { read_model(folder / "large.onnx"); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("ONNX files are limited to 2 GiB; larger models need external data"));
}

TEST(ReaderTest, OpensAModelInTheCurrentFolder) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "data.bin", test::raw_floats({1, 2}));
  test::write_file(folder / "m.onnx",
                   ModelBuilder().initializer(test::external_tensor("w", {2}, "data.bin", "0", "8")).bytes());
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  EXPECT_NO_THROW(read_model("m.onnx"));
  std::filesystem::current_path(before);
}

// --- Sparse tensors and unknown parts.

TEST(ReaderTest, ReadsSparseInitializersAndSparseAttributes) {
  const Model model = read(test::everything_model());
  const Graph& graph = *model.proto->graph;
  ASSERT_EQ(graph.sparse_initializers.size(), 1U);
  EXPECT_EQ(graph.sparse_initializers[0]->values->name, "sp");
  EXPECT_EQ(graph.sparse_initializers[0]->dims, std::vector<std::int64_t>{8});
  std::size_t sparse = 0;
  for (const auto& attribute : graph.nodes[0]->attributes) sparse += attribute->sparse_tensors.size();
  EXPECT_EQ(sparse, 3U);
}

TEST(ReaderTest, RefusesBrokenSparseTensors) {
  const std::string values = test::float_tensor("v", {1}, {1});
  const std::string indices = test::tensor("", test::kInt64, {1}, std::string(8, '\0'));
  EXPECT_THAT(refusal(in_sparse(field(1, values))).what(),
              HasSubstr("a sparse tensor has no values or indices"));
  EXPECT_THAT(refusal(in_sparse(field(2, indices))).what(),
              HasSubstr("a sparse tensor has no values or indices"));
  EXPECT_THAT(refusal(in_sparse(field(1, values) + field(2, values))).what(),
              HasSubstr("tensor 'v': has sparse indices that are not int64"));
  const std::string both = field(1, values) + field(2, indices);
  EXPECT_THAT(refusal(in_sparse(both + field(3, std::int64_t{-1}))).what(),
              HasSubstr("tensor 'v': dimension -1 is negative"));
  const std::string huge = field(3, std::int64_t{1} << 40) + field(3, std::int64_t{1} << 40);
  EXPECT_THAT(refusal(in_sparse(both + huge)).what(),
              HasSubstr("tensor 'v': the product of the dimensions overflows"));
  const std::string none =
      field(1, test::float_tensor("v", {0}, {})) + field(2, test::tensor("", test::kInt64, {0}, ""));
  EXPECT_NO_THROW(read(in_sparse(none + field(3, std::int64_t{0}) + huge)));
  EXPECT_NO_THROW(read(in_sparse(none + huge.substr(0, huge.size() / 2) + field(3, std::int64_t{0}))));
  for (const std::uint32_t number : {22U, 23U}) {
    EXPECT_THAT(refusal(in_attribute(field(number, field(1, values)))).what(),
                HasSubstr("a sparse tensor has no values or indices"));
  }
}

// Code that expands the values writes to the position of an index.
TEST(ReaderTest, RefusesSparseIndicesThatLieOutside) {
  const auto sparse = [](const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& shape,
                         const std::vector<std::int64_t>& indices) {
    std::string raw(indices.size() * sizeof(std::int64_t), '\0');
    std::memcpy(raw.data(), indices.data(), raw.size());
    std::string bytes =
        field(1, test::float_tensor("v", {2}, {1, 2})) + field(2, test::tensor("", test::kInt64, shape, raw));
    for (const std::int64_t dim : dims) bytes += field(3, dim);
    return in_sparse(bytes);
  };
  EXPECT_NO_THROW(read(sparse({4, 3}, {2}, {0, 11})));
  EXPECT_NO_THROW(read(sparse({4, 3}, {2, 2}, {0, 2, 3, 0})));
  const auto expect_outside = [&](const std::string& bytes, std::int64_t index) {
    EXPECT_THAT(
        refusal(bytes).what(),
        HasSubstr(fmt::format("tensor 'v': has the sparse index {}, which lies outside of it", index)));
  };
  expect_outside(sparse({4, 3}, {2}, {0, 12}), 12);
  expect_outside(sparse({4, 3}, {2}, {-1, 3}), -1);
  expect_outside(sparse({4, 0}, {2}, {0, 1}), 0);
  expect_outside(sparse({4, 3}, {2, 2}, {0, 3, 3, 0}), 3);
  expect_outside(sparse({4, 3}, {2, 2}, {0, 2, 3, std::int64_t{1} << 62}), std::int64_t{1} << 62);
  EXPECT_THAT(refusal(sparse({4, 3}, {3}, {0, 1, 2})).what(), HasSubstr("3 sparse indices for 2 values"));
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{2, 1}, {1, 2, 1}, {}})
    EXPECT_THAT(refusal(sparse({4, 3}, shape, std::vector<std::int64_t>(shape.empty() ? 1 : 2))).what(),
                HasSubstr("sparse indices whose shape does not match"));
}

TEST(ReaderTest, UnknownElementTypesOfValuesAreRefused) {
  EXPECT_THAT(refusal(in_tensor_type(field(1, std::int64_t{29}))).what(),
              HasSubstr("unknown element type 29"));
  EXPECT_THAT(refusal(in_tensor_type(field(1, std::int64_t{-1}))).what(),
              HasSubstr("unknown element type -1"));
  EXPECT_NO_THROW(read(in_tensor_type(field(1, std::int64_t{0}))));
}

TEST(ReaderTest, FieldsOfALaterSchemaAreCarriedInEveryMessage) {
  const std::string later = field(99, std::string("later")) + field(100, std::int64_t{5});
  const std::string sparse =
      field(1, test::float_tensor("v", {0}, {})) + field(2, test::tensor("", test::kInt64, {0}, {}));
  for (const std::string& bytes :
       {in_graph({}) + later, in_graph(later), in_node(later), in_attribute(later), in_subgraph(later),
        in_value_info(later), in_type(later), in_tensor_type(later), in_shape(later), in_dimension(later),
        in_sequence(later), in_sparse(sparse + later), in_tensor(test::float_tensor("t", {0}, {}) + later),
        in_opset(later) + field(7, std::string()), in_metadata(later) + field(7, std::string()),
        in_training(later) + field(7, std::string()), in_function(later) + field(7, std::string())}) {
    EXPECT_NO_THROW(test::check_model(bytes));
    EXPECT_NO_THROW(read(bytes));
  }
}

// --- Memory.

// The growth of a child's memory while it reads.
std::uint64_t bytes_needed_for(const std::string& bytes) {
  int channel[2];
  if (::pipe(channel) != 0) return UINT64_MAX;
  const pid_t child = ::fork();
  if (child == 0) {
    rusage before{}, after{};
    ::getrusage(RUSAGE_SELF, &before);
    try {
      const Model model = read(bytes);
      ::getrusage(RUSAGE_SELF, &after);
    } catch (const Error&) {
      ::getrusage(RUSAGE_SELF, &after);
    }
    const std::uint64_t growth = static_cast<std::uint64_t>(after.ru_maxrss - before.ru_maxrss) * 1024;
    const bool is_sent = ::write(channel[1], &growth, sizeof growth) == sizeof growth;
    ::_exit(is_sent ? 0 : 1);
  }
  ::close(channel[1]);
  std::uint64_t growth = UINT64_MAX;
  EXPECT_EQ(::read(channel[0], &growth, sizeof growth), static_cast<ssize_t>(sizeof growth));
  ::close(channel[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return growth;
}

TEST(ReaderTest, AFileOfManyTinyMessagesNeedsMemoryInProportionToItsSize) {
  const auto filled_with = [](const std::string& piece) {
    std::string bytes;
    while (bytes.size() < (std::size_t{512} << 10)) bytes += piece;
    return bytes;
  };
  constexpr std::uint64_t kMostPerByte = 1024;
  for (const std::string& bytes :
       {in_graph(filled_with(field(1, std::string()))), in_graph(filled_with(field(11, std::string()))),
        in_node(filled_with(field(1, std::string()))), in_node(filled_with(field(5, std::string()))),
        in_attribute(filled_with(field(11, std::string()))),
        in_model(filled_with(field(25, std::string()))) + field(7, std::string()),
        in_model(filled_with(field(20, std::string()))) + field(7, std::string()),
        in_graph(filled_with(field(99, std::string()))), in_tensor(field(1, filled_with("\x01"))),
        in_shape(filled_with(field(1, std::string())))}) {
    EXPECT_LT(bytes_needed_for(bytes), bytes.size() * kMostPerByte);
  }
}

TEST(ReaderTest, DimensionsThatPromiseTerabytesNeedNoMemory) {
  const std::int64_t huge = std::int64_t{1} << 40;
  for (const std::string& bytes :
       {in_tensor(test::tensor("w", kFloat, {huge}, "1234")),
        in_tensor(field(1, huge) + field(2, std::int64_t{7}) + field(7, std::string("\x01"))),
        in_tensor(field(1, huge) + field(2, std::int64_t{10}) + field(5, std::int64_t{1}))}) {
    EXPECT_THAT(refusal(bytes).what(), HasSubstr("where its shape"));
    EXPECT_LT(bytes_needed_for(bytes), std::uint64_t{32} << 20);
  }
}

}  // namespace
}  // namespace ounce::onnx
