#include "search/sensitivity/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/quality.h"
#include "formats/onnx/plan/plan.h"
#include "kernels/affine.h"
#include "kernels/half.h"
#include "quant/layout.h"
#include "search/tune/repair.h"

namespace ounce::search {
namespace {

using plan::Decision;

// Quantizes and dequantizes tiles of a weight, as the runtime would.
class RoundTrip {
 public:
  RoundTrip(const Decision& decision, const quant::FloatSource& source, const ForEach& for_each)
      : decision_(decision), source_(source), affine_(decision.affine) {
    if (!decision.is_linear() || !affine_.empty()) return;
    const auto ranges = decision.ranges.size() == decision.layout.groups()
                            ? decision.ranges
                            : quant::find_ranges(source, decision.layout, for_each);
    affine_ = quant::find_affine(source, decision.layout, decision.format, ranges, decision.scale, for_each);
  }

  void decode(std::size_t first, std::size_t count, float* values) const {
    if (decision_.is_half()) return decode_half(first, count, values);
    std::vector<std::uint8_t> codes(count);
    quant::encode_linear(source_, decision_.layout, decision_.format, affine_, decision_.kernel, first, count,
                         codes.data());
    quant::decode_linear(codes.data(), decision_.layout, decision_.format, affine_, first, count, values);
  }

 private:
  void decode_half(std::size_t first, std::size_t count, float* values) const {
    std::vector<float> scratch;
    std::vector<std::uint16_t> halves(count);
    kernels::HalfStats stats;
    kernels::f32_to_f16(source_.values(first, count, scratch), count, halves.data(), stats);
    kernels::f16_to_f32(reinterpret_cast<const std::byte*>(halves.data()), count, values);
  }

  const Decision& decision_;
  const quant::FloatSource& source_;
  std::vector<kernels::Affine> affine_;
};

kernels::ErrorNorms weight_error(const onnx::Model& model, const Decision& decision,
                                 const ForEach& for_each) {
  if (!decision.is_linear() && !decision.is_half()) return {};
  const plan::TensorSource tensor(model, *decision.place.tensor);
  const quant::FloatSource& source = tensor.floats();
  const RoundTrip trip(decision, source, for_each);
  const std::size_t tile_size = quant::tile_size(decision.layout.inner);
  std::vector<kernels::ErrorNorms> tiles(quant::tile_count(source, tile_size));
  quant::for_each_tile(
      source, tile_size, for_each, [&](std::size_t tile, std::size_t first, std::size_t count) {
        std::vector<float> decoded(count), scratch;
        trip.decode(first, count, decoded.data());
        kernels::error_norms(source.values(first, count, scratch), decoded.data(), count, tiles[tile]);
      });
  kernels::ErrorNorms total;
  for (const kernels::ErrorNorms& tile : tiles) {
    total.signal += tile.signal;
    total.noise += tile.noise;
  }
  return total;
}

// Noise / signal of the inputs and outputs of each INT8 node, by the path of its first output.
std::map<std::string, double> activation_noise(const graph::Index& index, const plan::IntegerPlan& plan) {
  const auto noise_of = [&](std::size_t body, onnx::Bytes name) {
    const auto quantization = plan.activations.find({index.find(body, name).body, name});
    return quantization == plan.activations.end() ? 0 : std::pow(10, -quantization->second.sqnr_db / 10);
  };
  std::map<std::string, double> noise;
  for (const plan::NodeDecision& decision : plan.nodes) {
    if (!decision.is_integer()) continue;
    const onnx::Node& node = *index.bodies()[decision.body].nodes()[decision.node];
    double sum = noise_of(decision.body, node.inputs[0]);
    if (decision.gives_codes) sum += noise_of(decision.body, decision.output);
    noise[graph::value_path(index, decision.body, node.outputs[0])] = sum;
  }
  return noise;
}

}  // namespace

std::vector<double> estimate_noise(const quantization::PreparedModel& prepared, const Recipe& recipe,
                                   const std::vector<Layer>& layers) {
  const onnx::Model& model = prepared.model();
  const graph::Index& index = prepared.index();
  ThreadPool pool;
  const plan::Plan plan = plan::make_plan(model, index, recipe, pool, prepared.ranges());
  std::map<std::string, std::size_t> decisions;
  for (std::size_t i = 0; i < plan.decisions.size(); ++i) {
    const model::WeightSite& weight = plan.decisions[i].weight;
    decisions[graph::value_path(index, weight.graph, weight.name)] = i;
  }
  std::vector<kernels::ErrorNorms> errors(plan.decisions.size());
  run_jobs(
      pool, errors.size(), [&](std::size_t i) { return plan.decisions[i].weight.bytes(); },
      [&](std::size_t i, const ForEach& for_each) {
        if (plan.decisions[i].weight.fits_nbits())
          errors[i] = weight_error(model, plan.decisions[i], for_each);
      });
  const std::map<std::string, double> activations = activation_noise(index, plan.integer);
  std::vector<double> noise;
  for (const Layer& layer : layers) {
    kernels::ErrorNorms weights;
    for (const std::string& weight : layer.weights) {
      const auto found = decisions.find(weight);
      if (found == decisions.end()) continue;
      weights.signal += errors[found->second].signal;
      weights.noise += errors[found->second].noise;
    }
    const auto around = activations.find(layer.output);
    noise.push_back((weights.signal > 0 ? weights.noise / weights.signal : 0) +
                    (around == activations.end() ? 0 : around->second));
  }
  return noise;
}

namespace {

constexpr double kNotable = 0.1;   // smallest share of the noise that is reported
constexpr double kSeveral = 3;     // share of the noise / share of the weights (or even share) of an outlier
constexpr std::size_t kWorst = 3;  // number of groups that count as the worst

struct Part {
  double noise = 0, weights = 0;  // shares
  std::size_t groups = 0;
};

class Findings {
 public:
  explicit Findings(const SensitivityResult& result) {
    for (const GroupSensitivity& group : result.groups) {
      if (!group.is_measured) continue;
      groups_.push_back(&group);
      weights_ += static_cast<double>(group.weight_bytes);
    }
    is_harmless_ = result.all_db >= Quality::kHarmless;
  }

