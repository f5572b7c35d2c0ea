#include "formats/tflite/file/sparsity.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/numbers.h"

namespace ounce::tflite {
namespace {

constexpr std::uint64_t kLargestExpansion = 256, kFreeBytesOfDense = 4096;

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
  if (blocks.size() > rank || order.size() != rank + blocks.size() || dimensions.size() != order.size() ||
      !is_permutation(order))
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

namespace {

// Visits the stored values in the order of the file. `at` is the index of each dimension in traversal order.
class Densifier {
 public:
  Densifier(const Tensor& tensor, Bytes stored, std::uint64_t dense_bytes, std::size_t width)
      : shape_(tensor.shape.begin(), tensor.shape.end()),
        stored_(stored),
        width_(width),
        dense_(dense_bytes, '\0') {
    const Record& sparsity = *tensor.sparsity;
    order_ = sparsity.integers("traversal_order");
    blocks_ = sparsity.integers("block_map");
    for (const Record& dimension : std::get<std::vector<Record>>(*sparsity.find("dim_metadata"))) {
      Level& level = levels_.emplace_back();
      level.is_dense = dimension.integer("format") == 0;
      level.size = static_cast<std::uint64_t>(dimension.integer("dense_size"));
      level.segments = index_values(dimension, "array_segments");
      level.indices = index_values(dimension, "array_indices");
    }
    block_sizes_.assign(shape_.size(), 1);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (const auto dimension = static_cast<std::size_t>(order_[i]); dimension >= shape_.size())
        block_sizes_[static_cast<std::size_t>(blocks_[dimension - shape_.size()])] *=
            static_cast<std::int64_t>(levels_[i].size);
    }
    at_.resize(order_.size());
  }

  std::string run() {
    visit(0, 0);
    return std::move(dense_);
  }

 private:
  struct Level {
    bool is_dense = false;
    std::uint64_t size = 0;
    Integers segments, indices;
  };

  // A level is as deep as the tensor has dimensions.
  void visit(std::size_t level, std::uint64_t position) {
    if (level == levels_.size()) return place(position);
    const Level& here = levels_[level];
    if (here.is_dense) {
      for (std::uint64_t i = 0; i < here.size; ++i) {
        at_[level] = static_cast<std::int64_t>(i);
        visit(level + 1, position * here.size + i);
      }
    } else {
      for (auto i = here.segments[position]; i < here.segments[position + 1]; ++i) {
        at_[level] = here.indices[static_cast<std::size_t>(i)];
        visit(level + 1, static_cast<std::uint64_t>(i));
      }
    }
  }

  void place(std::uint64_t position) {
    count_step();
    Integers index(shape_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto dimension = static_cast<std::size_t>(order_[i]);
      if (dimension < shape_.size()) index[dimension] += at_[i] * block_sizes_[dimension];
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const auto dimension = static_cast<std::size_t>(order_[i]);
      if (dimension >= shape_.size())
        index[static_cast<std::size_t>(blocks_[dimension - shape_.size()])] += at_[i];
    }
    std::uint64_t target = 0;
    for (std::size_t i = 0; i < shape_.size(); ++i)
      target = target * static_cast<std::uint64_t>(shape_[i]) + static_cast<std::uint64_t>(index[i]);
    stored_.copy(dense_.data() + target * width_, width_, position * width_);
  }

  Integers shape_, order_, blocks_, block_sizes_, at_;
  std::vector<Level> levels_;
  Bytes stored_;
  std::size_t width_;
  std::string dense_;
};

}  // namespace

std::string densify(const Tensor& tensor, Bytes stored) {
  const auto bits = static_cast<std::size_t>(info_of(element_type_of(tensor.type)).bits);
  const std::uint64_t bytes = byte_count(tensor).value_or(0);
  if (bits % 8 != 0 || bytes / kLargestExpansion > stored.size() + kFreeBytesOfDense)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("is too sparse: {} bytes stand for {}", stored.size(), bytes),
                std::string(tensor.name));
  if (stored.empty()) return std::string(bytes, '\0');
  return Densifier(tensor, stored, bytes, bits / 8).run();
}

}  // namespace ounce::tflite
