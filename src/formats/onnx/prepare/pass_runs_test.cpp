#include "support/pass_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/validate.h"
#include "runtime/ort/session.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"
#include "support/tensor_of.h"

namespace ounce::passes::test {
namespace {

using data::Tensor;
using ounce::test::field;
using Nodes = std::vector<onnx::Kept<onnx::Node>>;

std::string text_of(const onnx::Graph& graph, const std::string& indent);

std::string settings_of(const onnx::Node& node) {
  std::vector<std::string> settings;
  for (const auto& attribute : node.attributes) {
    const auto name = attribute->name;
    if (const auto value = onnx::integer_attribute(node, name)) {
      settings.push_back(fmt::format("{}={}", name, *value));
    } else if (const auto text = onnx::string_attribute(node, name)) {
      settings.push_back(fmt::format("{}={}", name, *text));
    } else if (const auto values = onnx::integers_attribute(node, name)) {
      settings.push_back(fmt::format("{}=[{}]", name, fmt::join(*values, ",")));
    }
  }
  return settings.empty() ? "" : fmt::format("{{{}}}", fmt::join(settings, ", "));
}

std::string text_of(const Nodes& nodes, const std::string& indent) {
  std::string text;
  for (const auto& node : nodes) {
    text += fmt::format("{}{}({}){} -> {}\n", indent, node->op_type(), fmt::join(node->inputs, ", "),
                        settings_of(*node), fmt::join(node->outputs, ", "));
    for (const auto& attribute : node->attributes) {
      for (const auto& graph : attribute->graphs)
        text += fmt::format("{}  {}:\n", indent, attribute->name) + text_of(**graph, indent + "    ");
    }
  }
  return text;
}

std::string text_of(const onnx::Graph& graph, const std::string& indent) {
  std::string text;
  for (const auto& tensor : graph.initializers) {
    text += fmt::format("{}{} = {}[{}]\n", indent, tensor->name, name_of(tensor->type),
                        fmt::join(tensor->dims, ","));
  }
  return text + text_of(graph.nodes, indent);
}

std::uint32_t next(std::uint32_t& state) {
  state = state * 1664525U + 1013904223U;
  return state >> 8U;
}

Tensor random_input(const data::ValueDescription& input, std::uint32_t seed) {
  data::Dims dims;
  for (const auto& dimension : input.shape) dims.push_back(std::max<std::int64_t>(dimension.value, 1));
  const std::vector<float> floats = noise(dims, seed);
  if (input.element == ElementType::kFloat) return data::test::tensor_of<float>(dims, floats);
  Tensor tensor{
      input.element, dims, std::string(data::byte_count(input.element, dims, input.name), '\0'), {}};
  const std::size_t width = tensor.bytes.size() / std::max<std::size_t>(floats.size(), 1);
  for (std::size_t i = 0; i < floats.size(); ++i) tensor.bytes[i * width] = floats[i] > 0 ? 1 : 0;
  return tensor;
}

std::vector<Tensor> run(const std::filesystem::path& library, const std::filesystem::path& model,
                        std::uint32_t seed) {
  runtime::SessionOptions options;
  options.optimization = runtime::Optimization::kNone;  // compare the model as written
  const runtime::Session session(runtime::Library::open(library), model, options);
  std::vector<runtime::NamedTensor> inputs;
  for (const auto& input : session.inputs()) inputs.push_back({input.name, random_input(input, seed++)});
  return session.run(inputs);
}

void expect_alike(const Tensor& before, const Tensor& after, double tolerance) {
  ASSERT_EQ(before.type, after.type);
  ASSERT_EQ(before.dims, after.dims);
  if (before.type != ElementType::kFloat) {
    EXPECT_EQ(before.bytes, after.bytes);
    return;
  }
  const auto a = data::values_of<float>(before), b = data::values_of<float>(after);
  double largest = 1e-30, difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(double{a[i]}));
    difference = std::max(difference, std::abs(double{a[i]} - double{b[i]}));
  }
  EXPECT_LE(difference / largest, tolerance);
}

}  // namespace

std::string text_of(const onnx::Model& model) {
  std::string text = text_of(*model.proto->graph, "");
  for (const auto& function : model.proto->functions)
    text += fmt::format("function {}:\n", function->name) + text_of(function->nodes, "  ");
  return text;
}

void expect_same_outputs(const std::string& before, const onnx::Model& after, double tolerance) {
  const ounce::test::TemporaryFolder folder;
  ounce::test::write_file(folder / "before.onnx", before);
  ThreadPool pool(1);
  onnx::ModelOutput output(after, folder / "after.onnx", {});
  output.write(pool, nullptr);
  graph::validate(output.reopen());
  output.commit();
  const auto libraries = runtime::Library::installed();
  ASSERT_FALSE(libraries.empty());
  for (const auto& library : libraries) {
    SCOPED_TRACE(library.string());
    for (const std::uint32_t seed : {1U, 77U}) {
      const auto a = run(library, folder / "before.onnx", seed),
                 b = run(library, folder / "after.onnx", seed);
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) expect_alike(a[i], b[i], tolerance);
    }
  }
}

std::vector<float> noise(const std::vector<std::int64_t>& dims, std::uint32_t seed) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  std::vector<float> values(count);
  std::uint32_t state = seed;
  for (float& value : values) value = static_cast<float>(next(state)) / static_cast<float>(1U << 23U) - 1;
  return values;
}

std::string float_attribute(const std::string& name, float value) {
  return field(1, name) + std::string("\x15") + ounce::test::raw_floats({value}) + field(20, std::int64_t{1});
}

std::string floats_attribute(const std::string& name, const std::vector<float>& values) {
  return field(1, name) + field(7, ounce::test::raw_floats(values)) + field(20, std::int64_t{6});
}

std::string string_attribute(const std::string& name, const std::string& value) {
  return field(1, name) + field(4, value) + field(20, std::int64_t{3});
}

std::string reference_attribute(const std::string& name, const std::string& refers_to, int type) {
  return field(1, name) + field(21, refers_to) + field(20, std::int64_t{type});
}

std::string ints_tensor(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string raw(values.size() * sizeof(std::int64_t), '\0');
  if (!values.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  return ounce::test::tensor(name, ounce::test::kInt64, {static_cast<std::int64_t>(values.size())}, raw);
}

}  // namespace ounce::passes::test
