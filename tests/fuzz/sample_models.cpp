#include "fuzz/sample_models.h"

#include <protozero/buffer_string.hpp>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include "support/model_builder.h"

namespace ounce::test {
namespace {

constexpr std::uint32_t kUnknown = 99;

std::string text_field(std::uint32_t number, const char* text) { return field(number, std::string(text)); }
std::string unknown() { return text_field(kUnknown, "from a later schema") + fixed64_field(kUnknown + 1, 7); }
std::string entry(const char* key, const char* value) { return text_field(1, key) + text_field(2, value); }

std::string whole_tensor(const std::string& name) {
  return tensor(name, kFloat, {2}, raw_floats({1, 2})) + text_field(12, "documented") +
         field(16, entry("k", "v")) + unknown();
}

std::string sparse_tensor(const std::string& name) {
  const std::string indices = tensor("", kInt64, {2}, std::string(16, '\0'));
  return field(1, float_tensor(name, {2}, {1, 2})) + field(2, indices) + field(3, std::int64_t{8}) +
         unknown();
}

std::string tensor_type() { return field(1, field(1, std::int64_t{kFloat})); }

// One node with every kind of attribute there is.
std::string attributes_node() {
  const std::string branch =
      GraphBuilder().node("Constant", {}, {"inner"}, {}, "c").output("inner", kFloat, {1}).bytes();
  const std::string other =
      GraphBuilder().node("Constant", {}, {"second"}, {}, "d").output("second", kFloat, {1}).bytes();
  const auto type = [](std::int64_t number) { return field(20, number); };
  const Strings attributes = {
      text_field(1, "f") + fixed32_field(2, 0x3f800000) + type(1),
      int_attribute("i", -3),
      text_field(1, "s") + text_field(4, "text") + type(3),
      tensor_attribute("t", whole_tensor("t")),
      graph_attribute("g", branch),
      text_field(1, "floats") + fixed32_field(7, 1) + fixed32_field(7, 2) + type(6),
      text_field(1, "ints") + field(8, std::int64_t{1}) + field(8, std::int64_t{-1}) + type(7),
      text_field(1, "packed") + field(8, packed_varints({1, 300, -1})) + type(7),
      text_field(1, "strings") + text_field(9, "a") + text_field(9, "") + type(8),
      text_field(1, "tensors") + field(10, whole_tensor("t1")) + field(10, whole_tensor("t2")) + type(9),
      text_field(1, "graphs") + field(11, other) + field(11, GraphBuilder().bytes()) + type(10),
      text_field(1, "tp") + text_field(13, "doc") + field(14, tensor_type()) + type(13),
      text_field(1, "ref") + type(2) + text_field(21, "alpha"),
      text_field(1, "sparse") + type(11) + field(22, sparse_tensor("s1")),
      text_field(1, "sparses") + type(12) + field(23, sparse_tensor("s2")) + field(23, sparse_tensor("s3")),
      text_field(1, "later") + field(3, std::int64_t{1}) + type(2) + unknown(),
  };
  std::string bytes =
      text_field(1, "x") + text_field(1, "") + text_field(2, "y") + text_field(3, "n") + text_field(4, "Op");
  for (const std::string& attribute : attributes) bytes += field(5, attribute);
  return bytes + text_field(6, "doc") + text_field(7, "custom") + text_field(8, "overload") +
         field(9, entry("k", "v")) + unknown();
}

std::string whole_graph() {
  const std::string shape =
      field(1, field(1, std::int64_t{2})) + field(1, text_field(2, "N")) + field(1, std::string());
  const std::string type =
      field(1, field(1, std::int64_t{kFloat}) + field(2, shape)) + text_field(6, "DATA_BATCH");
  const std::string info = text_field(1, "x") + field(2, type) + text_field(3, "doc") + unknown();
  std::string bytes = field(1, attributes_node()) + text_field(2, "main");
  bytes += field(5, whole_tensor("w")) + field(5, float_tensor("empty", {0, 3}, {})) + text_field(10, "doc");
  bytes += field(11, info) + field(12, value_info("y", kFloat, {})) + field(13, value_info("w", kFloat, {2}));
  bytes +=
      field(14, text_field(1, "w")) + field(15, sparse_tensor("sp")) + field(16, entry("k", "v")) + unknown();
  return bytes;
}

std::string training_info() {
  const std::string step =
      GraphBuilder().node("Identity", {"w"}, {"w_next"}).output("w_next", kFloat, {2}).bytes();
  return field(1, GraphBuilder().initializer("start", {2}, {0, 0}).bytes()) + field(2, step) +
         field(3, entry("w", "start")) + field(4, entry("w", "w_next")) + unknown();
}

std::string function() {
  const std::string opset = text_field(1, "") + field(2, std::int64_t{17});
  return text_field(1, "Twice") + text_field(4, "a") + text_field(5, "b") + text_field(6, "alpha") +
         field(7, node("Add", {"a", "a"}, {"b"})) + text_field(8, "doc") + field(9, opset) +
         text_field(10, "custom") + field(11, int_attribute("beta", 1)) +
         field(12, value_info("b", kFloat, {2})) + text_field(13, "o") + field(14, entry("k", "v")) +
         unknown();
}

std::string typed_tensor(const char* name, std::int64_t type, std::int64_t count, const std::string& values) {
  return field(1, count) + field(2, type) + values + text_field(8, name);
}

std::string typed_fields_model() {
  ModelBuilder model;
  std::string floats, packed_floats = raw_floats({1, 2, 3});
  for (std::uint32_t i = 0; i < 3; ++i) floats += fixed32_field(4, i);
  std::string doubles;
  for (std::uint64_t i = 0; i < 2; ++i) doubles += fixed64_field(10, i);
  model.initializer(field(1, std::int64_t{3}) + field(2, std::int64_t{1}) + floats +
                    text_field(8, "unpacked"));
  model.initializer(field(1, std::int64_t{3}) + field(2, std::int64_t{1}) + field(4, packed_floats) +
                    text_field(8, "packed"));
  model.initializer(typed_tensor("half", 10, 2, field(5, packed_varints({0x3c00, 0x4000}))));
  model.initializer(typed_tensor("int4", 22, 3, field(5, packed_varints({0x21, 0x3}))));
  model.initializer(typed_tensor("int2", 26, 5, field(5, packed_varints({0x1b, 0x1}))));
  model.initializer(typed_tensor("six", 27, 2, field(5, packed_varints({0x3f, 1}))));
  model.initializer(typed_tensor("names", 8, 2, text_field(6, "one") + text_field(6, "")));
  model.initializer(
      typed_tensor("pieces", 7, 3, field(7, packed_varints({1, -1})) + field(7, std::int64_t{5})));
  model.initializer(field(1, std::int64_t{1}) + field(2, std::int64_t{15}) + text_field(8, "complex") +
                    doubles);
  model.initializer(field(1, packed_varints({1, 2})) + field(2, std::int64_t{12}) + text_field(8, "u32") +
                    field(11, packed_varints({7, 8})));
  return model.bytes();
}

std::string if_model() {
  const auto branch = [](const std::string& name) {
    return GraphBuilder()
        .initializer("w", {2}, {1, 2})
        .node("Add", {"x", "w"}, {name})
        .output(name, kFloat, {2})
        .bytes();
  };
  ModelBuilder model;
  model.input("x", kFloat, {2}).input("c", 9, {}).output("y", kFloat, {2});
  model.node("If", {"c"}, {"y"},
             {graph_attribute("then_branch", branch("a")), graph_attribute("else_branch", branch("b"))},
             "if");
  return model.bytes();
}

}  // namespace

std::string fixed32_field(std::uint32_t number, std::uint32_t value) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_fixed32(number, value);
  return bytes;
}

