// The shapes of values as far as the file tells them: declared ones, those of constants, and what is cast of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "graph/index.h"

namespace ounce::graph {

using Dims = std::vector<std::int64_t>;  // -1 where a dimension is not fixed

class Shapes {
 public:
  explicit Shapes(const Index& index);
  // Null when even the rank is not known.
  const Dims* of(std::size_t body, Bytes name) const;

 private:
  const Index& index_;
  std::unordered_map<const Value*, Dims> shapes_;
};

}  // namespace ounce::graph