  std::vector<std::string> find() {
    if (groups_.empty()) return {};
    if (is_harmless_) return {"no layer is sensitive: the output error is negligible"};
    add_standout();
    add_end(&GroupSensitivity::is_first, "first");
    add_end(&GroupSensitivity::is_last, "last");
    add_attention();
    if (findings_.empty() && groups_.size() > 1)
      findings_.emplace_back("no layer is much more sensitive than the others");
    return std::move(findings_);
  }

 private:
  template <class Is>
  Part part_of(Is is) const {
    Part part;
    for (const GroupSensitivity* group : groups_) {
      if (!is(*group)) continue;
      part.noise += group->share;
      part.weights += weights_ > 0 ? static_cast<double>(group->weight_bytes) / weights_ : 0;
      ++part.groups;
    }
    return part;
  }
  static std::string shares(const Part& part) {
    return fmt::format("{:.0f} % of the noise, {:.1f} % of the weights", 100 * part.noise,
                       100 * part.weights);
  }

  // Reports the worst group if it causes several times an even share of the noise, or at least half of it.
  void add_standout() {
    const GroupSensitivity& worst = *groups_.front();
    if (groups_.size() < 2 || worst.is_first || worst.is_last) return;
    const double even = 1.0 / static_cast<double>(groups_.size());
    if (worst.share < 0.5 && (worst.share < kSeveral * even || worst.share < 2 * groups_[1]->share)) return;
    if (worst.share < kNotable) return;
    findings_.push_back(
        fmt::format("'{}' is by far the most sensitive: {}", worst.name,
                    shares(part_of([&](const GroupSensitivity& group) { return &group == &worst; }))));
  }

  void add_end(bool GroupSensitivity::*is_end, const char* which) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const GroupSensitivity& group = *groups_[i];
      if (!(group.*is_end) || groups_.size() < 2 * kWorst) continue;
      const Part part = part_of([&](const GroupSensitivity& other) { return &other == &group; });
      const bool is_worst = i < kWorst && part.noise >= kNotable && part.noise >= part.weights;
      if (!is_worst && (part.noise < kNotable || part.noise < kSeveral * part.weights)) continue;
      findings_.push_back(fmt::format("the {} layer, '{}', is {}sensitive, as usual: {}", which, group.name,
                                      i == 0 ? "the most " : "", shares(part)));
      return;
    }
  }

  void add_attention() {
    const Part part = part_of([](const GroupSensitivity& group) { return group.is_attention; });
    if (part.groups == 0 || part.groups == groups_.size()) return;
    if (part.noise < 0.5 || part.noise < 1.5 * part.weights) return;
    findings_.push_back(fmt::format("attention is sensitive: {} layers cause {}", part.groups, shares(part)));
  }

  std::vector<const GroupSensitivity*> groups_;  // measured, worst first
  double weights_ = 0;
  bool is_harmless_ = false;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> find_findings(const SensitivityResult& result) { return Findings(result).find(); }

namespace {

constexpr int kMostTries = 16;

// Returns the smallest single group whose exclusion is enough. These variants have been measured.
std::optional<std::size_t> one_that_is_enough(const std::vector<GroupNoise>& groups, double limit) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].alone || !groups[i].without || !(*groups[i].without <= limit)) continue;
    if (!found || groups[i].bytes < groups[*found].bytes) found = i;
  }
  return found;
}

}  // namespace

Exclusion choose_exclusion(const std::vector<GroupNoise>& groups, double all, double limit,
                           const std::function<double(const std::set<std::size_t>&)>& measure) {
  Exclusion best{{}, std::min(all, kDestroyed), all <= limit};
  if (best.is_enough) return best;
  if (const auto one = one_that_is_enough(groups, limit)) return {{*one}, *groups[*one].without, true};
  std::vector<std::size_t> known;  // measured groups
  std::vector<Option> options;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].alone) continue;
    known.push_back(i);
    options.push_back({*groups[i].alone, static_cast<double>(groups[i].bytes + 1)});
  }
  int tries = 0;
  const auto passes = [&](const Indices& some) {
    ++tries;
    std::set<std::size_t> chosen;
    for (const std::size_t i : some) chosen.insert(known[i]);
    const double noise = std::min(measure(chosen), kDestroyed);
    const bool is_enough = noise <= limit;
    const bool is_better = is_enough ? !best.is_enough || chosen.size() < best.groups.size()
                                     : !best.is_enough && !(noise >= best.noise);
    if (is_better) best = {std::move(chosen), noise, is_enough};
    return is_enough;
  };
  const PassingTest ask{passes, [&] { return tries < kMostTries; }};
  auto found = cheapest_passing(options, all, limit, ask);
  if (!found) return best;
  std::stable_sort(found->begin(), found->end(),
                   [&](std::size_t a, std::size_t b) { return options[a].cost < options[b].cost; });
  drop_unneeded(*found, ask);
  return best;
}

}  // namespace ounce::search
