#include "formats/coreml/plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "formats/coreml/file/values.h"
#include "formats/coreml/plan/palettes.h"
#include "plan/weights/selection.h"
#include "plan/weights/storage.h"
#include "recipe/format_info.h"
#include "target/coreml.h"

namespace ounce::coreml {
namespace {

constexpr std::int64_t kFirstConstexpr = 7, kFirstBlocks = 9;  // versions: iOS16, iOS18
constexpr unsigned kBitsOfBlocks = 3;                          // lookup tables of 8 values came with blocks
constexpr std::size_t kBlock = 32;
constexpr std::size_t kSmallestBlock = 16;  // smaller blocks need too many scales
constexpr std::size_t kLargestBlock = 512;
// Of 4-bit formats and below, small tensors get 8 bits: they are often the most sensitive ones, and hardly
// matter for the size.
constexpr unsigned kFewBits = 4;
constexpr std::uint64_t kFewValues = 2048, kFewOddValues = 16384;
// Channels that share a lookup table: Apple's guide finds groups of 8 or 16 fast on the Neural Engine.
constexpr std::size_t kPaletteGroup = 16, kSmallestPaletteGroup = 4;
// FP16 has steps of 2^-24 near zero: a smaller scale would have an error of more than 6 %.
constexpr float kSmallestHalfScale = 0x1p-21F;

using plan::Encoding;
using target::ComputeUnit;

std::size_t largest_divisor(std::size_t number, std::size_t most) {
  std::size_t divisor = std::min(number, most);
  while (number % divisor != 0) --divisor;
  return divisor;
}

// Includes the descriptions of the blobs.
std::uint64_t bytes_in_file(const Decision& decision) {
  constexpr std::uint64_t kDescription = 64;
  const std::uint64_t width = decision.weight.is_half() ? 2 : 4;
  const std::uint64_t groups = decision.layout.groups(), bits = decision.bits();
  const std::uint64_t values = decision.weight.values(),
                      stored = decision.is_sparse ? decision.nonzeros : values;
  const std::uint64_t mask = decision.is_sparse ? (values + 7) / 8 + kDescription : 0;
  const std::uint64_t codes = (stored * bits + 7) / 8 + kDescription + mask;
  if (decision.is_half()) return codes;
  if (!decision.is_linear()) {
    const std::uint64_t scales = decision.row_scales.size();
    return codes + (groups << bits) * width + kDescription +
           (scales == 0 ? 0 : scales * width + kDescription);
  }
  return codes + groups * width + kDescription +
         (decision.format.is_symmetric ? 0 : (groups * bits + 7) / 8 + kDescription);
}

// The result of target and recipe.
struct Choice {
  std::int64_t version = 0;
  ComputeUnit unit = ComputeUnit::kAny;
  bool has_blocks = false;
};

class Planner {
 public:
  Planner(const CoremlFile& file, const Recipe& recipe, const Choice& choice)
      : file_(file), recipe_(recipe), choice_(choice), selection_(recipe), formats_(file, recipe) {}

  Decision decide(const Weight& weight) {
    Decision decision(weight);
    const std::string excluded = selection_.why_not(texts_of(file_, weight));  // also notes matches
    const std::optional<plan::StorageOverride> wanted = formats_.storage(weight.users);
    const Format format = wanted ? wanted->format : recipe_.format;
    decision.reason = plan::why_keep(weight, recipe_, wanted);
    if (decision.reason.empty() && !weight.is_in_file)
      decision.reason = "is in the program, not in a weight file";
    if (decision.reason.empty()) decision.reason = excluded;
    if (decision.reason.empty()) {
      decision.reason = why_as_it_is(weight, format);
      decision.may_be_exact = !decision.reason.empty() && is_float(weight.type) &&
                              info_of(format).weight_bits <= 8 && weight.role == model::Role::kOther;
    }
    if (!decision.reason.empty()) return decision;
    if (!plan::choose_half(decision, recipe_, wanted))
      choose_codes(decision, weight, format, wanted && wanted->is_asked);
    if (!decision.is_stored()) {
      decision.may_be_sparse = weight.is_half() && weight.fits_nbits();
      return decision;
    }
    if (decision.is_half()) one_group(decision);
    decision.decoder = Decoder::kDq;  // a separate operation, which Core ML may fuse
    decision.stored_bytes = bytes_in_file(decision);
    plan::keep_if_not_smaller(decision);
    return decision;
  }

