#include "evaluate/models/generate.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/numbers.h"
#include "data/convert.h"
#include "data/source/open_source.h"

namespace ounce::evaluate {
namespace {

using data::Dims;
using data::Tensor;
using data::ValueDescription;

constexpr std::uint64_t kUsualSamples = 8;
// What is made up for one run, over all inputs: a shape of ten bytes may ask for anything. In FP32, 256 MiB.
constexpr std::uint64_t kMostValues = std::uint64_t{1} << 26;
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 20;
constexpr std::uint64_t kTile = std::uint64_t{1} << 20;
constexpr double kBeyond = 8;  // extreme but legal: so many times the usual range

double value_for(const Range& range, const Fill& fill, Random& random) {
  switch (fill.kind) {
    case Fill::Kind::kNoise: return range.low + (range.high - range.low) * random.uniform();
    case Fill::Kind::kLowest: return range.low;
    case Fill::Kind::kHighest: return range.high;
    case Fill::Kind::kMiddle: return (range.low + range.high) / 2;
    case Fill::Kind::kZero: return 0;
    case Fill::Kind::kBeyond: {
      const double middle = (range.low + range.high) / 2, half = (range.high - range.low) / 2;
      return middle + kBeyond * half * (random.uniform() < 0.5 ? -1 : 1);
    }
  }
  return 0;
}

bool is_small_integer(ElementType type) { return info_of(type).bits <= 16 && type != ElementType::kBool; }

// The values that an integer input may have: rows of its table; all of a narrow type (pixels, sound); else 0
// and 1, which suits masks and flags.
Range integer_range(ElementType type, const Legal& legal) {
  if (legal.rows) return {0, static_cast<double>(std::max<std::int64_t>(*legal.rows - 1, 0))};
  if (!is_small_integer(type)) return {0, 1};
  const bool is_signed = type == ElementType::kInt8 || type == ElementType::kInt16;
  const double span = std::exp2(info_of(type).bits);
  return is_signed ? Range{-span / 2, span / 2 - 1} : Range{0, span - 1};
}

// Made in one type and converted, piece by piece, so that it is never there in two.
template <class T, class Choose>
Tensor in_tiles(const ValueDescription& input, ElementType made, Dims dims, std::uint64_t count,
                const Choose& choose) {
  Tensor all{input.element, std::move(dims), {}, {}};
  std::uint64_t done = 0;
  do {
    const std::uint64_t length = std::min(kTile, count - done);
    Tensor tile{made, {static_cast<std::int64_t>(length)}, std::string(length * sizeof(T), '\0'), {}};
    for (T& value : data::values_of<T>(tile)) choose(value);
    tile = data::convert(std::move(tile), input.element, fmt::format("input '{}'", input.name));
    if (done == 0) all.bytes.reserve(tile.bytes.size() * ((count + kTile - 1) / kTile));
    all.bytes += tile.bytes;
    done += length;
  } while (done < count);
  return all;
}

Tensor make_integers(const ValueDescription& input, Dims dims, std::uint64_t count, const Legal& legal,
                     Fill fill) {
  const Range range = integer_range(input.element, legal);
  const bool is_flag = !legal.rows && !is_small_integer(input.element);
  if (fill.kind == Fill::Kind::kBeyond) fill.kind = Fill::Kind::kHighest;  // there is nothing legal beyond
  Random random(fill.seed);
  return in_tiles<std::int64_t>(input, ElementType::kInt64, std::move(dims), count, [&](std::int64_t& value) {
    // A mask of noise hides everything now and then: ones say more.
    const double chosen = is_flag && fill.kind == Fill::Kind::kNoise ? 1 : value_for(range, fill, random);
    value = static_cast<std::int64_t>(std::clamp(std::round(chosen), range.low, range.high));
  });
}

Tensor make_floats(const ValueDescription& input, Dims dims, std::uint64_t count, const Legal& legal,
                   const Fill& fill) {
  Random random(fill.seed);
  return in_tiles<float>(input, ElementType::kFloat, std::move(dims), count, [&](float& value) {
    value = static_cast<float>(value_for(legal.range, fill, random));
  });
}

[[noreturn]] void refuse_size(const std::string& what, const std::string& where) {
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("would have {}, and no more than {} are made up: give `data`, or `shape` if it has free "
                  "dimensions",
                  what, kMostValues),
      where);
}

}  // namespace

