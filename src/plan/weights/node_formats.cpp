#include "plan/weights/node_formats.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <string>

#include "recipe/format_info.h"

namespace ounce::plan {

NodeFormats::NodeFormats(const model::ModelFile& file, const Recipe& recipe)
    : otherwise_(recipe.storage_of_remainder()) {
  if (recipe.nodes.empty()) return;
  std::vector<NodeNames> names;
  for (const model::GraphView& graph : file.graphs()) {
    first_.push_back(names.size());
    for (const model::NodeView& node : graph.nodes) {
      const std::string name(node.name);
      names.push_back({graph.path.empty() ? name : graph.path + "/" + name, node.name});
    }
  }
  named_ = find_named_formats(recipe, names);
  if (named_.has_unknown)
    throw Error(ErrorCode::kUsage, fmt::format("`nodes` '{}': no node has this output{}", named_.unknown,
                                               did_you_mean(named_.guess)));
}

std::optional<Format> NodeFormats::of(model::NodeId node) const {
  return first_.empty() ? std::nullopt : named_.formats[first_[node.graph] + node.node];
}

std::optional<StorageOverride> NodeFormats::storage(std::span<const model::NodeId> users) const {
  if (first_.empty()) return std::nullopt;
  std::vector<Format> asked;
  bool has_others = false;
  for (const model::NodeId user : users) {
    const std::optional<Format> wanted = of(user);
    if (wanted && is_storage(*wanted)) {
      asked.push_back(*wanted);
    } else {
      has_others = true;
    }
  }
  return strongest_wish(asked, has_others, otherwise_);
}

}  // namespace ounce::plan
