#include "search/advise/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "base/text.h"
#include "formats/onnx/plan/integer_candidates.h"
#include "formats/onnx/plan/plan.h"
#include "formats/onnx/plan/weights.h"
#include "recipe/format_info.h"
#include "target/litert/litert_target.h"
#include "target/target.h"

namespace ounce::search {
namespace {

bool computes_halves(const std::string& target) {
  if (target::names_litert(target)) return false;
  const target::Provider* provider = target::find_provider(target::parse_target(target).provider);
  return provider != nullptr && provider->computes_fp16;
}

bool is_convolutional(ModelFamily family) {
  return family == ModelFamily::kCnn || family == ModelFamily::kDetector ||
         family == ModelFamily::kAudioGenerator;
}

// The share of weights whose nodes have dynamic INT8 kernels.
double share_of_products(const FamilyFinding& family) {
  std::uint64_t bytes = 0;
  for (const NamedCount& weight : family.weights) {
    if (plan::gains_by_dynamic(weight.name)) bytes += weight.bytes;
  }
  return family.weight_bytes == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(family.weight_bytes);
}

}  // namespace

std::vector<Format> methods_for(ModelKind kind, const AdviseOptions& options, const FamilyFinding& family) {
  using enum Format;
  std::vector<Format> methods = is_convolutional(family.family)
                                    ? std::vector{kInt8, kW8, kInt8Dynamic, kW16, kW4}
                                    : std::vector{kInt8Dynamic, kW8, kInt8, kW4, kW16};
  methods.insert(computes_halves(options.target) ? methods.begin() : methods.end(), kFp16);
  std::erase_if(methods, [kind](Format format) { return !why_not_for(kind, format).empty(); });
  return methods;
}

std::string obstacle(ModelKind kind, Format format, const AdviseOptions& options,
                     const FamilyFinding& family) {
  if (info_of(format).needs_data && options.data.is_generated()) return "needs calibration data: give `data`";
  if (kind != ModelKind::kOnnx) return {};  // quantize() chooses the operators, and says so if there are none
  const double share = share_of_products(family);
  if (!is_dynamic(format) || share >= kDynamicShare) return {};
  return share == 0 ? "no MatMul, Gemm, LSTM or attention with weights"
                    : fmt::format("only {:.1f} % of the weights belong to MatMul, Gemm, LSTM or attention",
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
  if (!is_integer(finding.format) || finding.integer_nodes != 0) return;
  finding.why_not = "no op can run in INT8";
  if (!finding.left_in_floats.empty())
    finding.why_not += fmt::format(" ({})", finding.left_in_floats.front());
}

namespace {

constexpr std::uint64_t kMostValues = 100'000'000;  // weights that are read, in a fraction of a second
constexpr std::size_t kTile = 65536;

// Maps a value to its channel: axes [first, last) of the tensor, flattened.
struct Channels {
  std::size_t count = 1, inner = 1;

  explicit Channels(const plan::Weight& weight) {
    if (!weight.channels) return;
    for (std::size_t axis = weight.channels->first; axis < weight.tensor->dims.size(); ++axis)
      (axis < weight.channels->last ? count : inner) *= static_cast<std::size_t>(weight.tensor->dims[axis]);
  }
  std::size_t of(std::size_t position) const { return position / inner % count; }
};

WeightSpread spread_of(const onnx::Model& model, const plan::Weight& weight) {
  const plan::TensorSource source(model, *weight.tensor);
  const Channels channels(weight);
  std::vector<float> peaks(channels.count), scratch;
  double squares = 0;
  const std::size_t size = source.floats().size();
  for (std::size_t first = 0; first < size; first += kTile) {
    const std::size_t count = std::min(kTile, size - first);
    const std::byte* bytes = source.floats().values(first, count, scratch);
    for (std::size_t i = 0; i < count; ++i) {
      float value = 0;
      std::memcpy(&value, bytes + i * sizeof value, sizeof value);
      squares += static_cast<double>(value) * value;
      float& peak = peaks[channels.of(first + i)];
      peak = std::max(peak, std::fabs(value));
    }
    source.floats().release(first, count);
  }
  WeightSpread spread{std::string(weight.name), weight.op_type, 0, 1};
  const double rms = std::sqrt(squares / static_cast<double>(size));
  const float largest = *std::max_element(peaks.begin(), peaks.end());
  if (rms > 0 && std::isfinite(rms)) spread.peak = largest / rms;
  float smallest = largest;
  for (const float peak : peaks) smallest = peak > 0 ? std::min(smallest, peak) : smallest;
  if (smallest > 0) spread.channels = static_cast<double>(largest) / smallest;
  return spread;
}

}  // namespace

WeightSurvey survey_weights(const onnx::Model& model, const graph::Index& index) {
  WeightSurvey survey;
  std::uint64_t seen = 0;
  for (const plan::Weight& weight : plan::find_weights(index)) {
    if (!weight.fits_nbits() || weight.tensor->element_count() == 0) continue;
    ++survey.weights;
    if (weight.tensor->byte_count() < kTinyLayer) {
      ++survey.tiny;
      continue;
    }
    seen += weight.tensor->element_count();
    survey.is_whole = survey.is_whole && seen <= kMostValues;
    if (!survey.is_whole) continue;
    const WeightSpread spread = spread_of(model, weight);
    if (spread.peak > kWideWeight) survey.widest.push_back(spread);
    if (spread.channels > kWideChannels) survey.uneven.push_back(spread);
  }
  std::stable_sort(survey.widest.begin(), survey.widest.end(),
                   [](const auto& a, const auto& b) { return a.peak > b.peak; });
  std::stable_sort(survey.uneven.begin(), survey.uneven.end(),
                   [](const auto& a, const auto& b) { return a.channels > b.channels; });
  return survey;
}

namespace {

constexpr std::size_t kPromising = 3;  // number of methods that a proposed budget should allow
constexpr double kFirstChance = 2;     // the first method is tried if its estimate is below 2× the time left

class Trying {
 public:
  Trying(MethodLab& lab, std::vector<MethodFinding>& methods) : lab_(lab), methods_(methods) {}

  double run() {
    std::vector<MethodFinding*> open;
    for (MethodFinding& method : methods_) {
      if (method.why_not.empty()) open.push_back(&method);
    }
    // A second pass for methods that did not fit: by now, estimates are better.
    try_all(try_all(open));
    time_again();
    for (MethodFinding& method : methods_) make_certain(method);
    double missing = 0;
    for (std::size_t i = 0; i < std::min(methods_.size(), kPromising); ++i) {
      const MethodFinding& method = methods_[i];
      if (method.is_out_of_time) missing += estimate(method);
      if (method.is_measured && method.speed_up.rounds < SpeedUp::kLeastRounds)
        missing += lab_.timing_estimate();
    }
    return missing;
  }

 private:
  double estimate(const MethodFinding& method) const {
    return lab_.making_estimate(method.format) + lab_.timing_estimate();
  }

  // Returns the methods that did not fit.
  std::vector<MethodFinding*> try_all(const std::vector<MethodFinding*>& open) {
    std::vector<MethodFinding*> left_out;
    for (std::size_t i = 0; i < open.size(); ++i) {
      MethodFinding& method = *open[i];
      const double wanted = estimate(method), chance = has_tried_ ? 1 : kFirstChance;
      if (wanted <= chance * lab_.left()) {
        attempt(method, left_out.size() + open.size() - i);
        continue;
      }
      method.is_out_of_time = true;
      method.why_not = fmt::format("not enough time: about {:.0f} s needed", std::max(1.0, wanted));
      left_out.push_back(&method);
    }
    return left_out;
  }

  // Each method gets an equal share of the time. Time left after making it is used for timing.
  void attempt(MethodFinding& method, std::size_t methods_left) {
    has_tried_ = true;
    method.is_out_of_time = false;
    method.why_not.clear();
    const double before = lab_.left(), share = before / static_cast<double>(methods_left);
    lab_.make(std::max(before - lab_.timing_estimate(), before / 2), method);
    if (!method.is_measured) return;
    const double used = before - lab_.left();
    lab_.time(std::max(share - used, lab_.timing_estimate()), method);
    if (method.is_faster(kWorthwhileSpeed)) make_certain(method);
  }

  void make_certain(MethodFinding& method) {
    const double wanted = method.is_uncertain ? lab_.certainty_estimate(method) : 0;
    if (wanted > 0 && wanted <= lab_.left()) lab_.compare_more(lab_.left(), method);
  }

  // Gives the remaining time to methods that were cut short or timed while the machine was busy.
  void time_again() {
    for (MethodFinding& method : methods_) {
      if (method.is_measured && !method.is_timed() && lab_.timing_estimate() <= lab_.left())
        lab_.time(lab_.timing_estimate(), method);
    }
  }

  MethodLab& lab_;
  std::vector<MethodFinding>& methods_;
  bool has_tried_ = false;
};

}  // namespace

double try_methods(MethodLab& lab, std::vector<MethodFinding>& methods) { return Trying(lab, methods).run(); }

namespace {

std::vector<std::string> words_of(const DataOptions& data) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  if (!data.path.empty()) add("--data", data.path.string());
  for (const auto& [input, path] : data.paths) add("--data", input + "=" + path.string());
  for (const auto& [input, field] : data.fields) add("--input", input + "=" + field);
  for (const auto& [input, value] : data.constants) add("--set", fmt::format("{}={}", input, value));
  for (const auto& [input, output] : data.carry) add("--carry", input + "=" + output);
  for (const auto& [name, length] : data.shape) add("--shape", fmt::format("{}={}", name, length));
  if (!data.labels.empty()) add("--labels", data.labels);
  if (data.first != 0) add("--first", fmt::format("{}", data.first));
  if (data.samples != 0) add("--samples", fmt::format("{}", data.samples));
  if (data.parts != 1) add("--part", fmt::format("{}/{}", data.part + 1, data.parts));
  return words;
}

}  // namespace

CommandWriter::CommandWriter(const AdviseOptions& options, const AdviseResult& result)
    : options_(options),
      result_(result),
      words_(options.data_words.empty() ? words_of(options.data) : options.data_words) {}

std::string CommandWriter::quantize(Format format) const {
  std::string line =
      fmt::format("ounce quantize {} --to {}{}", quoted(result_.model.string()), name_of(format), target());
  if (!info_of(format).needs_data) return line;
  return line + data(false, Part::kCalibrating);
}

std::string CommandWriter::tune() const {
  std::string line = fmt::format("ounce tune {}{}{}", quoted(result_.model.string()), target(),
                                 data(true, Part::kCalibrating));
  return line + gates() + runtime();
}

std::string CommandWriter::verify_tuned() const {
  std::filesystem::path candidate = result_.model;
  candidate.replace_extension(".tuned" + result_.model.extension().string());
  return fmt::format("ounce verify {} {}{}", quoted(result_.model.string()), quoted(candidate.string()),
                     data(true, Part::kJudging)) +
         gates() + runtime();
}

std::string CommandWriter::verify(Format format) const {
  const std::filesystem::path candidate =
      default_output(result_.model, possible_format(result_.model, format));
  std::string line =
      fmt::format("ounce verify {} {}{}", quoted(result_.model.string()), quoted(candidate.string()),
                  data(true, info_of(format).needs_data ? Part::kJudging : Part::kAll));
  return line + gates() + runtime();
}

// Selects the halves of half.h by options of the command line.
std::string CommandWriter::data(bool with_labels, Part part) const {
  const DataOptions& data = options_.data;
  const bool is_part = part != Part::kAll && result_.samples >= 2;
  const bool is_sequence = !data.carry.empty();
  std::string text;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const bool is_range = words_[i] == "--first" || words_[i] == "--samples";
    const bool is_replaced = is_part && (is_sequence ? is_range : words_[i] == "--part");
    if ((!with_labels && words_[i] == "--labels") || is_replaced) {
      ++i;
      continue;
    }
    text += " " + quoted(words_[i]);
  }
  if (!is_part) return text;
  const bool is_second = part == Part::kJudging;
  if (!is_sequence)
    return text + fmt::format(" --part {}/{}", data.part + (is_second ? data.parts : 0) + 1, 2 * data.parts);
  const std::uint64_t half = result_.samples / 2, first = data.first + (is_second ? half : 0);
  if (first != 0) text += fmt::format(" --first {}", first);
  if (!is_second) text += fmt::format(" --samples {}", half);
  if (is_second && data.samples != 0) text += fmt::format(" --samples {}", result_.samples - half);
  return text;
}