std::map<std::string, Legal> legal_values(const model::ModelFile& model,
                                          const std::vector<ValueDescription>& inputs,
                                          const DataOptions& options) {
  const std::map<std::string, std::int64_t> bounds = model.table_rows();
  std::map<std::string, Legal> all;
  for (const ValueDescription& input : inputs) {
    Legal& legal = all[input.name];
    if (const auto rows = bounds.find(input.name); rows != bounds.end()) legal.rows = rows->second;
    if (!options.contract) continue;
    const auto contract = options.contract->inputs.find(input.name);
    if (contract != options.contract->inputs.end() && contract->second.observed)
      legal.range = {contract->second.observed->minimum, contract->second.observed->maximum};
  }
  return all;
}

std::int64_t usual_length(const ValueDescription& input, std::size_t axis) {
  return input.shape.size() == 4 && axis >= 2 ? 224 : 16;
}

Dims dims_for(const ValueDescription& input, const DataOptions& options, std::int64_t batch,
              const FreeAxis& otherwise) {
  Dims dims;
  for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
    const auto& dimension = input.shape[axis];
    const auto by_axis = options.shape.find(fmt::format("{}:{}", input.name, axis));
    const auto by_name = options.shape.find(dimension.name);
    if (dimension.value >= 0) {
      dims.push_back(dimension.value);
    } else if (by_axis != options.shape.end()) {
      dims.push_back(by_axis->second);
    } else if (!dimension.name.empty() && by_name != options.shape.end()) {
      dims.push_back(by_name->second);
    } else if (axis == 0) {
      dims.push_back(batch);
    } else {
      dims.push_back(otherwise(input, axis));
    }
  }
  return dims;
}

Tensor make_values(const ValueDescription& input, Dims dims, const Legal& legal, const Fill& fill) {
  const std::string where = fmt::format("input '{}'", input.name);
  if (!input.is_tensor())
    throw Error(ErrorCode::kUnsupported, "takes a sequence or a map, which cannot be made up", where);
  const std::uint64_t count = data::element_count(dims, where);
  if (count > kMostValues) refuse_size(fmt::format("{} values", count), where);
  if (input.element == ElementType::kString)
    return {ElementType::kString, std::move(dims), {}, std::vector<std::string>(count, "text")};
  if (is_float_weight_type(input.element)) return make_floats(input, std::move(dims), count, legal, fill);
  return make_integers(input, std::move(dims), count, legal, fill);
}

Tensor make_constant(const ValueDescription& input, Dims dims, double value) {
  const Range exactly{value, value};
  if (is_float_weight_type(input.element) || input.element == ElementType::kString)
    return make_values(input, std::move(dims), {exactly, {}}, {Fill::Kind::kHighest});
  ValueDescription wide = input;
  wide.element = input.is_tensor() ? ElementType::kInt64 : input.element;
  Tensor tensor = make_values(wide, std::move(dims), {}, {Fill::Kind::kZero});
  for (std::int64_t& one : data::values_of<std::int64_t>(tensor)) one = std::llround(value);
  return data::convert(std::move(tensor), input.element, fmt::format("input '{}'", input.name));
}