  std::vector<std::string> unmatched(std::vector<std::string>& notes) const {
    return selection_.unmatched(notes);
  }

 private:
  static bool is_float(ElementType type) {
    return type == ElementType::kFloat || type == ElementType::kFloat16;
  }
  static std::string why_as_it_is(const Weight& weight, Format format) {
    if (std::string why = plan::why_all_bits(weight, format); !why.empty()) return why;
    if (!is_float(weight.type)) return fmt::format("is {}, which cannot be compressed", name_of(weight.type));
    if (weight.fits_nbits()) return {};
    return fmt::format("small parameter of {}", weight.op_type);
  }

  // `is_asked`: the recipe names an operation that uses the weight.
  void choose_codes(Decision& decision, const Weight& weight, Format format, bool is_asked) {
    plan::choose_codes(decision, recipe_, format, true);
    const unsigned bits = info_of(format).weight_bits;
    const std::string reason = decision.reason;
    const bool is_free = !is_asked && recipe_.granularity.kind != GranularityKind::kChannel;
    if (is_free && bits <= kFewBits && weight.values() <= kFewValues) {
      choose_form(decision, weight, 8, bits <= 4 && (bits < 4 || prefers_tables()));
      decision.reason += ", 8 bits because it is small";
      return;
    }
    choose_form(decision, weight, bits, false);
    const std::size_t size = decision.layout.outer * decision.layout.inner;
    const std::size_t wanted = recipe_.granularity.block == 0 ? kBlock : recipe_.granularity.block;
    const bool is_odd = size % std::min(wanted, kBlock) != 0 && weight.values() <= kFewOddValues;
    const bool has_blocks =
        (decision.granularity == GranularityKind::kBlock || is_one_block(decision)) && !is_odd;
    const bool wants_blocks = recipe_.granularity.kind == GranularityKind::kAuto ||
                              recipe_.granularity.kind == GranularityKind::kBlock;
    if (!is_free || !wants_blocks || decision.encoding != Encoding::kLinear4 || has_blocks) return;
    decision.reason = reason;
    choose_form(decision, weight, 8, false);
    decision.reason += fmt::format(", 8 bits because it has no blocks of {}", wanted);
  }

  // True if each channel is a block of a usual size.
  static bool is_one_block(const Decision& decision) {
    const std::size_t size = decision.layout.outer * decision.layout.inner;
    return decision.granularity == GranularityKind::kChannel && size >= kSmallestBlock &&
           size <= kLargestBlock;
  }

  void choose_form(Decision& decision, const Weight& weight, unsigned bits, bool is_like_tables) {
    // There are integers of 8 and 4 bits only.
    const bool is_for_tables =
        recipe_.codebook || is_like_tables || (bits != 8 && bits != 4) || (bits == 4 && prefers_tables());
    decision.encoding =
        plan::encoding_of(is_for_tables ? plan::EncodingKind::kCodebook : plan::EncodingKind::kLinear, bits);
    decision.scale = recipe_.scale;
    decision.format = linear_format(decision);
    decision.format.half_scales = weight.is_half();
    const bool is_summed = weight.role == model::Role::kWeight && !weight.is_looked_up;
    decision.kernel = recipe_.rounding == Rounding::kZeroSum && is_summed ? weight.kernel_taps : 0;
    if (is_for_tables) return choose_tables(decision);
    choose_groups(decision, weight);
  }

  // Before iOS18, 4-bit weights need lookup tables. On the Neural Engine these are also the fastest later.
  bool prefers_tables() const { return !choice_.has_blocks || choice_.unit == ComputeUnit::kNeuralEngine; }

  quant::LinearFormat linear_format(const Decision& decision) const {
    if (decision.encoding == Encoding::kLinear4)
      return recipe_.asymmetric ? quant::linear_format(4, true) : quant::kSymmetricInt4;
    return recipe_.asymmetric ? quant::kAsymmetricInt8 : quant::kSymmetricInt8;
  }

