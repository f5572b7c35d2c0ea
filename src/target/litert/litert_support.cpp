#include "target/litert/litert_support.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "formats/tflite/file/ops.h"

namespace ounce::target {
namespace {

using tflite::Builtin;

std::string type_text(const tflite::Tensor& tensor) {
  std::string text(name_of(tflite::element_type_of(tensor.type)));
  if (!tensor.quantization) return text;
  if (tensor.quantization->details.type == static_cast<std::uint8_t>(tflite::DetailsType::kBlockwise))
    return text + ":block";
  return tensor.quantization->scale.size() > 1 ? text + ":channel" : text;
}

bool is_activation(Builtin code) {
  return code == Builtin::kRelu || code == Builtin::kRelu6 || code == Builtin::kReluN1To1;
}

// True for operators on FP32 or quantized values, which XNNPACK accelerates.
bool is_arithmetic(const tflite::SubGraph& graph, const tflite::Operator& op) {
  if (op.outputs.empty() || op.outputs[0] < 0) return false;
  const tflite::Tensor& output = graph.tensors[static_cast<std::size_t>(op.outputs[0])];
  return output.type == tflite::TensorType::kFloat32 ||
         (output.quantization && !output.quantization->scale.empty());
}

class OperatorChecker {
 public:
  OperatorChecker(const tflite::Model& model, const LitertMatrix& matrix, std::size_t column)
      : model_(model), matrix_(matrix), column_(column), release_(matrix.releases()[column]) {}

  NodeFinding check(std::size_t graph_index, const tflite::SubGraph& graph, std::size_t position) const {
    const tflite::Operator& op = graph.operators[position];
    const tflite::OperatorCode& code = model_.operator_codes[op.opcode_index];
    const OperatorTypes types = types_of(graph, op);
    NodeFinding found;
    found.op_type = tflite::op_name(code);
    found.types = types.text();
    found.name = fmt::format("#{}", position);
    if (!op.outputs.empty() && op.outputs[0] >= 0)
      found.name = plain(graph.tensors[static_cast<std::size_t>(op.outputs[0])].name);
    if (graph_index != 0) found.scope = fmt::format("subgraph {}", graph_index);
    found.verdict = Verdict::kUnknown;
    if (!code.custom_code.empty()) {
      found.why = "custom operator: loads only in an app that registers it";
      return found;
    }
    const LitertMatrix::Op* const known = matrix_.find_op(found.op_type);
    if (known == nullptr) {
      found.why = "this operator was not measured";
      return found;
    }
    const LitertMatrix::Line* const line = LitertMatrix::find_line(*known, types.inputs, types.outputs);
    const std::int64_t newest = known->versions[column_];
    if (code.version > newest) {
      found.verdict = Verdict::kNotImplemented;
      found.why = newest == 0 ? fmt::format("{} has no such operator", release_.text())
                              : fmt::format("has version {}, and {} knows up to version {}", code.version,
                                            release_.text(), newest);
      found.why += remedy(*known, line, code.version, types);
      return found;
    }
    if (line == nullptr) {
      found.why = "these types were not measured";
      return found;
    }
    judge(found, *known, *line, code, types, is_arithmetic(graph, op));
    return found;
  }

 private:
  static LitertAnswer answer_of(const LitertMatrix::Line& line, std::size_t column) {
    return static_cast<LitertAnswer>(line.answers[column]);
  }
  static bool is_right(LitertAnswer answer) {
    return answer == LitertAnswer::kXnnpack || answer == LitertAnswer::kBuiltIn;
  }

  void judge(NodeFinding& found, const LitertMatrix::Op& op, const LitertMatrix::Line& line,
             const tflite::OperatorCode& code, const OperatorTypes& types, bool is_slow_outside) const {
    const LitertAnswer answer = answer_of(line, column_);
    switch (answer) {
      case LitertAnswer::kXnnpack: found.verdict = Verdict::kRuns; return;
      case LitertAnswer::kBuiltIn:
        // TensorFlow Lite was measured with its defaults, that is, without XNNPACK.
        found.verdict = is_slow_outside && release_.runtime == "litert" ? Verdict::kSlow : Verdict::kRuns;
        if (found.verdict == Verdict::kSlow) {
          found.why = "not supported by XNNPACK: runs in a built-in kernel and splits the XNNPACK partition";
          found.why += slow_remedy(op, static_cast<Builtin>(code.code), types);
        }
        return;
      case LitertAnswer::kWrong:
        found.verdict = Verdict::kWrong;
        found.why = "gives wrong results";
        break;
      case LitertAnswer::kRefused:
        found.verdict = Verdict::kNotImplemented;
        found.why = "no kernel for these types";
        break;
      case LitertAnswer::kFails:
        found.verdict = Verdict::kFails;
        found.why = "loads, but fails at run time";
        break;
      case LitertAnswer::kCrashes:
        found.verdict = Verdict::kFails;
        found.why = "crashes the process";
        break;
      case LitertAnswer::kUnknown: found.why = "was not measured"; return;
    }
    found.why += remedy(op, &line, code.version, types);
  }

