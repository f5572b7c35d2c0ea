#include "search/advise/methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>
#include <ounce/model.h>

#include <algorithm>
#include <cmath>

#include "base/quality.h"
#include "evaluate/compare/gates.h"
#include "formats/onnx/view/onnx_file.h"
#include "recipe/format_info.h"
#include "search/advise/family.h"
#include "search/advise/methods.h"
#include "target/litert/litert_target.h"
#include "target/target.h"

namespace ounce::search {
namespace {

const MethodFinding* find_measured(const AdviseResult& result, Format format) {
  for (const MethodFinding& method : result.methods) {
    if (method.format == format && method.is_measured) return &method;
  }
  return nullptr;
}

class Risks {
 public:
  Risks(const model::ModelFile& file, const AdviseOptions& options, const AdviseResult& result)
      : file_(file), options_(options), result_(result) {}

  std::vector<Risk> run() {
    if (result_.family.family == ModelFamily::kTrees) return std::move(risks_);
    const auto* const onnx = dynamic_cast<const onnx::OnnxFile*>(&file_);
    if (onnx != nullptr) look_at_masks(*onnx);
    look_at_accumulation();
    if (onnx != nullptr) look_at_probabilities(*onnx);
    if (onnx != nullptr) look_at_weights(*onnx);
    look_at_activations();
    look_at_floats();
    look_at_memory();
    look_at_shapes();
    look_at_labels();
    look_at_target();
    return std::move(risks_);
  }

 private:
  void add(const char* name, std::string evidence, std::string advice = {}) {
    risks_.push_back({name, std::move(evidence), std::move(advice)});
  }

  void look_at_masks(const onnx::OnnxFile& file) {
    std::vector<std::string> masks;
    for (const MaskConstant& mask : find_masks(file.model(), file.index())) {
      if (mask.value < 0) masks.push_back(fmt::format("'{}' = {:g}", mask.name, mask.value));
    }
    if (masks.empty()) return;
    add("attention_mask", fmt::format("mask constants reach Softmax: {}", fmt::join(masks, ", ")),
        "an INT8 range that includes the mask would round all scores to one value: keep the masked sum in "
        "FP32, as int8-dynamic does; the smallest FP16 value is -65504");
  }

  void look_at_accumulation() {
    if (result_.family.is_autoregressive)
      add("accumulating_errors", "autoregressive: outputs are fed back as inputs, so errors accumulate",
          "measure whole sequences (metric nll or generated text), not single steps");
    std::vector<std::string> carried, lost;
    for (const auto& [input, output] : result_.family.states) {
      auto& list = options_.data.carry.contains(input) ? carried : lost;
      list.push_back(fmt::format("{}={}", input, output));
    }
    if (!carried.empty())
      add("accumulating_errors",
          fmt::format("a recurrent state carries errors from run to run ({})", fmt::join(carried, ", ")),
          "these figures include them, because sequences were run; longer sequences may lose more");
    if (!lost.empty())
      add("state_not_carried",
          fmt::format("these inputs look like recurrent states: {}", fmt::join(lost, ", ")),
          fmt::format("each run started from the data's state, so accumulated errors were not measured: give "
                      "`carry` {}",
                      fmt::join(lost, " `carry` ")));
  }

  void look_at_probabilities(const onnx::OnnxFile& file) {
    std::vector<std::string_view> last;
    for (const Op op : {Op::kSoftmax, Op::kSigmoid}) {
      if (ends_in(file.model(), file.index(), op)) last.push_back(ops::info(op).name);
    }
    if (last.empty() && ends_in_logistic(file.model(), file.index())) last.emplace_back("1 / (1 + Exp)");
    for (const std::string_view op : last) {
      add("probabilities", fmt::format("outputs are probabilities ({})", op),
          "quantization shifts probabilities even if predictions do not change: check your thresholds, and "
          "the calibration with `metric=ece` or `metric=brier`");
    }
  }

  void look_at_weights(const onnx::OnnxFile& file) {
    const WeightSurvey survey = survey_weights(file.model(), file.index());
    if (!survey.widest.empty()) {
      const WeightSpread& worst = survey.widest.front();
      add("wide_weights",
          fmt::format(
              "{} of {} weights have outliers over {:.0f}× their root mean square; '{}' ({}): {:.0f}×",
              survey.widest.size(), survey.weights, kWideWeight, worst.name, worst.op_type, worst.peak),
          "a scale that covers the outliers is coarse for all other values");
    }
    if (!survey.uneven.empty()) {
      const WeightSpread& worst = survey.uneven.front();
      add("uneven_channels",
          fmt::format(
              "channel ranges of {} of {} weights differ by a factor of over {:.0f}; those of '{}' by "
              "{:.0f}",
              survey.uneven.size(), survey.weights, kWideChannels, worst.name, worst.channels),
          "a per-tensor scale would lose the small channels: keep per-channel scales");
    }
    if (2 * survey.tiny > survey.weights)
      add("small_layers",
          fmt::format("{} of {} weights are smaller than {} bytes", survey.tiny, survey.weights, kTinyLayer),
          "in such small layers, quantizing and dequantizing costs more time than INT8 saves");
  }

  void look_at_activations() {
    const MethodFinding* found = find_measured(result_, format_with(Arithmetic::kStatic));
    if (found == nullptr || found->worst_activation.empty() || found->worst_activation_db >= Quality::kGood)
      return;
    add("wide_activations",
        fmt::format("activation '{}' has an SQNR of only {:.1f} dB in 8 bits", found->worst_activation,
                    found->worst_activation_db),
        "a few large values widen its range: `tune()` keeps such layers in FP32");
  }