  static void one_group(Decision& decision) {
    plan::group_by_tensor(decision);
    decision.group_dims.assign(decision.weight.dims.size(), 1);
  }
  static void one_group_a_channel(Decision& decision) {
    one_group(decision);
    if (!decision.weight.channels) {
      decision.reason += ", no channel axis known";
      return;
    }
    plan::group_by_channel(decision);
    const std::size_t axis = decision.weight.channels->first;
    decision.group_dims[axis] = decision.weight.dims[axis];
  }

  // Chooses the granularities of lookup tables. fit_palette() decides between several by the values.
  void choose_tables(Decision& decision) const {
    one_group(decision);
    const Granularity& wanted = recipe_.granularity;
    if (wanted.kind == GranularityKind::kTensor) return;
    const bool is_asked = wanted.kind != GranularityKind::kAuto;
    if (!choice_.has_blocks || !decision.weight.channels) {
      if (is_asked)
        decision.reason += choice_.has_blocks ? ", no channel axis known" : ", groups of channels need iOS18";
      return;
    }
    // A scale over a table is known to crash on the Neural Engine.
    const bool may_scale = choice_.unit == ComputeUnit::kGpu || choice_.unit == ComputeUnit::kCpu;
    if (wanted.kind == GranularityKind::kChannel || (!is_asked && may_scale)) {
      decision.palette = is_asked ? PaletteChoice::kScaled : PaletteChoice::kScaledIfBetter;
      return;
    }
    const std::size_t axis = decision.weight.channels->first;
    const auto channels = static_cast<std::size_t>(decision.weight.dims[axis]);
    const std::size_t most = is_asked ? wanted.block : kPaletteGroup;
    const std::size_t group = largest_divisor(channels, most);
    if (group < std::min(most, kSmallestPaletteGroup)) {
      decision.reason +=
          fmt::format(", {} channels cannot be divided into groups of up to {}", channels, most);
      return;
    }
    decision.palette = is_asked ? PaletteChoice::kGrouped : PaletteChoice::kGroupedIfBetter;
    decision.palette_group = group;
  }

  void choose_groups(Decision& decision, const Weight& weight) const {
    const Granularity& wanted = recipe_.granularity;
    if (wanted.kind == GranularityKind::kTensor) return one_group(decision);
    const bool is_in_blocks =
        wanted.kind == GranularityKind::kBlock ||
        (wanted.kind == GranularityKind::kAuto && decision.encoding == Encoding::kLinear4);
    one_group_a_channel(decision);
    if (!is_in_blocks) return;
    if (!choice_.has_blocks) {
      decision.reason += ", blocks need iOS18";
      return;
    }
    choose_blocks(decision, weight, wanted.kind == GranularityKind::kBlock ? wanted.block : kBlock);
  }

  // A block consists of inputs of one channel with all taps. Uses the largest size that divides the axis, so
  // that tensors of all shapes can be quantized.
  static void choose_blocks(Decision& decision, const Weight& weight, std::size_t most) {
    if (!weight.channels || !weight.summed) return;
    const std::size_t axis = weight.channels->first, summed = *weight.summed;
    const auto size_of = [&](std::size_t from, std::size_t to) {
      std::size_t size = 1;
      for (std::size_t i = from; i < to; ++i) size *= static_cast<std::size_t>(weight.dims[i]);
      return size;
    };
    const std::size_t first = std::min(axis, summed), last = std::max(axis, summed);
    const std::size_t channels = size_of(axis, axis + 1), inputs = size_of(summed, summed + 1);
    const std::size_t after = size_of(last + 1, weight.dims.size());
    const std::size_t block = largest_divisor(inputs, most);
    if (first + 1 != last || size_of(0, first) != 1 || block * after < std::min(kSmallestBlock, most)) {
      decision.reason += fmt::format(", {} inputs cannot be divided into blocks of up to {}", inputs, most);
      return;
    }
    if (block == inputs) return;  // the whole channel
    const std::size_t blocks = inputs / block;
    decision.layout = axis < summed ? quant::Layout{1, 1, channels * blocks, block * after}
                                    : quant::Layout{blocks, block, channels, after};
    decision.granularity = GranularityKind::kBlock;
    decision.block = block;
    decision.group_dims[axis] = static_cast<std::int64_t>(channels);
    decision.group_dims[summed] = static_cast<std::int64_t>(blocks);
  }

