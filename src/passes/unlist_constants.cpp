#include "passes/unlist_constants.h"

#include <fmt/format.h>

#include <unordered_set>

namespace ounce::passes {
namespace {

constexpr std::int64_t kDefaultsFromIr = 4;

}  // namespace

std::vector<std::string> listed_constants(const onnx::Model& model) {
  std::vector<std::string> names;
  // What is trained is named by the training graph, and changes.
  if (model.proto->ir_version < kDefaultsFromIr || !model.proto->training.empty()) return names;
  const onnx::Graph& graph = *model.proto->graph;
  std::unordered_set<onnx::Bytes> constants;
  for (const auto& tensor : graph.initializers) constants.insert(tensor->name);
  for (const auto& input : graph.inputs) {
    if (constants.contains(input->name)) names.emplace_back(input->name);
  }
  return names;
}

void unlist_constants(onnx::Model& model) {
  const std::vector<std::string> listed = listed_constants(model);
  if (listed.empty()) return;
  const std::unordered_set<std::string> names(listed.begin(), listed.end());
  std::erase_if(model.proto.edit().graph.edit().inputs,
                [&](const auto& input) { return names.contains(std::string(input->name)); });
}

std::string sentence_of_unlisted(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const bool is_one = names.size() == 1;
  const std::string who = is_one ? fmt::format("the initializer '{}' is", names[0])
                                 : fmt::format("{} initializers ('{}' …) are", names.size(), names[0]);
  return fmt::format(
      "{} listed among the inputs, as old exporters do, and become{}; if an app feeds {}: "
      "`keep_inputs=true`",
      who, is_one ? "s a constant" : " constants", is_one ? "it" : "them");
}

}  // namespace ounce::passes
