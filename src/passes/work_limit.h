// Keeps what a pass computes and adds in proportion to the model. A weight may have many users, each of which
// wants a version of its own; a file must not get to have a large one copied for each of a million nodes.
#pragma once

#include <cstdint>

#include "graph/index.h"

namespace ounce::passes {

class WorkLimit {
 public:
  // Several times the bytes of all constants in the model.
  explicit WorkLimit(const graph::Index& index);

  // Why something is left alone that would go beyond.
  static constexpr const char* kReason = "copies of what it shares with others would be many times the model";

  // False when there is not that much left; then nothing is taken.
  bool take(std::uint64_t bytes);

 private:
  std::uint64_t left_ = 0;
};

}  // namespace ounce::passes