  const CoremlFile& file_;
  const Recipe& recipe_;
  Choice choice_;
  plan::Selection selection_;
  plan::NodeFormats formats_;
};

// Uses a lookup table, which supports all magnitudes, if scales are too small for FP16.
void replace_small_scales(Decision& decision, const kernels::Range& whole) {
  const auto codes = static_cast<float>(decision.format.codes.hi);
  if (!decision.is_linear() || !decision.format.half_scales || whole.absmax() / codes >= kSmallestHalfScale)
    return;
  decision.encoding = plan::encoding_of(plan::EncodingKind::kCodebook, decision.bits());
  plan::group_by_tensor(decision);
  decision.group_dims.assign(decision.weight.dims.size(), 1);
  decision.reason += ", a lookup table because scales would be too small for FP16";
}

std::uint64_t count_nonzeros(const quant::FloatSource& floats, std::size_t first, std::size_t count) {
  std::vector<float> scratch;
  const std::byte* const bytes = floats.values(first, count, scratch);
  std::uint64_t nonzeros = 0;
  for (std::size_t i = 0; i < count; ++i) {
    float value;
    std::memcpy(&value, bytes + i * sizeof value, sizeof value);
    nonzeros += value != 0 ? 1U : 0U;
  }
  return nonzeros;
}

// Returns nullopt if a part of the values shows that few of them are zero.
std::optional<std::uint64_t> count_nonzeros(const quant::FloatSource& floats, const ForEach& for_each) {
  constexpr std::size_t kParts = 16, kLeastZeros = 20;  // at least 5 % zeros
  const std::size_t part = std::min(floats.size(), quant::kTile / kParts);
  std::uint64_t seen = 0, nonzeros = 0;
  for (std::size_t i = 0; i < kParts; ++i) {
    const std::size_t first = (floats.size() - part) / kParts * i;
    nonzeros += count_nonzeros(floats, first, part);
    floats.release(first, part);
    seen += part;
  }
  if ((seen - nonzeros) * kLeastZeros < seen) return std::nullopt;
  std::vector<std::uint64_t> tiles(quant::tile_count(floats, quant::kTile), 0);
  quant::for_each_tile(floats, quant::kTile, for_each,
                       [&](std::size_t tile, std::size_t first, std::size_t count) {
                         tiles[tile] = count_nonzeros(floats, first, count);
                       });
  return std::accumulate(tiles.begin(), tiles.end(), std::uint64_t{0});
}

// Stores a constant with few different values, such as a mask, in a lookup table without any change.
void choose_exact(Decision& decision, const quant::FloatSource& floats, bool has_joint_forms) {
  constexpr std::size_t kMostDifferent = 256;
  std::set<float> found;
  std::vector<float> scratch;
  for (std::size_t first = 0; first < floats.size(); first += quant::kTile) {
    const std::size_t count = std::min(quant::kTile, floats.size() - first);
    const std::byte* const bytes = floats.values(first, count, scratch);
    float last = NAN;
    for (std::size_t i = 0; i < count; ++i) {
      float value;
      std::memcpy(&value, bytes + i * sizeof value, sizeof value);
      if (value == last) continue;
      if (!std::isfinite(value) || (value == 0 && std::signbit(value))) return;
      last = value;
      found.insert(value);
      if (found.size() > kMostDifferent) return;
    }
    floats.release(first, count);
  }
  Decision exact = decision;
  unsigned bits = 1;
  while ((std::size_t{1} << bits) < found.size() || bits == 5 || bits == 7 ||
         (bits == kBitsOfBlocks && !has_joint_forms))
    ++bits;
  exact.encoding = plan::encoding_of(plan::EncodingKind::kCodebook, bits);
  plan::group_by_tensor(exact);
  exact.group_dims.assign(decision.weight.dims.size(), 1);
  exact.decoder = Decoder::kDq;
  exact.tables = {std::vector<float>(found.begin(), found.end())};
  exact.tables[0].resize(std::size_t{1} << bits, *found.rbegin());
  exact.stored_bytes = bytes_in_file(exact);
  if (exact.stored_bytes >= decision.weight.bytes()) return;
  exact.reason = fmt::format("{}, and has only {} different value{}: not changed", decision.reason,
                             found.size(), found.size() == 1 ? "" : "s");
  decision = std::move(exact);
}

// Leaves out the zeros of a pruned weight if that is smaller. Before iOS18, only floats can be sparse.
void choose_sparse(Decision& decision, const quant::FloatSource& floats, const kernels::Range& whole,
                   bool has_joint_forms, const ForEach& for_each) {
  if (!decision.weight.fits_nbits() || (decision.is_half() && !decision.weight.is_half())) return;
  const std::optional<std::uint64_t> counted = count_nonzeros(floats, for_each);
  if (!counted || *counted == 0) return;
  const std::uint64_t nonzeros = *counted;
  Decision sparse = decision;
  sparse.is_sparse = true;
  sparse.nonzeros = nonzeros;
  const bool is_table = decision.encoding.kind == plan::EncodingKind::kCodebook;
  if (!decision.is_stored() || !has_joint_forms) {
    if (!decision.weight.is_half()) return;
    sparse.encoding = Encoding::kFloat16;
    plan::group_by_tensor(sparse);
    sparse.group_dims.assign(decision.weight.dims.size(), 1);
    sparse.tables.clear();
    sparse.affine.clear();
    sparse.decoder = Decoder::kDq;
  } else if (is_table) {
    if (decision.palette != PaletteChoice::kTensor) plan::group_by_tensor(sparse);
    sparse.group_dims.assign(decision.weight.dims.size(), 1);
    sparse.row_scales.clear();
    sparse.palette = PaletteChoice::kTensor;
  }
  // The mask must be paid by the zeros alone, not by fewer scales or tables.
  const std::uint64_t values = decision.weight.values();
  if (sparse.encoding == decision.encoding && values + nonzeros * sparse.bits() >= values * sparse.bits())
    return;
  sparse.stored_bytes = bytes_in_file(sparse);
  const std::uint64_t before = decision.is_stored() ? bytes_in_file(decision) : decision.weight.bytes();
  if (sparse.stored_bytes >= before) return;
  if (is_table && sparse.encoding == decision.encoding) fit_palette(sparse, floats, whole, for_each);
  const auto percent = 100.0 * static_cast<double>(nonzeros) / static_cast<double>(values);
  sparse.reason = fmt::format(
      "{}; sparse, as only {:.0f} % of its values are not zero",
      decision.is_stored() ? decision.reason : fmt::format("weight of {}", decision.weight.op_type), percent);
  decision = std::move(sparse);
}

// Decides what depends on the values.
void decide_by_values(Decision& decision, const quant::FloatSource& floats, bool has_joint_forms,
                      const ForEach& for_each) {
  // One range instead of one for each group: there may be millions of blocks.
  plan::TensorPlan whole_tensor = decision;
  plan::group_by_tensor(whole_tensor);
  const kernels::Range whole = plan::read_values(whole_tensor, floats, for_each);
  decision.digest = whole_tensor.digest;
  plan::fit_to_values(decision, floats, whole);
  if (!decision.is_stored() && !(decision.may_be_sparse && whole.finite())) return;
  if (decision.is_stored()) replace_small_scales(decision, whole);
  if (decision.encoding.kind == plan::EncodingKind::kCodebook) {
    fit_palette(decision, floats, whole, for_each);
    decision.stored_bytes = bytes_in_file(decision);
  } else if (decision.is_linear() && decision.layout.groups() < kFewestInFile) {
    decision.affine =
        quant::find_affine(floats, decision.layout, decision.format,
                           quant::find_ranges(floats, decision.layout, for_each), decision.scale, for_each);
  }
  choose_sparse(decision, floats, whole, has_joint_forms, for_each);
}

// Keeps values that several constants share, unless all of them have the same format: they are stored once.
void keep_unequal_shares(std::vector<Decision>& decisions) {
  std::map<std::pair<Bytes, std::uint64_t>, std::vector<Decision*>> shares;
  for (Decision& decision : decisions) {
    const auto& blob = decision.constant->attribute("val")->blob;
    if (blob) shares[{blob->file, blob->offset}].push_back(&decision);
  }
  for (const auto& [place, sharing] : shares) {
    const Decision& first = *sharing.front();
    const bool agree = std::all_of(sharing.begin(), sharing.end(), [&](const Decision* each) {
      return each->encoding == first.encoding && each->group_dims == first.group_dims &&
             each->palette == first.palette && each->is_sparse == first.is_sparse &&
             each->weight.dims == first.weight.dims;
    });
    if (agree) continue;
    for (Decision* decision : sharing) {
      decision->encoding = Encoding::kKeep;
      decision->reason = fmt::format("'{}' uses the same values in another format",
                                     sharing[decision == sharing[0] ? 1 : 0]->weight.name);
    }
  }
}

bool has_format_of_bits(const Recipe& recipe, unsigned bits) {
  return info_of(recipe.format).weight_bits == bits ||
         std::any_of(recipe.nodes.begin(), recipe.nodes.end(),
                     [&](const auto& node) { return info_of(node.second).weight_bits == bits; });
}

// True if iOS18 has better forms for the recipe than iOS16: blocks, 4-bit integers, several lookup tables for
// a tensor, 3 bits.
bool wants_blocks(const Recipe& recipe) {
  const GranularityKind groups = recipe.granularity.kind;
  const bool has_tables = recipe.codebook || info_of(recipe.format).weight_bits < 8;
  return groups == GranularityKind::kBlock || has_format_of_bits(recipe, kBitsOfBlocks) ||
         (info_of(recipe.format).weight_bits == 4 && !recipe.codebook) ||
         (has_tables && groups != GranularityKind::kTensor);
}

// Chooses the version of the result.
Choice choose_version(const CoremlFile& file, const Recipe& recipe, std::vector<std::string>& notes) {
  const std::int64_t own = file.model().proto->version;
  const auto path = file.path().string();
  Choice choice{std::max(own, kFirstConstexpr), ComputeUnit::kAny, own >= kFirstBlocks};
  const auto system_of = [](std::int64_t version) {
    const target::CoremlSystem* system = target::find_coreml_system(version);
    return system == nullptr ? fmt::format("version {}", version)
                             : fmt::format("{} / {}", system->ios, system->macos);
  };
  if (!recipe.target.empty()) {
    const auto target = target::parse_coreml_target(recipe.target);
    if (!target)
      throw Error(
          ErrorCode::kUsage,
          fmt::format("`target` '{}' does not run Core ML models; use a system such as ios18 or macos15",
                      recipe.target),
          path);
    if (own > target->system->version)
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("requires {}, which is newer than `target` {}; convert the model for {}",
                              system_of(own), recipe.target, target->system->ios),
                  path);
    if (!target->system->has_constexpr)
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("{} does not support compressed weights; use `target` ios16 or newer",
                              target->system->ios),
                  path);
    choice.unit = target->unit;
    if (target->system->has_blocks && wants_blocks(recipe)) choice.version = std::max(own, kFirstBlocks);
    choice.has_blocks = choice.version >= kFirstBlocks;
  }
  if (!choice.has_blocks && has_format_of_bits(recipe, kBitsOfBlocks))
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("{}-bit weights need iOS18; use `target` ios18, or another format", kBitsOfBlocks), path);
  if (choice.version == own) return choice;
  const std::vector<std::string> refusing = why_not_raised(file, choice.version);
  if (!refusing.empty())
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("cannot be updated to {}: {}", system_of(choice.version), fmt::join(refusing, "; ")),
        path);
  notes.push_back(
      fmt::format("the result requires {} instead of {}", system_of(choice.version), system_of(own)));
  return choice;
}