GeneratedFeed::GeneratedFeed(const model::ModelFile& model, std::vector<ValueDescription> inputs,
                             const DataOptions& options)
    : inputs_(std::move(inputs)), options_(options) {
  if (!options.labels.empty()) throw Error(ErrorCode::kUsage, "labels need data: give `data`");
  if (options.first != 0) throw Error(ErrorCode::kUsage, "`first` needs data: give `data`");
  data::require_known_names(inputs_, options);
  legal_ = legal_values(model, inputs_, options);
  const std::uint64_t samples = options.samples == 0 ? kUsualSamples : options.samples;
  batch_ = options.samples == 0 ? std::max<std::uint64_t>(options.batch, 1)
                                : std::clamp<std::uint64_t>(options.batch, 1, samples);
  // What is really bound decides: a fixed batch, or one that --shape gives.
  for (const ValueDescription& input : inputs_) {
    const bool is_made = options.constants.contains(input.name) || options.carry.contains(input.name);
    if (is_made || input.shape.size() < 2) continue;
    batch_ = static_cast<std::uint64_t>(std::max<std::int64_t>(
        dims_for(input, options, static_cast<std::int64_t>(batch_), usual_length)[0], 1));
    break;
  }
  batches_ = std::max<std::uint64_t>(samples / batch_, 1);
}

void GeneratedFeed::require_room() const {
  if (batch_ > kMostSamples) refuse_size(fmt::format("{} samples in one run", batch_), "a made-up batch");
  std::uint64_t values = 0;
  for (const ValueDescription& input : inputs_) {
    if (!input.is_tensor() || options_.carry.contains(input.name)) continue;
    const Dims dims = dims_for(input, options_, static_cast<std::int64_t>(batch_), usual_length);
    const std::uint64_t count = data::element_count(dims, fmt::format("input '{}'", input.name));
    if (count > kMostValues)
      refuse_size(fmt::format("{} values", count), fmt::format("input '{}'", input.name));
    values += count;
  }
  if (values > kMostValues) refuse_size(fmt::format("{} values", values), "all inputs together");
}

void GeneratedFeed::read(std::uint64_t index, data::Batch& batch) {
  require_room();
  batch.inputs.clear();
  batch.labels.clear();
  batch.names.clear();
  for (std::uint64_t k = 0; k < batch_; ++k)
    batch.names.push_back(fmt::format("random[{}]", index * batch_ + k));
  batch.starts_sequence = index == 0;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const ValueDescription& input = inputs_[i];
    Dims dims = dims_for(input, options_, static_cast<std::int64_t>(batch_), usual_length);
    const auto constant = options_.constants.find(input.name);
    if (constant != options_.constants.end()) {
      batch.inputs.push_back(make_constant(input, std::move(dims), constant->second));
    } else if (options_.carry.contains(input.name)) {
      // A state that begins: its batch is not the first axis, so free ones are 1.
      dims = dims_for(input, options_, 1, [](const auto&, std::size_t) { return 1; });
      batch.inputs.push_back(make_values(input, std::move(dims), {}, {Fill::Kind::kZero}));
    } else {
      const std::uint64_t seed = options_.seed * 1'000'003 + index * 1009 + i;
      batch.inputs.push_back(
          make_values(input, std::move(dims), legal_.at(input.name), {Fill::Kind::kNoise, seed}));
    }
  }
}

std::vector<std::string> GeneratedFeed::notes() const {
  std::set<std::string> free;
  for (const ValueDescription& input : inputs_) {
    const Dims dims = dims_for(input, options_, static_cast<std::int64_t>(batch_), usual_length);
    for (std::size_t axis = 1; axis < input.shape.size(); ++axis) {
      if (input.shape[axis].value >= 0) continue;
      const std::string& name = input.shape[axis].name;
      free.insert(
          fmt::format("{}={}", name.empty() ? fmt::format("{}:{}", input.name, axis) : name, dims[axis]));
    }
  }
  std::vector<std::string> notes;
  if (options_.batch != 1 && options_.batch != batch_) {
    notes.push_back(
        fmt::format("a run takes {} sample{}, not {}", batch_, batch_ == 1 ? "" : "s", options_.batch));
  }
  if (!free.empty()) {
    notes.push_back(fmt::format("free dimensions were taken as {}; `shape` NAME=LENGTH says otherwise",
                                fmt::join(free, ", ")));
  }
  return notes;
}

}  // namespace ounce::evaluate