  // The types of the same operator in FP32.
  const LitertMatrix::Line* in_floats(const LitertMatrix::Op& op, const OperatorTypes& types) const {
    OperatorTypes floats = types;
    const auto to_float = [](std::string& type) {
      if (type != "-" && type != "int64" && type != "bool" && type != "int32") type = "float32";
      if (type == "int32:channel") type = "float32";
    };
    std::for_each(floats.inputs.begin(), floats.inputs.end(), to_float);
    std::for_each(floats.outputs.begin(), floats.outputs.end(), to_float);
    if (const auto* const line = LitertMatrix::find_line(op, floats.inputs, floats.outputs)) return line;
    // An int32 bias becomes FP32, too.
    std::replace(floats.inputs.begin(), floats.inputs.end(), std::string("int32"), std::string("float32"));
    return LitertMatrix::find_line(op, floats.inputs, floats.outputs);
  }

  std::string slow_remedy(const LitertMatrix::Op& op, Builtin code, const OperatorTypes& types) const {
    if (is_activation(code)) return ": fuse it into the operator in front of it (quantize does)";
    const LitertMatrix::Line* const floats = in_floats(op, types);
    const bool is_other = floats != nullptr && floats->types != types.text();
    if (is_other && answer_of(*floats, column_) == LitertAnswer::kXnnpack)
      return ": XNNPACK runs it in FP32 (exclude it when you quantize)";
    return {};
  }

  // Recommends the first newer release that runs the operator, or FP32 if this release runs that.
  std::string remedy(const LitertMatrix::Op& op, const LitertMatrix::Line* line, std::int64_t version,
                     const OperatorTypes& types) const {
    for (std::size_t i = column_ + 1; line != nullptr && i < matrix_.releases().size(); ++i) {
      const LitertRelease& newer = matrix_.releases()[i];
      if (newer.machine == release_.machine && is_right(answer_of(*line, i)) && version <= op.versions[i])
        return fmt::format(": ship {} or newer", newer.text());
    }
    const LitertMatrix::Line* const floats = in_floats(op, types);
    if (floats != nullptr && floats != line && is_right(answer_of(*floats, column_)))
      return ": keep it in FP32 (exclude it when you quantize)";
    return ": no measured release runs it";
  }

  const tflite::Model& model_;
  const LitertMatrix& matrix_;
  std::size_t column_;
  const LitertRelease& release_;
};

void count(TargetCheck& check, Verdict verdict) {
  switch (verdict) {
    case Verdict::kRuns: ++check.runs; break;
    case Verdict::kSlow: ++check.slow; break;
    case Verdict::kUnknown: ++check.unknown; break;
    default: ++check.broken;
  }
  check.verdict = std::max(check.verdict, verdict);
}

}  // namespace

std::string OperatorTypes::text() const {
  return fmt::format("{}->{}", fmt::join(inputs, ","), fmt::join(outputs, ","));
}

OperatorTypes types_of(const tflite::SubGraph& graph, const tflite::Operator& op) {
  const auto list = [&](const std::vector<std::int32_t>& tensors) {
    std::vector<std::string> types;
    for (const std::int32_t tensor : tensors)
      types.push_back(tensor < 0 ? "-" : type_text(graph.tensors[static_cast<std::size_t>(tensor)]));
    return types;
  };
  return {list(op.inputs), list(op.outputs)};
}

TargetCheck litert_support_of(const tflite::Model& model, const LitertTarget& target,
                              const LitertMatrix& matrix) {
  TargetCheck check;
  check.target = target.name;
  const auto column = matrix.find(target.machine, target.runtime, target.version);
  for (const tflite::SubGraph& graph : model.subgraphs) check.nodes += graph.operators.size();
  if (!column) {
    const auto newest = matrix.newest(target.machine);
    check.unknown = check.nodes;
    check.verdict = Verdict::kUnknown;
    check.notes.push_back(
        fmt::format("no data for {} on {} (latest measured: {})",
                    LitertRelease{target.machine, target.runtime, target.version, {}}.text(), target.machine,
                    newest ? matrix.releases()[*newest].text() : "none"));
    return check;
  }
  const LitertRelease& release = matrix.releases()[*column];
  check.measured = fmt::format("{}, {}", release.text(), release.machine);
  const OperatorChecker checker(model, matrix, *column);
  for (std::size_t g = 0; g < model.subgraphs.size(); ++g) {
    for (std::size_t i = 0; i < model.subgraphs[g].operators.size(); ++i) {
      NodeFinding found = checker.check(g, model.subgraphs[g], i);
      count(check, found.verdict);
      if (found.verdict != Verdict::kRuns) check.findings.push_back(std::move(found));
    }
  }
  if (target.system != "linux")
    check.notes.push_back(fmt::format(
        "{} was measured on Linux; builds for other systems have the same source", release.text()));
  if (release.runtime == "tflite")
    check.notes.push_back("TensorFlow Lite was measured without XNNPACK, the default of its C library");
  return check;
}

std::uint64_t weights_after_loading(const tflite::Model& model) {
  std::uint64_t bytes = 0;
  for (const tflite::SubGraph& graph : model.subgraphs) {
    std::set<std::uint32_t> counted;
    for (const tflite::Tensor& tensor : graph.tensors) {
      if (is_constant(model, tensor) && counted.insert(tensor.buffer).second)
        bytes += data_of(model, tensor).size();
    }
    for (const tflite::Operator& op : graph.operators) {
      if (code_of(model, op) != static_cast<std::int32_t>(Builtin::kDequantize) || op.inputs.empty() ||
          op.outputs.empty() || op.inputs[0] < 0 || op.outputs[0] < 0)
        continue;
      if (!is_constant(model, graph.tensors[static_cast<std::size_t>(op.inputs[0])])) continue;
      bytes += byte_count(graph.tensors[static_cast<std::size_t>(op.outputs[0])]).value_or(0);
    }
  }
  return bytes;
}

}  // namespace ounce::target