// Operations that a newer opset changed incompatibly, with its version. Operations that only got more types
// or optional parameters are not listed. From coremltools 9, converters/mil/mil/ops/defs, iOS16 to iOS18.
struct ChangedOperation {
  std::string_view type;
  std::int64_t version;
  const char* what;
};
constexpr ChangedOperation kChanged[] = {
    {"crop_resize", 7, "its parameters changed"},
    {"crop_resize", 8, "its regions became boxes and indices"},
    {"gather", 8, "negative indices became errors, and its indices are not known"},
    {"gather_along_axis", 8, "negative indices became errors"},
    {"gather_nd", 8, "negative indices became errors"},
    {"gru", 8, "not compared with its older form"},
    {"non_maximum_suppression", 8, "its outputs changed"},
    {"resample", 7, "its parameters changed"},
    {"resample", 8, "its parameters changed"},
    {"scatter", 8, "negative indices became errors"},
    {"scatter_along_axis", 8, "negative indices became errors"},
    {"scatter_nd", 8, "negative indices became errors"},
    {"constexpr_affine_dequantize", 9, "its parameters became inputs"},
    {"constexpr_cast", 9, "its parameters became inputs"},
    {"constexpr_lut_to_dense", 9, "its parameters became inputs"},
    {"constexpr_sparse_to_dense", 9, "its parameters became inputs"},
};

