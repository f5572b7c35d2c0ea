#include "search/advise/family.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "formats/onnx/graph/index.h"
#include "formats/onnx/plan/weights.h"
#include "formats/onnx/qat/quantized_state.h"
#include "formats/onnx/view/onnx_file.h"
#include "quantize/original.h"

namespace ounce::search {
namespace {

constexpr double kMost = 0.5;              // share of the weights that decides the family
constexpr std::uint64_t kFewBytes = 1024;  // weights below this count as none
constexpr double kMuchLonger = 4;          // least output length / input length of an audio generator
constexpr std::size_t kShownOps = 4;

// Ops of classical models of tabular data.
bool is_classical(std::string_view op_type) {
  return op_type.starts_with("TreeEnsemble") || op_type.starts_with("SVM") || op_type.starts_with("Linear");
}

class Finder {
 public:
  Finder(const onnx::Model& model, const graph::Index& index) : model_(model), index_(index) {}

  FamilyFinding run() {
    count();
    result_.states = find_states(model_, index_);
    describe_precision();
    name_the_family();
    result_.description = describe_family(result_);
    propose_task(model_, index_, result_);
    // Classification is the default and needs no advice.
    if (result_.task != Task::kAuto && result_.task != Task::kClassify)
      result_.reasons.push_back(
          fmt::format("measure its quality with `task={}`: {}", name_of(result_.task), result_.task_reason));
    return std::move(result_);
  }

 private:
  void count() {
    std::map<std::string, NamedCount> ops, weights;
    graph::for_each_node(index_, [&](std::size_t, std::size_t, const onnx::Node& node) {
      if (node.op() != Op::kConstant) ++ops[std::string(node.op_type())].count;
      if (node.domain() == "ai.onnx.ml" && is_classical(node.op_type()))
        ++classical_[std::string(node.op_type())];
    });
    for (const plan::Weight& weight : plan::find_weights(index_)) {
      const std::uint64_t bytes = weight.tensor->byte_count();
      all_bytes_ += bytes;
      if (weight.tensor->type == ElementType::kFloat16 || weight.tensor->type == ElementType::kBfloat16)
        half_bytes_ += bytes;
      if (!weight.fits_nbits()) continue;
      NamedCount& entry = weights[weight.op_type];
      ++entry.count;
      entry.bytes += bytes;
      result_.weight_bytes += bytes;
    }
    result_.ops = sorted_counts(ops, false);
    result_.weights = sorted_counts(weights, true);
  }

  void describe_precision() {
    const passes::QuantizedState state = passes::describe_quantization(model_, index_);
    const std::uint64_t codes = code_bytes();
    const std::string by_ounce = quantization::why_written_by_ounce(model_);
    result_.is_quantized = !by_ounce.empty() || state.is_qoperator() || state.is_qdq() ||
                           (codes > kFewBytes && codes > all_bytes_);
    if (!by_ounce.empty()) {
      result_.reasons.push_back(by_ounce);
    } else if (state.is_qoperator() || state.is_qdq()) {
      result_.reasons.push_back(state.sentence);
    } else if (result_.is_quantized) {
      result_.reasons.push_back(
          fmt::format("{} of weights are already stored in 8 bits or fewer", bytes_text(codes)));
    }
    result_.is_half =
        half_bytes_ > kFewBytes && static_cast<double>(half_bytes_) > kMost * static_cast<double>(all_bytes_);
    if (result_.is_half)
      result_.reasons.push_back(fmt::format("{} of {} of weights are FP16 or BF16", bytes_text(half_bytes_),
                                            bytes_text(all_bytes_)));
  }

  // Bytes of integer tensors of at most 8 bits and at least two dimensions: quantized weights.
  std::uint64_t code_bytes() const {
    std::uint64_t total = 0;
    const auto add = [&](const onnx::Tensor& tensor) {
      const int bits = info_of(tensor.type).bits;
      const bool is_code = bits > 0 && bits <= 8 && tensor.type != ElementType::kBool;
      if (is_code && tensor.dims.size() >= 2) total += tensor.byte_count();
    };
    for (const graph::Body& body : index_.bodies()) {
      if (body.graph != nullptr) {
        for (const auto& tensor : body.graph->initializers) add(*tensor);
      }
      for (const auto& node : body.nodes()) {
        if (const onnx::Tensor* tensor = graph::constant_tensor(*node)) add(*tensor);
      }
    }
    return total;
  }

  void name_the_family() {
    const AttentionSigns attention = find_attention(index_);
    const double conv = share(ops::Class::kConv), recurrent = share(ops::Class::kRecurrent);
    if (is_trees()) return;
    if (attention.count() > 0 && conv <= kMost) return name_transformer(attention);
    if (recurrent > kMost || (recurrent > 0 && !result_.states.empty())) return name_recurrent(recurrent);
    if (conv > kMost) return name_convolutional(conv, attention);
    if (share(ops::Class::kProduct) > kMost) {
      return name(ModelFamily::kMlp,
                  fmt::format("{}; no attention, convolution or state", weights_text(result_)));
    }
    name(ModelFamily::kOther,
         result_.weight_bytes == 0 ? "no op multiplies by weights" : weights_text(result_));
  }

