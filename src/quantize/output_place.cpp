#include "quantize/output_place.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

#include "data/source/open_source.h"
#include "io/output_file.h"
#include "plan/weights/tensor_plan.h"

namespace ounce::quantization {
namespace fs = std::filesystem;

Inputs& Inputs::add(const onnx::Model& model) {
  models_.push_back(&model);
  return *this;
}

Inputs& Inputs::add(const model::ModelFile& model) {
  for (const fs::path& file : model.files()) add("the input", file);
  return add("the input", model.path());  // for a package: the folder
}

Inputs& Inputs::add(const DataOptions& data) {
  data_.push_back(data);
  return *this;
}

Inputs& Inputs::add(const RuntimeOptions& runtime) { return add("the runtime", runtime.library); }

Inputs& Inputs::add(std::string what, fs::path file) {
  if (!file.empty()) files_.push_back({std::move(what), std::move(file)});
  return *this;
}

// Describes the input that `output` would replace; empty if there is none.
std::string Inputs::find(const fs::path& output) const {
  for (const onnx::Model* model : models_) {
    const auto is_output = [&](const auto& file) { return file.second.same_file_as(output); };
    if (model->file.same_file_as(output) ||
        std::any_of(model->external_files.begin(), model->external_files.end(), is_output))
      return "the input";
  }
  for (const File& file : files_) {
    std::error_code none;
    if (fs::equivalent(file.path, output, none) && !none) return file.what;
  }
  for (const DataOptions& data : data_) {
    if (data::is_read_from(data, output)) return "the data";
  }
  return {};
}

void Inputs::require_apart(const fs::path& output, const std::string& name) const {
  io::require_file_or_free(output);
  std::error_code none;
  if (!fs::exists(output, none)) return;
  const std::string what = find(output);
  if (what.empty()) return;
  throw Error(ErrorCode::kUsage, fmt::format("{} would replace {}; choose another `output`", name, what),
              output.string());
}

namespace {

StoredAs stored_as(const plan::TensorPlan& decision) {
  const bool is_unsigned = !decision.format.is_symmetric ||
                           (decision.is_required && decision.format.sign == kernels::CodeSign::kUnsigned);
  return plan::stored_as(decision.encoding, is_unsigned).value();
}

}  // namespace

TensorOutcome outcome_of(const plan::TensorPlan& decision, std::string scope) {
  TensorOutcome outcome;
  outcome.name = decision.weight.name;
  outcome.scope = std::move(scope);
  outcome.op_type = decision.weight.op_type;
  outcome.type = name_of(decision.weight.type);
  outcome.shape = decision.weight.dims;
  outcome.stored = decision.is_stored();
  outcome.reason = decision.reason;
  outcome.bytes_before = decision.weight.bytes();
  outcome.bytes_after = outcome.stored ? decision.stored_bytes : outcome.bytes_before;
  outcome.sqnr_db = std::numeric_limits<double>::quiet_NaN();
  if (outcome.stored) {
    outcome.encoding = stored_as(decision);
    outcome.granularity = decision.granularity_text();
    outcome.decoder = decision.decoder;
  }
  return outcome;
}

void describe_integers(const plan::IntegerPlan& plan, const graph::Index& index, QuantizeResult& result) {
  for (const plan::NodeDecision& decision : plan.nodes) {
    const graph::Body& body = index.bodies()[decision.body];
    const onnx::Node& node = *body.nodes()[decision.node];
    result.nodes.push_back({graph::node_label(node, decision.node), body.path, std::string(node.op_type()),
                            decision.arithmetic, decision.reason});
  }
  for (const auto& [key, quantization] : plan.activations) {
    const auto& values = index.bodies()[key.first].values;
    const auto value = values.find(key.second);
    const bool is_given = value == values.end() || value->second.producer == graph::kNone;
    result.activations.push_back({std::string(key.second), index.bodies()[key.first].path,
                                  std::string(name_of(quantization.type)), quantization.scale,
                                  quantization.zero, quantization.range, quantization.method,
                                  quantization.sqnr_db, is_given ? 0 : value->second.producer + 1});
  }
}

void describe_halves(const plan::HalfPlan& plan, const graph::Index& index, QuantizeResult& result) {
  const bool has_integers = !result.nodes.empty();  // already described
  const Arithmetic arithmetic =
      plan.type == ElementType::kBfloat16 ? Arithmetic::kBfloat16 : Arithmetic::kFloat16;
  for (const plan::HalfNode& half : plan.nodes) {
    if (has_integers && half.is_of_integers) continue;
    const graph::Body& body = index.bodies()[half.body];
    const onnx::Node& node = *body.nodes()[half.position];
    result.nodes.push_back({graph::node_label(node, half.position), body.path, std::string(node.op_type()),
                            half.is_half() ? arithmetic : Arithmetic::kFloat, half.why_float});
  }
}

}  // namespace ounce::quantization