bool has_indices_from_zero(const CoremlFile& file, model::NodeId node) {
  const auto name = bound_name(file.operation(node), "indices");
  const Value* value = name ? file.constant_named(node, *name) : bound_value(file.operation(node), "indices");
  if (value == nullptr) return false;
  const auto indices = integers_of(*value);
  return indices &&
         std::all_of(indices->begin(), indices->end(), [](std::int64_t index) { return index >= 0; });
}

}  // namespace

std::vector<std::string> why_not_raised(const CoremlFile& file, std::int64_t version) {
  constexpr std::size_t kMostNamed = 5;
  const std::int64_t own = file.model().proto->version;
  std::vector<std::string> reasons;
  std::size_t more = 0;
  for (std::size_t g = 0; g < file.graphs().size(); ++g) {
    for (std::size_t i = 0; i < file.graphs()[g].nodes.size(); ++i) {
      const Operation& operation = file.operation({g, i});
      for (const ChangedOperation& row : kChanged) {
        if (row.type != operation.type || row.version <= own || row.version > version) continue;
        if (row.type == "gather" && has_indices_from_zero(file, {g, i})) continue;
        if (reasons.size() < kMostNamed) {
          reasons.push_back(fmt::format("{}: {}", describe(operation), row.what));
        } else {
          ++more;
        }
      }
    }
  }
  if (more != 0) reasons.push_back(fmt::format("and {} more", more));
  return reasons;
}

