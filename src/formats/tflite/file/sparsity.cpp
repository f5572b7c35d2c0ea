#include "formats/tflite/file/sparsity.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/numbers.h"

namespace ounce::tflite {
namespace {

using Integers = std::vector<std::int64_t>;

// The numbers of one of the three vectors of indices.
Integers index_values(const Record& dimension, const char* field) {
  const Record::Value* value = dimension.find(field);
  return value == nullptr ? Integers() : std::get<std::vector<Record>>(*value).front().integers("values");
}

bool is_permutation(Integers order) {
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

// Is each segment within the indices, and each index within the dimension?
bool is_compressed(const Integers& segments, const Integers& indices, std::uint64_t positions,
                   std::int64_t size) {
  return segments.size() == positions + 1 && segments.front() == 0 &&
         segments.back() == static_cast<std::int64_t>(indices.size()) &&
         std::is_sorted(segments.begin(), segments.end()) &&
         std::all_of(indices.begin(), indices.end(), [&](std::int64_t i) { return i >= 0 && i < size; });
}

}  // namespace

std::uint64_t stored_values(const Tensor& tensor, const std::function<void(const std::string&)>& refuse) {
  const std::size_t rank = tensor.shape.size();
  const Record& sparsity = *tensor.sparsity;
  const Integers order = sparsity.integers("traversal_order"), blocks = sparsity.integers("block_map");
  const Record::Value* metadata = sparsity.find("dim_metadata");
  if (metadata == nullptr) refuse("is sparse without dimensions");
  const auto& dimensions = std::get<std::vector<Record>>(*metadata);
  if (order.size() != rank + blocks.size() || dimensions.size() != order.size() || !is_permutation(order))
    refuse("its sparse dimensions are not those of the tensor");
  // The size of each dimension, in order: of a blocked one, as many as there are blocks.
  Integers sizes(tensor.shape.begin(), tensor.shape.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] < static_cast<std::int64_t>(rank)) continue;
    const std::int64_t block = dimensions[i].integer("dense_size");
    const std::int64_t blocked = blocks[static_cast<std::size_t>(order[i]) - rank];
    if (blocked < 0 || blocked >= static_cast<std::int64_t>(rank) || block <= 0 ||
        sizes[static_cast<std::size_t>(blocked)] % block != 0)
      refuse("its sparse blocks do not fit its shape");
    sizes[static_cast<std::size_t>(blocked)] /= block;
  }
  std::uint64_t positions = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Record& dimension = dimensions[i];
    const bool is_block = order[i] >= static_cast<std::int64_t>(rank);
    const std::int64_t size =
        is_block ? dimension.integer("dense_size") : sizes[static_cast<std::size_t>(order[i])];
    if (dimension.integer("format") == 0) {
      const auto next =
          checked_multiply(positions, static_cast<std::uint64_t>(dimension.integer("dense_size")));
      if (dimension.integer("dense_size") != size || size < 0 || !next)
        refuse("a sparse dimension has the wrong size");
      positions = *next;
    } else {
      const Integers segments = index_values(dimension, "array_segments"),
                     indices = index_values(dimension, "array_indices");
      if (is_block || dimension.integer("format") != 1 || segments.empty() ||
          positions >= static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()) ||
          !is_compressed(segments, indices, positions, size))
        refuse("a sparse dimension has broken indices");
      positions = indices.size();
    }
  }
  return positions;
}

}  // namespace ounce::tflite
