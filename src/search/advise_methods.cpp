#include "search/advise_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "plan/dynamic_ops.h"
#include "search/advise_rules.h"
#include "target/provider.h"
#include "target/target.h"

namespace ounce::search {
namespace {

bool computes_halves(const std::string& target) {
  const target::Provider* provider = target::find_provider(target::parse_target(target).provider);
  return provider != nullptr && provider->computes_fp16;
}

bool is_convolutional(ModelFamily family) {
  return family == ModelFamily::kCnn || family == ModelFamily::kDetector ||
         family == ModelFamily::kAudioGenerator;
}

// Of the weights, that dynamic could compute with.
double share_of_products(const FamilyFinding& family) {
  std::uint64_t bytes = 0;
  for (const NamedCount& weight : family.weights) {
    if (plan::gains_by_dynamic(weight.name)) bytes += weight.bytes;
  }
  return family.weight_bytes == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(family.weight_bytes);
}

}  // namespace

std::vector<Format> methods_for(const AdviseOptions& options, const FamilyFinding& family) {
  using enum Format;
  std::vector<Format> methods = is_convolutional(family.family)
                                    ? std::vector{kStatic, kW8, kDynamic, kW16, kW4}
                                    : std::vector{kDynamic, kW8, kStatic, kW4, kW16};
  methods.insert(computes_halves(options.target) ? methods.begin() : methods.end(), kFp16);
  return methods;
}

double effort(Format format) {
  switch (format) {
    case Format::kW16: return 0.7;
    case Format::kW4: return 3;
    case Format::kDynamic:
    case Format::kStatic: return 2;
    default: return 1;
  }
}

std::string obstacle(Format format, const AdviseOptions& options, const FamilyFinding& family) {
  if (format == Format::kStatic && options.data.is_generated())
    return "needs data to calibrate on: give `data`";
  const double share = share_of_products(family);
  if (format != Format::kDynamic || share >= kDynamicShare) return {};
  return share == 0 ? "there is no MatMul, Gemm, LSTM or attention with weights"
                    : fmt::format("only {:.1f} % of the weights are those of MatMul, Gemm, LSTM or attention",
                                  100 * share);
}

void describe(const QuantizeResult& made, MethodFinding& finding) {
  finding.bytes = made.bytes_after;
  finding.ratio = made.ratio();
  std::map<std::string, std::size_t> reasons;
  for (const NodeOutcome& node : made.nodes) {
    ++(node.arithmetic == Arithmetic::kFloat ? finding.float_nodes : finding.integer_nodes);
    if (node.arithmetic == Arithmetic::kFloat) ++reasons[fmt::format("{}: {}", node.op_type, node.reason)];
  }
  std::vector<std::pair<std::size_t, std::string>> sorted;
  for (const auto& [reason, count] : reasons) sorted.emplace_back(count, reason);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [count, reason] : sorted)
    finding.left_in_floats.push_back(fmt::format("{} {}", count, reason));
  for (const ActivationOutcome& value : made.activations) {
    if (!finding.worst_activation.empty() && value.sqnr_db >= finding.worst_activation_db) continue;
    finding.worst_activation = value.name;
    finding.worst_activation_db = value.sqnr_db;
  }
  const bool is_integer = finding.format == Format::kStatic || finding.format == Format::kDynamic;
  if (!is_integer || finding.integer_nodes != 0) return;
  finding.why_not = "no op can compute on integers";
  if (!finding.left_in_floats.empty())
    finding.why_not += fmt::format(" ({})", finding.left_in_floats.front());
}

}  // namespace ounce::search