std::size_t Plan::stored_count() const {
  return static_cast<std::size_t>(
      std::count_if(decisions.begin(), decisions.end(), [](const Decision& d) { return d.is_stored(); }));
}

bool Plan::has_inputs() const { return version >= kFirstBlocks; }

std::string Plan::text() const {
  std::string text = fmt::format("version {}\n", version);
  for (const Decision& decision : decisions)
    text += plan::text_of(decision, fmt::format(" {}{}", fmt::join(decision.group_dims, ","),
                                                decision.is_sparse ? " sparse" : "")) +
            '\n';
  return text;
}

Plan make_plan(const CoremlFile& file, const Recipe& recipe, ThreadPool& pool) {
  if (!file.model().is_program())
    throw Error(ErrorCode::kUnsupported,
                fmt::format("is a {}; only ML Programs can be quantized",
                            name_of_content(file.model().proto->content)),
                file.path().string());
  if (recipe.decoder != DecoderChoice::kAuto)
    throw Error(ErrorCode::kUnsupported, "`decoder` is for ONNX models", file.path().string());
  Plan plan;
  plan.recipe = recipe;
  const Choice choice = choose_version(file, recipe, plan.notes);
  plan.version = choice.version;
  const target::CoremlSystem* const system = target::find_coreml_system(choice.version);
  plan.opset = system == nullptr ? std::string() : std::string(system->opset);
  if (const std::size_t compressed = compressed_weights(file); compressed != 0)
    plan.notes.push_back(fmt::format("{} weights are already compressed and remain unchanged", compressed));
  Planner planner(file, recipe, choice);
  for (const Weight& weight : find_weights(file)) plan.decisions.push_back(planner.decide(weight));
  plan.unmatched = planner.unmatched(plan.notes);
  keep_unequal_shares(plan.decisions);
  std::vector<Decision*> stored;
  for (Decision& decision : plan.decisions) {
    if (decision.is_stored() || decision.may_be_sparse || decision.may_be_exact) stored.push_back(&decision);
  }
  run_jobs(
      pool, stored.size(), [&](std::size_t i) { return stored[i]->weight.bytes(); },
      [&](std::size_t i, const ForEach& for_each) {
        Decision& decision = *stored[i];
        const auto values = file.read(decision.value);
        if (decision.may_be_exact) return choose_exact(decision, values->floats(), plan.has_inputs());
        decide_by_values(decision, values->floats(), plan.has_inputs(), for_each);
      });
  keep_unequal_shares(plan.decisions);  // values may have changed formats
  return plan;
}

}  // namespace ounce::coreml
