// What changed between the opsets 7 and 21 so that a node of the older one means something else, or nothing,
// in the newer one; every other change of ONNX's ops in that range is compatible.
//
//   for (const OpsetChange& change : opset_changes())
//     if (is_op(node, change.op_type) && from < change.version && change.version <= to)
//     change.convert(upgrade);
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "passes/node_upgrade.h"

namespace ounce::passes {

inline constexpr std::int64_t kOldestOpset = 7, kNewestOpset = 21;

struct OpsetChange {
  std::string_view op_type;
  std::int64_t version;           // that brought it
  void (*convert)(NodeUpgrade&);  // from the version before
};

// Of each op in ascending order, so that the steps of a node build on one another. An op that was renamed is
// found under its old name, and its last step leads to the form of opset 13.
std::span<const OpsetChange> opset_changes();

}  // namespace ounce::passes