  bool is_trees() {
    if (classical_.empty() || result_.weight_bytes > kFewBytes) return false;
    std::vector<std::string> counts;
    for (const auto& [op, count] : classical_) counts.push_back(fmt::format("{} {}", count, op));
    name(ModelFamily::kTrees,
         fmt::format("{}: thresholds and leaf values are stored as attributes, there are no weights",
                     fmt::join(counts, ", ")));
    return true;
  }

  void name_transformer(const AttentionSigns& attention) {
    name(ModelFamily::kTransformer,
         fmt::format("{} attention layer{}{}; {}", attention.count(), attention.count() == 1 ? "" : "s",
                     attention.ops == 0 ? " (MatMul, Softmax, MatMul)" : "", weights_text(result_)));
    const std::string sign = find_causality(index_, find_masks(model_, index_), result_.states);
    result_.is_autoregressive = !sign.empty();
    if (!sign.empty()) result_.reasons.push_back("autoregressive: " + sign);
  }

  void name_recurrent(double recurrent) {
    name(ModelFamily::kRecurrent, recurrent > kMost
                                      ? weights_text(result_)
                                      : fmt::format("'{}' is a recurrent state; {}",
                                                    result_.states.front().first, weights_text(result_)));
  }

  void name_convolutional(double conv, const AttentionSigns& attention) {
    const WaveSigns wave = find_wave(model_, index_);
    if (wave.upsamplings > 0 && wave.has_one_channel && wave.growth >= kMuchLonger) {
      return name(ModelFamily::kAudioGenerator,
                  fmt::format("{} ConvTranspose upsample the input {:.0f}× to a one-channel output{}; {}",
                              wave.upsamplings, wave.growth, wave.ends_in_tanh ? " through Tanh" : "",
                              weights_text(result_)));
    }
    const std::string boxes = find_boxes(model_, index_);
    if (!boxes.empty())
      return name(ModelFamily::kDetector, fmt::format("{}; {}", boxes, weights_text(result_)));
    name(ModelFamily::kCnn,
         fmt::format("{:.0f} % of the weights belong to convolutions{}", 100 * conv,
                     attention.count() == 0 ? "" : fmt::format("; {} attention layers", attention.count())));
  }

  void name(ModelFamily family, std::string reason) {
    result_.family = family;
    result_.reasons.push_back(std::move(reason));
  }

  double share(ops::Class op_class) const {
    std::uint64_t bytes = 0;
    for (const NamedCount& entry : result_.weights) {
      if (ops::info(ops::find_op(entry.name)).op_class == op_class) bytes += entry.bytes;
    }
    return result_.weight_bytes == 0 ? 0
                                     : static_cast<double>(bytes) / static_cast<double>(result_.weight_bytes);
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  FamilyFinding result_;
  std::map<std::string, std::size_t> classical_;
  std::uint64_t all_bytes_ = 0, half_bytes_ = 0;
};

}  // namespace

std::vector<NamedCount> sorted_counts(const std::map<std::string, NamedCount>& counts, bool by_bytes) {
  std::vector<NamedCount> list;
  for (const auto& [name, count] : counts) list.push_back({name, count.count, count.bytes});
  std::stable_sort(list.begin(), list.end(), [&](const NamedCount& a, const NamedCount& b) {
    return by_bytes ? a.bytes > b.bytes : a.count > b.count;
  });
  return list;
}

std::string describe_family(const FamilyFinding& finding) {
  static const std::map<ModelFamily, const char*> kNames = {{ModelFamily::kCnn, "convolutional network"},
                                                            {ModelFamily::kTransformer, "transformer"},
                                                            {ModelFamily::kRecurrent, "recurrent network"},
                                                            {ModelFamily::kAudioGenerator, "audio generator"},
                                                            {ModelFamily::kDetector, "detector"},
                                                            {ModelFamily::kMlp, "multilayer perceptron"},
                                                            {ModelFamily::kTrees, "tree or classical model"},
                                                            {ModelFamily::kOther, "model of unknown family"}};
  std::string text = kNames.at(finding.family);
  if (finding.is_autoregressive) text = "autoregressive " + text;
  if (finding.is_quantized) text += ", already quantized";
  if (finding.is_half) text += ", 16-bit";
  return text;
}

std::string weights_text(const FamilyFinding& finding) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(kShownOps, finding.weights.size()); ++i) {
    const NamedCount& entry = finding.weights[i];
    if (200 * entry.bytes < finding.weight_bytes) break;  // rounds to 0 %
    parts.push_back(fmt::format(
        "{:.0f} % {}", 100.0 * static_cast<double>(entry.bytes) / static_cast<double>(finding.weight_bytes),
        entry.name));
  }
  return fmt::format("weights: {}", fmt::join(parts, ", "));
}

std::string bytes_text(std::uint64_t bytes) {
  return bytes < 1'000'000 ? fmt::format("{} kB", (bytes + 500) / 1000)
                           : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

FamilyFinding find_family(const model::ModelFile& file) {
  if (file.kind() == model::ModelKind::kTflite) return find_family(tflite::as_tflite(file));
  const onnx::OnnxFile& onnx = onnx::as_onnx(file);
  return find_family(onnx.model(), onnx.index());
}

FamilyFinding find_family(const onnx::Model& model, const graph::Index& index) {
  return Finder(model, index).run();
}

}  // namespace ounce::search
