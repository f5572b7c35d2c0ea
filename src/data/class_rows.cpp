#include "data/class_rows.h"

#include <algorithm>

namespace ounce::data {

std::optional<std::size_t> class_axis(const ValueDescription& output) {
  if (output.shape.size() < 2) return std::nullopt;
  const std::size_t axis = output.shape.size() <= 3 ? output.shape.size() - 1 : 1;
  if (output.shape[axis].value < 2) return std::nullopt;
  return axis;
}

bool is_label(ElementType type, std::size_t rank) {
  constexpr std::size_t kPictureRank = 4;
  switch (type) {
    case ElementType::kString:
    case ElementType::kBool:
    case ElementType::kInt4:
    case ElementType::kUint4:
    case ElementType::kInt32:
    case ElementType::kUint32:
    case ElementType::kInt64:
    case ElementType::kUint64: return true;
    case ElementType::kInt8:
    case ElementType::kUint8: return rank < kPictureRank;
    default: return false;
  }
}

ValueDescription described_as(const TensorView& given, ValueDescription output) {
  if (output.is_tensor()) return output;
  output.element = given.type;
  output.shape.clear();
  for (const std::int64_t size : given.dims) output.shape.push_back({size, ""});
  return output;
}

ClassRows::ClassRows(std::span<const float> scores, const Dims& dims, std::size_t axis)
    : scores_(scores), classes_(static_cast<std::size_t>(dims[axis])), inner_(1) {
  for (std::size_t i = axis + 1; i < dims.size(); ++i) inner_ *= static_cast<std::size_t>(dims[i]);
  inner_ = std::max<std::size_t>(inner_, 1);
  rows_ = classes_ == 0 ? 0 : scores.size() / classes_;
}

std::size_t ClassRows::best(std::size_t row) const {
  std::size_t found = 0;
  for (std::size_t i = 1; i < classes_; ++i) {
    if (score(row, i) > score(row, found)) found = i;
  }
  return found;
}

void ClassRows::best(std::size_t row, std::size_t count, std::vector<std::size_t>& classes) const {
  classes.clear();
  const auto is_better = [&](std::size_t a, std::size_t b) { return score(row, a) > score(row, b); };
  for (std::size_t i = 0; i < classes_; ++i) {
    if (classes.size() == count && !is_better(i, classes.back())) continue;
    if (classes.size() == count) classes.pop_back();
    classes.insert(std::upper_bound(classes.begin(), classes.end(), i, is_better), i);
  }
}

}  // namespace ounce::data