// The commands use the runtime of the measurements.
std::string CommandWriter::runtime() const {
  std::string text;
  if (!options_.runtime.library.empty()) text += " --runtime " + quoted(options_.runtime.library);
  if (options_.runtime.threads != 1) text += fmt::format(" --threads {}", options_.runtime.threads);
  return text;
}

// The options of thresholds and metrics.
std::string CommandWriter::gates() const {
  std::string text;
  const Gates& gates = result_.gates;
  if (gates.min_agreement) text += fmt::format(" --min-agreement {:g}%", 100 * *gates.min_agreement);
  if (gates.max_drop) text += fmt::format(" --max-drop {:g}%", 100 * *gates.max_drop);
  if (gates.min_sqnr) text += fmt::format(" --min-sqnr {:g}", *gates.min_sqnr);
  if (options_.task != Task::kAuto) text += fmt::format(" --task {}", name_of(options_.task));
  if (!options_.metric_command.command.empty())
    text += " --metric-command " + quoted(options_.metric_command.command);
  if (!options_.tags.empty()) text += " --tags " + quoted(fmt::format("{}", fmt::join(options_.tags, ",")));
  if (options_.threshold) text += fmt::format(" --threshold {:g}", *options_.threshold);
  if (options_.metric != kAutoMetric) text += fmt::format(" --metric {}", options_.metric);
  if (!options_.label_output.empty()) text += " --label-output " + quoted(options_.label_output);
  for (const std::string& output : options_.outputs) text += " --outputs " + quoted(output);
  return text;
}

std::string CommandWriter::target() const {
  return options_.target.empty() ? "" : " --target " + quoted(options_.target);
}

}  // namespace ounce::search
