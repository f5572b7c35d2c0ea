#include "evaluate/models/feeds.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/cancel.h"
#include "base/numbers.h"
#include "data/source/open_source.h"
#include "data/tensor.h"

namespace ounce::evaluate {

Prefetch::Prefetch(data::Feed& feed)
    : feed_(feed), reader_([this, current = CurrentScope()] {
        const CurrentScope::Scope scope(current);
        read_all();
      }) {}

Prefetch::~Prefetch() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  reader_.join();
}

// The reading thread owns `ahead_` until it is ready; then the caller owns it.
void Prefetch::read_all() {
  try {
    for (std::uint64_t i = 0; i < feed_.batches(); ++i) {
      feed_.read(i, ahead_);
      std::unique_lock lock(mutex_);
      is_ready_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !is_ready_ || is_closing_; });
      if (is_closing_) return;
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  changed_.notify_all();
}

const data::Batch* Prefetch::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_ready_ || is_over_; });
  if (!is_ready_) {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return nullptr;
  }
  std::swap(current_, ahead_);
  is_ready_ = false;
  changed_.notify_all();
  return &current_;
}

namespace {

void add_digest(Sha256& all, const Sha256::Digest& digest) {
  all.add({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

void add_digest_of(Sha256& all, std::string_view bytes) {
  Sha256 digest;
  digest.add(bytes);
  add_digest(all, digest.digest());
}

// A digest of digests, so that the boundaries between tensors are part of it.
Sha256::Digest sha256_of_tensors(const std::vector<data::Tensor>& tensors) {
  Sha256 all;
  for (const data::Tensor& tensor : tensors) {
    add_digest_of(all, data::describe(tensor.type, tensor.dims));
    Sha256 strings;
    for (const std::string& text : tensor.strings) add_digest_of(strings, text);
    add_digest(all, strings.digest());
    add_digest_of(all, tensor.bytes);
  }
  return all.digest();
}

}  // namespace

void DigestingFeed::read(std::uint64_t index, data::Batch& batch) {
  feed_.read(index, batch);
  if (seen_.contains(index)) return;
  has_labels_ |= !batch.labels.empty();
  seen_.emplace(index, std::pair(sha256_of_tensors(batch.inputs), sha256_of_tensors(batch.labels)));
}

std::string DigestingFeed::inputs() const {
  Sha256 all;
  for (const auto& [index, digests] : seen_) add_digest(all, digests.first);
  return all.hex();
}

std::string DigestingFeed::labels() const {
  if (!has_labels_) return {};
  Sha256 all;
  for (const auto& [index, digests] : seen_) add_digest(all, digests.second);
  return all.hex();
}

namespace {

using data::Dims;
using data::Tensor;
using data::ValueDescription;

constexpr std::uint64_t kUsualSamples = 8;
// Limits for the random values of one run, over all inputs (256 MiB in FP32): hostile shapes may request any
// number.
constexpr std::uint64_t kMostValues = std::uint64_t{1} << 26;
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 20;
constexpr std::uint64_t kTile = std::uint64_t{1} << 20;
constexpr double kBeyond = 8;  // Fill::Kind::kBeyond: factor by which values exceed the usual range

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

// The values of an integer input: row numbers of its table; the full range of a narrow type (pixels, sound);
// else 0 and 1, which suits masks and flags.
Range integer_range(ElementType type, const Legal& legal) {
  if (legal.rows) return {0, static_cast<double>(std::max<std::int64_t>(*legal.rows - 1, 0))};
  if (!is_small_integer(type)) return {0, 1};
  const bool is_signed = type == ElementType::kInt8 || type == ElementType::kInt16;
  const double span = std::exp2(info_of(type).bits);
  return is_signed ? Range{-span / 2, span / 2 - 1} : Range{0, span - 1};
}

// Generates values in one type and converts them, in pieces, so that memory never holds the whole tensor in
// both types.
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
  if (fill.kind == Fill::Kind::kBeyond) fill.kind = Fill::Kind::kHighest;  // larger integers are invalid
  Random random(fill.seed);
  return in_tiles<std::int64_t>(input, ElementType::kInt64, std::move(dims), count, [&](std::int64_t& value) {
    // Masks get ones instead of noise, because a mask of zeros would hide all values.
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
      fmt::format(
          "needs {}, but at most {} random values are generated: give `data`, or set the sizes of dynamic "
          "dimensions with `shape`",
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
  // The states of recurrent networks: [layers, batch, features].
  const auto size_of = [&](std::size_t i) { return input.shape[i].value; };
  if (input.shape.size() == 3 && axis == 1 && size_of(0) > 1 && size_of(2) > 0) return 1;
  return input.shape.size() == 4 && axis >= 2 ? 224 : 16;
}

Tensor make_values(const ValueDescription& input, Dims dims, const Legal& legal, const Fill& fill) {
  const std::string where = fmt::format("input '{}'", input.name);
  if (!input.is_tensor())
    throw Error(ErrorCode::kUnsupported, "random values of sequences and maps are not supported", where);
  const std::uint64_t count = data::element_count(dims, where);
  if (count > kMostValues) refuse_size(fmt::format("{} values", count), where);
  if (input.element == ElementType::kString)
    return {ElementType::kString, std::move(dims), {}, std::vector<std::string>(count, "text")};
  if (is_float_weight_type(input.element)) return make_floats(input, std::move(dims), count, legal, fill);
  return make_integers(input, std::move(dims), count, legal, fill);
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
  // The shapes that will be bound determine the batch size: a fixed batch, or one set by `shape`.
  for (const ValueDescription& input : inputs_) {
    const bool is_made = options.constants.contains(input.name) || options.carry.contains(input.name);
    if (is_made || input.shape.size() < 2) continue;
    batch_ = static_cast<std::uint64_t>(std::max<std::int64_t>(
        data::dims_for(input, options, static_cast<std::int64_t>(batch_), usual_length)[0], 1));
    break;
  }
  batches_ = std::max<std::uint64_t>(samples / batch_, 1);
  // Axes of one name have one size, so the batch's name may fix axes of other inputs.
  for (const ValueDescription& input : inputs_) {
    if (input.shape.empty() || input.shape[0].value >= 0 || input.shape[0].name.empty()) continue;
    options_.shape.try_emplace(input.shape[0].name, static_cast<std::int64_t>(batch_));
  }
}

void GeneratedFeed::require_room() const {
  if (batch_ > kMostSamples) refuse_size(fmt::format("{} samples in one run", batch_), "a random batch");
  std::uint64_t values = 0;
  for (const ValueDescription& input : inputs_) {
    if (!input.is_tensor() || options_.carry.contains(input.name)) continue;
    const Dims dims = data::dims_for(input, options_, static_cast<std::int64_t>(batch_), usual_length);
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
    Dims dims = data::dims_for(input, options_, static_cast<std::int64_t>(batch_), usual_length);
    const auto constant = options_.constants.find(input.name);
    if (constant != options_.constants.end()) {
      batch.inputs.push_back(data::filled_tensor(input, std::move(dims), constant->second));
    } else if (options_.carry.contains(input.name)) {
      batch.inputs.push_back(data::filled_tensor(input, data::shortest_dims_for(input, options_), 0));
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
    const Dims dims = data::dims_for(input, options_, static_cast<std::int64_t>(batch_), usual_length);
    for (std::size_t axis = 1; axis < input.shape.size(); ++axis) {
      if (input.shape[axis].value >= 0) continue;
      const std::string& name = input.shape[axis].name;
      free.insert(
          fmt::format("{}={}", name.empty() ? fmt::format("{}:{}", input.name, axis) : name, dims[axis]));
    }
  }
  std::vector<std::string> notes;
  if (options_.batch != 1 && options_.batch != batch_) {
    notes.push_back(fmt::format("the model runs {} sample{} at a time, not {}", batch_,
                                batch_ == 1 ? "" : "s", options_.batch));
  }
  if (!free.empty()) {
    notes.push_back(fmt::format("dynamic dimensions were set to {}; set other sizes with `shape` NAME=LENGTH",
                                fmt::join(free, ", ")));
  }
  return notes;
}

}  // namespace ounce::evaluate