std::string fixed64_field(std::uint32_t number, std::uint64_t value) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_fixed64(number, value);
  return bytes;
}

std::string packed_varints(const std::vector<std::int64_t>& values) {
  std::string bytes;
  for (const std::int64_t value : values)
    protozero::add_varint_to_buffer(&bytes, static_cast<std::uint64_t>(value));
  return bytes;
}

std::string everything_model() {
  const std::string opset = text_field(1, "") + field(2, std::int64_t{17});
  const std::string later_opset = text_field(1, "custom") + field(2, std::int64_t{1}) + unknown();
  return field(1, std::int64_t{8}) + text_field(2, "producer") + text_field(3, "1.0") +
         text_field(4, "domain") + field(5, std::int64_t{3}) + text_field(6, "doc") +
         field(7, whole_graph()) + field(8, opset) + field(8, later_opset) + field(14, entry("k", "v")) +
         field(14, entry("later", "v") + unknown()) + field(20, training_info()) + field(25, function()) +
         unknown();
}

std::string nested_model(int depth) {
  std::string graph = GraphBuilder().bytes();
  for (int i = 0; i < depth; ++i)
    graph = GraphBuilder().node("If", {}, {}, {graph_attribute("then_branch", graph)}).bytes();
  return field(1, std::int64_t{8}) + field(7, graph);
}

std::string nested_type_model(int depth) {
  std::string type = tensor_type();
  for (int i = 0; i < depth; ++i) type = field(4, field(1, type));
  return field(1, std::int64_t{8}) + field(7, field(11, text_field(1, "x") + field(2, type)));
}

std::vector<Sample> sample_models() {
  ModelBuilder matmul;
  matmul.input("x", kFloat, {1, 2}).output("y", kFloat, {1, 2}).initializer("w", {2, 2}, {1, 2, 3, 4});
  matmul.node("MatMul", {"x", "w"}, {"y"});
  return {{"everything", everything_model()},
          {"matmul", matmul.bytes()},
          {"typed_fields", typed_fields_model()},
          {"if", if_model()},
          {"nested", nested_model(3)},
          {"nested_type", nested_type_model(3)}};
}

}  // namespace ounce::test
