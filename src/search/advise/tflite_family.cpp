// The family of a TFLite model, from its operators, weights and outputs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "formats/tflite/file/ops.h"
#include "formats/tflite/plan/weights.h"
#include "ops/op_info.h"
#include "quantize/original.h"
#include "quantize/tflite_stages.h"
#include "search/advise/family.h"

namespace ounce::search {
namespace {

constexpr double kMostWeights = 0.5;         // share of the weights that decides the family
constexpr std::uint64_t kLittle = 1024;      // bytes that count as none
constexpr std::size_t kFarthestProduct = 4;  // operators between a SOFTMAX and the product behind it
constexpr std::int64_t kLeastBoxes = 64, kLeastCorners = 4;
constexpr double kUpsampled = 4;  // least output length / input length of an audio generator

class TfliteFinder {
 public:
  // `prepared` is `file` with FP32 weights.
  TfliteFinder(const tflite::TfliteFile& file, const tflite::TfliteFile& prepared)
      : file_(file), prepared_(prepared), main_(prepared.graphs()[0]) {}

  FamilyFinding run() {
    count();
    describe_precision();
    name_the_family();
    result_.description = describe_family(result_);
    propose();
    return std::move(result_);
  }

 private:
  Op op_of(std::size_t node) const {
    const tflite::Model& model = prepared_.model();
    return tflite::info(tflite::code_of(model, model.subgraphs[0].operators[node])).op;
  }

  void count() {
    std::map<std::string, NamedCount> ops, weights;
    for (const model::GraphView& graph : prepared_.graphs()) {
      for (const model::NodeView& node : graph.nodes) ++ops[std::string(node.op)].count;
    }
    for (const tflite::Weight& weight : tflite::find_weights(prepared_)) {
      if (!weight.fits_nbits()) continue;
      NamedCount& entry = weights[weight.op_type];
      ++entry.count;
      entry.bytes += weight.bytes();
      result_.weight_bytes += weight.bytes();
      by_class_[ops::info(weight.op).op_class] += weight.bytes();
    }
    result_.ops = sorted_counts(ops, false);
    result_.weights = sorted_counts(weights, true);
  }

  void describe_precision() {
    std::uint64_t all = 0, halves = 0, codes = 0;
    for (const model::GraphView& graph : file_.graphs()) {
      for (const model::ValueView& value : graph.values) {
        if (!value.constant || value.constant->dims.size() < 2) continue;
        const ElementType type = value.constant->type;
        const int bits = info_of(type).bits;
        if (is_float_weight_type(type)) all += value.constant->bytes;
        if (type == ElementType::kFloat16 || type == ElementType::kBfloat16) halves += value.constant->bytes;
        if (bits > 0 && bits <= 8 && type != ElementType::kBool) codes += value.constant->bytes;
      }
    }
    const std::string by_ounce = quantization::why_written_by_ounce(file_);
    result_.is_quantized = !by_ounce.empty() || (codes > kLittle && codes > all);
    if (!by_ounce.empty()) {
      result_.reasons.push_back(by_ounce);
    } else if (result_.is_quantized) {
      result_.reasons.push_back(
          fmt::format("{} of weights are already stored in 8 bits or fewer", bytes_text(codes)));
    }
    result_.is_half =
        halves > kLittle && static_cast<double>(halves) > kMostWeights * static_cast<double>(all);
    if (result_.is_half)
      result_.reasons.push_back(
          fmt::format("{} of {} of weights are FP16", bytes_text(halves), bytes_text(all)));
  }

  double share(ops::Class op_class) const {
    const auto found = by_class_.find(op_class);
    if (found == by_class_.end() || result_.weight_bytes == 0) return 0;
    return static_cast<double>(found->second) / static_cast<double>(result_.weight_bytes);
  }