  void look_at_floats() {
    for (const Format format : formats_of(Family::kInteger)) {
      const MethodFinding* found = find_measured(result_, format);
      if (found == nullptr || found->left_in_floats.empty()) continue;
      const std::size_t all = found->integer_nodes + found->float_nodes;
      if (static_cast<double>(found->float_nodes) < kFloatShare * static_cast<double>(all)) continue;
      add("stays_in_floats", fmt::format("{} of {} ops are kept in FP32 even with {}; {}", found->float_nodes,
                                         all, name_of(format), found->left_in_floats.front()));
      return;
    }
  }

  void look_at_memory() {
    const MethodFinding* found = find_measured(result_, weight_only(8));
    const std::uint64_t before = result_.baseline.peak_memory;
    // Weights much smaller than the runtime itself do not show in its memory.
    const bool shows = result_.bytes > before / 10;
    if (found == nullptr || before == 0 || !shows || found->peak_memory < before * 9 / 10) return;
    add("memory_stays",
        fmt::format(
            "w8 takes {:.0f} % of the file size but {:.0f} % of the memory: {:.0f} MB (original: {:.0f} MB)",
            100 * found->ratio, 100 * static_cast<double>(found->peak_memory) / static_cast<double>(before),
            static_cast<double>(found->peak_memory) / 1e6, static_cast<double>(before) / 1e6),
        "compressed weights are dequantized to FP32 at load; with `memory=balanced` or `memory=low` they are "
        "dequantized at run time");
  }

  bool is_state(const std::string& input) const {
    const auto& states = result_.family.states;
    return std::any_of(states.begin(), states.end(), [&](const auto& state) { return state.first == input; });
  }

  void look_at_shapes() {
    std::vector<std::string> free;
    for (const model::Port& input : file_.inputs()) {
      if (is_state(input.name)) continue;
      for (std::size_t i = 1; i < input.shape.size(); ++i) {  // the first one is the batch
        if (input.shape[i].value <= 0) {
          free.push_back(fmt::format("'{}'", input.name));
          break;
        }
      }
    }
    if (free.empty()) return;
    add("free_shapes", fmt::format("inputs with dynamic axes: {}", fmt::join(free, ", ")),
        result_.is_generated ? "speeds were measured at a default length: give `data` or `shape`"
                             : "speeds were measured at the length of the first sample");
  }

  void look_at_labels() {
    for (const MethodFinding& method : result_.methods) {
      if (!method.is_faster(kWorthwhileSpeed) || !method.metric) continue;
      const MetricResult& metric = *method.metric;
      const double scale = std::max(evaluate::loss_scale(metric), 1e-9);
      // The resolution of an accuracy is one sample.
      const bool is_plain = metric.unit == MetricUnit::kAbsolute || metric.unit == MetricUnit::kDecibel;
      const char* unit = metric.unit == MetricUnit::kDecibel ? " dB" : is_plain ? "" : " %";
      const double shown = is_plain ? 1 : 100;
      const double step = metric.unit == MetricUnit::kShare
                              ? 1.0 / static_cast<double>(std::max<std::uint64_t>(1, result_.quality_samples))
                              : 0;
      const double doubt = std::max(step, (metric.drop_high - metric.drop_low) / 2 / scale);
      if (!(doubt > options_.max_drop)) continue;
      add("few_labels",
          fmt::format("with {} labeled samples, {} is only known to ±{:.2f}{}", result_.quality_samples,
                      metric.name, shown * doubt, unit),
          fmt::format("add labeled samples to detect a loss of {:g}{}", shown * options_.max_drop, unit));
      return;
    }
  }

  void look_at_target() {
    const bool is_place = target::names_litert(options_.target) ||
                          (!options_.target.empty() && target::parse_target(options_.target).is_place());
    if (!is_place) return;
    CheckOptions check_options;
    check_options.targets = {options_.target};
    const CheckReport report = check(result_.model, check_options);
    for (const TargetCheck& found : report.targets) {
      if (found.broken + found.slow == 0 && found.problems.empty()) continue;
      std::vector<std::string> what = found.problems;
      for (const NodeFinding& node : found.findings) {
        if (node.verdict != Verdict::kUnknown) what.push_back(fmt::format("{}: {}", node.op_type, node.why));
      }
      add("target",
          fmt::format("original on {}: {} nodes do not run, {} run slowly; {}", found.target, found.broken,
                      found.slow, what.empty() ? "" : what.front()),
          "see ounce check");
    }
    add("other_machine", "speeds were measured on this machine",
        fmt::format("time the result on {} with `bench() with remote.via`", options_.target));
  }

  const model::ModelFile& file_;
  const AdviseOptions& options_;
  const AdviseResult& result_;
  std::vector<Risk> risks_;
};

}  // namespace

std::vector<Risk> find_risks(const model::ModelFile& file, const AdviseOptions& options,
                             const AdviseResult& result) {
  return Risks(file, options, result).run();
}

std::vector<std::string> find_missing(const AdviseOptions& options, const AdviseResult& result) {
  std::vector<std::string> missing;
  if (result.family.family == ModelFamily::kTrees || result.family.is_quantized) return missing;
  if (options.data.is_generated()) {
    missing.emplace_back(
        "data (`data`): int8 needs calibration data, and quality was measured on random inputs only");
    return missing;
  }
  if (options.data.labels.empty() && result.family.family != ModelFamily::kAudioGenerator)
    missing.emplace_back("labels (`labels`): agreement with the original was measured, accuracy was not");
  if (result.samples != 0 && result.samples < kFewSamples)
    missing.push_back(fmt::format("more samples: {} are too few for reliable figures, give at least {}",
                                  result.samples, kFewSamples));
  return missing;
}

}  // namespace ounce::search
