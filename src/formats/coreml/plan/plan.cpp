#include "formats/coreml/plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "formats/coreml/file/values.h"
#include "plan/weights/selection.h"
#include "plan/weights/storage.h"
#include "recipe/format_info.h"
#include "target/coreml.h"

namespace ounce::coreml {
namespace {

constexpr std::int64_t kFirstConstexpr = 7, kFirstBlocks = 9;  // versions: iOS16, iOS18
constexpr std::size_t kBlock = 32;
constexpr std::size_t kSmallestBlock = 16;  // smaller blocks need too many scales
// Channels that share a lookup table: Apple's guide finds groups of 8 or 16 fast on the Neural Engine.
constexpr std::size_t kPaletteGroup = 16;
constexpr std::size_t kMostAffineKept = std::size_t{1} << 18;
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
  const std::uint64_t codes = (decision.weight.values() * bits + 7) / 8 + kDescription;
  if (decision.is_half()) return codes;
  if (!decision.is_linear()) return codes + (groups << bits) * width + kDescription;
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
    if (decision.reason.empty()) decision.reason = why_as_it_is(weight, format);
    if (!decision.reason.empty()) return decision;
    if (!plan::choose_half(decision, recipe_, wanted)) choose_codes(decision, weight, format);
    if (!decision.is_stored()) return decision;
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
  static std::string why_as_it_is(const Weight& weight, Format format) {
    if (std::string why = plan::why_all_bits(weight, format); !why.empty()) return why;
    if (weight.type != ElementType::kFloat && weight.type != ElementType::kFloat16)
      return fmt::format("is {}, which cannot be compressed", name_of(weight.type));
    if (weight.fits_nbits()) return {};
    return fmt::format("small parameter of {}", weight.op_type);
  }

  void choose_codes(Decision& decision, const Weight& weight, Format format) {
    const bool is_for_tables = recipe_.codebook || (info_of(format).weight_bits == 4 && prefers_tables());
    plan::choose_codes(decision, recipe_, format, true);
    if (is_for_tables) decision.encoding = plan::encoding_of(plan::EncodingKind::kCodebook, decision.bits());
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

  // Chooses a per-tensor table, or tables for groups of channels on the Neural Engine.
  void choose_tables(Decision& decision) const {
    one_group(decision);
    const bool is_grouped = choice_.has_blocks && choice_.unit == ComputeUnit::kNeuralEngine &&
                            decision.encoding == plan::encoding_of(plan::EncodingKind::kCodebook, 4) &&
                            decision.weight.channels;
    if (!is_grouped) return;
    const std::size_t axis = decision.weight.channels->first;
    const auto channels = static_cast<std::size_t>(decision.weight.dims[axis]);
    const std::size_t group = largest_divisor(channels, kPaletteGroup);
    if (group < 4) {
      decision.reason +=
          fmt::format(", {} channels cannot be divided into groups of up to {}", channels, kPaletteGroup);
      return;
    }
    plan::group_by_channel(decision);
    decision.layout.channels = channels / group;
    decision.layout.inner *= group;
    decision.group_dims[axis] = static_cast<std::int64_t>(channels / group);
    decision.reason += fmt::format(", a lookup table for {} channels", group);
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
  decision.affine = {};
  decision.ranges = {whole};
  plan::group_by_tensor(decision);
  decision.group_dims.assign(decision.weight.dims.size(), 1);
  decision.reason += ", a lookup table because scales would be too small for FP16";
  decision.stored_bytes = bytes_in_file(decision);
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
    const bool wants_blocks = recipe.granularity.kind == GranularityKind::kBlock ||
                              (info_of(recipe.format).weight_bits == 4 && !recipe.codebook);
    if (target->system->has_blocks && wants_blocks) choice.version = std::max(own, kFirstBlocks);
    choice.has_blocks = choice.version >= kFirstBlocks;
  }
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
    text += plan::text_of(decision, fmt::format(" {}", fmt::join(decision.group_dims, ","))) + '\n';
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
    if (decision.is_stored()) stored.push_back(&decision);
  }
  run_jobs(
      pool, stored.size(), [&](std::size_t i) { return stored[i]->weight.bytes(); },
      [&](std::size_t i, const ForEach& for_each) {
        Decision& decision = *stored[i];
        const auto values = file.read(decision.value);
        const quant::FloatSource& floats = values->floats();
        const kernels::Range whole = plan::read_values(decision, floats, for_each);
        plan::fit_to_values(decision, floats, whole);
        replace_small_scales(decision, whole);
        if (decision.is_linear() && decision.layout.groups() <= kMostAffineKept)
          decision.affine = quant::find_affine(floats, decision.layout, decision.format, decision.ranges,
                                               decision.scale, for_each);
        plan::forget_many_ranges(decision);
      });
  keep_unequal_shares(plan.decisions);  // replace_small_scales() may have changed formats
  return plan;
}

}  // namespace ounce::coreml