  void name_the_family() {
    const std::size_t attention = attention_layers();
    const double conv = share(ops::Class::kConv);
    const std::string weights = weights_text(result_);
    if (attention > 0 && conv <= kMostWeights)
      return name(ModelFamily::kTransformer,
                  fmt::format("{} attention layer{}; {}", attention, attention == 1 ? "" : "s", weights));
    if (share(ops::Class::kRecurrent) > kMostWeights) return name(ModelFamily::kRecurrent, weights);
    if (conv > kMostWeights) {
      if (is_waveform())
        return name(
            ModelFamily::kAudioGenerator,
            fmt::format("its output is one channel, several times as long as its input; {}", weights));
      const std::string boxes = boxes_sign();
      return boxes.empty() ? name(ModelFamily::kCnn, weights)
                           : name(ModelFamily::kDetector, fmt::format("{}; {}", boxes, weights));
    }
    if (share(ops::Class::kProduct) > kMostWeights) return name(ModelFamily::kMlp, weights);
    name(ModelFamily::kOther, result_.weight_bytes == 0 ? "no operator multiplies by weights" : weights);
  }

  // SOFTMAX operators in front of a product of two computed values.
  std::size_t attention_layers() const {
    std::size_t count = 0;
    for (std::size_t node = 0; node < main_.nodes.size(); ++node) {
      if (op_of(node) == Op::kSoftmax && feeds_product(node)) ++count;
    }
    return count;
  }
  bool feeds_product(std::size_t softmax) const {
    std::set<std::size_t> round = {softmax};
    for (std::size_t step = 0; step < kFarthestProduct; ++step) {
      std::set<std::size_t> next;
      for (const std::size_t node : round) {
        for (const model::ValueId output : main_.nodes[node].outputs) {
          if (output.is_absent()) continue;
          for (const model::NodeId user : main_.values[output.value].users) {
            if (is_computed_product(user.node)) return true;
            next.insert(user.node);
          }
        }
      }
      round = std::move(next);
    }
    return false;
  }
  bool is_computed_product(std::size_t node) const {
    if (op_of(node) != Op::kMatMul) return false;
    const auto& inputs = main_.nodes[node].inputs;
    return std::none_of(inputs.begin(), inputs.end(), [&](const model::ValueId input) {
      return !input.is_absent() && main_.values[input.value].constant.has_value();
    });
  }

  bool is_waveform() const {
    if (prepared_.outputs().size() != 1 || prepared_.inputs().empty()) return false;
    const auto longest = [](const model::Port& port) {
      std::int64_t most = 1, others = 1;
      for (const auto& dimension : port.shape) {
        const std::int64_t value = std::max<std::int64_t>(dimension.value, 1);
        others *= std::min(most, value);
        most = std::max(most, value);
      }
      return std::pair(most, others);
    };
    const auto [output, channels] = longest(prepared_.outputs()[0]);
    const auto [input, unused] = longest(prepared_.inputs()[0]);
    return channels == 1 && static_cast<double>(output) >= kUpsampled * static_cast<double>(input);
  }

  // Boxes and scores: two outputs with as many rows.
  std::string boxes_sign() const {
    for (const model::Port& boxes : prepared_.outputs()) {
      if (boxes.shape.size() != 3 || boxes.shape[1].value < kLeastBoxes ||
          boxes.shape[2].value < kLeastCorners)
        continue;
      for (const model::Port& scores : prepared_.outputs()) {
        if (&scores == &boxes || scores.shape.size() < 2) continue;
        const bool has_rows = std::any_of(scores.shape.begin(), scores.shape.end(), [&](const auto& each) {
          return each.value == boxes.shape[1].value;
        });
        if (has_rows) return fmt::format("'{}' has boxes and '{}' their scores", boxes.name, scores.name);
      }
    }
    return {};
  }

  void name(ModelFamily family, std::string reason) {
    result_.family = family;
    result_.reasons.push_back(std::move(reason));
  }

  void propose() {
    if (result_.family == ModelFamily::kDetector) {
      result_.task = Task::kDetect;
      result_.task_reason = "its outputs are boxes";
    } else if (result_.family == ModelFamily::kAudioGenerator) {
      result_.task = Task::kAudio;
      result_.task_reason = "its output is a waveform";
    } else {
      return;
    }
    result_.reasons.push_back(
        fmt::format("measure its quality with `task={}`: {}", name_of(result_.task), result_.task_reason));
  }

  const tflite::TfliteFile& file_;
  const tflite::TfliteFile& prepared_;
  const model::GraphView& main_;
  FamilyFinding result_;
  std::map<ops::Class, std::uint64_t> by_class_;  // bytes of weights
};

}  // namespace

FamilyFinding find_family(const tflite::TfliteFile& file) {
  const quantization::TfliteWork work(file);
  return TfliteFinder(file, *work.prepared).run();
}

}  // namespace ounce::search
