#include "data/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>

#include "base/numbers.h"

namespace ounce::data {
namespace {

constexpr auto kMostElements = static_cast<std::uint64_t>(INT64_MAX);

[[noreturn]] void fail(std::string_view what, const std::string& problem) {
  throw Error(ErrorCode::kBadInput, problem, std::string(what));
}

std::string dimension_text(const ValueDescription::Dimension& dimension) {
  if (dimension.value >= 0) return fmt::format("{}", dimension.value);
  return dimension.name.empty() ? "?" : dimension.name;
}

}  // namespace

std::uint64_t element_count(const Dims& dims, std::string_view what) {
  for (const std::int64_t dim : dims) {
    if (dim < 0) fail(what, fmt::format("dimension {} is negative", dim));
  }
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    const auto product = checked_multiply(count, static_cast<std::uint64_t>(dim));
    if (!product || *product > kMostElements)
      fail(what, fmt::format("the shape [{}] is too large for memory", fmt::join(dims, ",")));
    count = *product;
  }
  return count;
}

std::uint64_t byte_count(ElementType type, const Dims& dims, std::string_view what) {
  const auto bits = static_cast<std::uint64_t>(info_of(type).bits);
  const std::uint64_t count = element_count(dims, what);
  // Eight elements take whole bytes. Counting groups of eight avoids an overflow of the number of bits.
  const auto groups = checked_multiply(count / 8, bits);
  const std::uint64_t rest = (count % 8 * bits + 7) / 8;
  const auto bytes = groups ? checked_add(*groups, rest) : std::nullopt;
  if (!bytes) fail(what, fmt::format("{} is too large for memory", describe(type, dims)));
  return *bytes;
}

std::string describe(ElementType type, const Dims& dims) {
  return fmt::format("{}[{}]", name_of(type), fmt::join(dims, ","));
}

std::string describe(const ValueDescription& value) {
  if (!value.is_tensor() && value.inside == ElementType::kUndefined) return "not a tensor";
  if (!value.is_tensor()) return fmt::format("{} in a sequence or a map", name_of(value.inside));
  if (value.shape.empty()) return std::string(name_of(value.element));
  std::vector<std::string> shape;
  for (const auto& dimension : value.shape) shape.push_back(dimension_text(dimension));
  return fmt::format("{}[{}]", name_of(value.element), fmt::join(shape, ","));
}

const Tensor* Sample::find(std::string_view field) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const NamedTensor& candidate) { return candidate.name == field; });
  return found == fields.end() ? nullptr : &found->tensor;
}

void Source::require_sample(std::uint64_t index, const std::string& where) const {
  if (index >= size())
    throw Error(ErrorCode::kInternal, fmt::format("sample {} of {} was requested", index, size()), where);
}

std::vector<std::string> Source::names_there() const {
  std::vector<std::string> names;
  for (const Field& field : fields()) names.push_back(field.name);
  return names;
}

}  // namespace ounce::data
