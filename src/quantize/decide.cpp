#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/qat/quantized_state.h"
#include "quantize/nbits_search.h"
#include "quantize/observation.h"
#include "quantize/onnx_emitter.h"
#include "quantize/output_place.h"
#include "quantize/pipeline.h"
#include "quantize/target_fit.h"
#include "quantize/weight_fit.h"
#include "recipe/format_info.h"
#include "target/target.h"

namespace ounce::quantization {
namespace {

bool has_half_weights(const plan::Plan& plan) {
  return std::any_of(plan.decisions.begin(), plan.decisions.end(),
                     [](const plan::Decision& decision) { return decision.weight.is_half(); });
}

void require_halves(const plan::Plan& plan, const graph::Index& index, const std::filesystem::path& path) {
  // Ignore Cast, which 16-bit models contain anyway.
  const auto computes = [&](const plan::HalfNode& node) {
    return node.is_half() && index.bodies()[node.body].nodes()[node.position]->op() != Op::kCast;
  };
  const std::vector<plan::HalfNode>& nodes = plan.half.nodes;
  if (std::any_of(nodes.begin(), nodes.end(), computes)) return;
  const auto kept =
      std::find_if(nodes.begin(), nodes.end(), [](const auto& node) { return !node.is_half(); });
  const std::string why = has_half_weights(plan)
                              ? "its weights already have 16 bits; `format=w8` compresses them"
                          : kept == nodes.end() ? "the model has no FP32 ops"
                                                : "first node: " + kept->why_float;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("nothing to convert to 16-bit floating point: {}; nothing was written", why),
              path.string());
}

// Returns a sentence if another tool has quantized everything; else an empty string.
std::string quantized_by_others(const plan::Plan& plan, const PreparedModel& prepared) {
  const auto is_open = [&](const plan::Decision& decision) {
    return !decision.weight.feeds_quantized_op && decision.weight.bytes() >= plan.recipe.min_bytes;
  };
  if (std::any_of(plan.decisions.begin(), plan.decisions.end(), is_open)) return {};
  const passes::QuantizedState state = passes::describe_quantization(prepared.model(), prepared.index());
  return state.is_qoperator() || state.is_qdq() ? state.sentence : std::string();
}

void require_something_to_do(const plan::Plan& plan, const PreparedModel& prepared,
                             const std::filesystem::path& path) {
  if (plan.half.exists()) return require_halves(plan, prepared.index(), path);
  if (plan.stored_count() != 0 || prepared.trained_weights() != 0) return;
  if (prepared.is_trained())
    throw Error(ErrorCode::kUnsupported, prepared.notes().front() + ": nothing is left to do", path.string());
  std::string why = quantized_by_others(plan, prepared);
  if (!why.empty()) throw Error(ErrorCode::kUnsupported, why + "; nothing was written", path.string());
  why = "the model has no floating-point weights";
  if (!plan.decisions.empty()) {
    const auto largest =
        std::max_element(plan.decisions.begin(), plan.decisions.end(),
                         [](const auto& a, const auto& b) { return a.weight.bytes() < b.weight.bytes(); });
    why = fmt::format("largest floating-point tensor '{}': {}", largest->weight.name, largest->reason);
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("no weights to compress: {}; nothing was written", why),
              path.string());
}

// Throws if no node runs in INT8, so that an FP32 model is never written as INT8.
void require_integers(const Quantization& q) {
  const QuantizeResult& result = q.result;
  const auto is_integer = [](const NodeOutcome& node) { return node.arithmetic != Arithmetic::kFloat; };
  if (!is_static(q.recipe.format) || q.prepared->is_trained()) return;
  if (std::any_of(result.nodes.begin(), result.nodes.end(), is_integer)) return;
  std::string why = q.why_floats;
  for (const NodeOutcome& node : result.nodes) {
    if (why.empty() && !node.reason.empty()) why = fmt::format("'{}': {}", node.name, node.reason);
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("nothing would run in INT8: {}. Nothing was written. `format=w8` compresses the "
                          "weights to 8 bits and computes in FP32",
                          why.empty() ? "the model has no op with an INT8 kernel" : why),
              result.model.string());
}

// Adds histograms of compressed weights and of quantized activations for reports.
void add_histograms(const onnx::Model& source, const plan::Plan& plan, const calibration::Ranges* ranges,
                    QuantizeResult& result) {
  for (std::size_t i = 0; i < plan.decisions.size(); ++i) {
    if (!plan.decisions[i].is_stored()) continue;
    const plan::TensorSource weight(source, *plan.decisions[i].place.tensor);
    result.tensors[i].histogram = histogram_of(weight.floats());
  }
  for (ActivationOutcome& activation : result.activations) {
    if (ranges == nullptr || !activation.scope.empty()) continue;
    const auto seen = ranges->values.find(activation.name);
    if (seen != ranges->values.end()) activation.histogram = histogram_of(seen->second, activation.range);
  }
}

const target::Provider& provider_of(const Recipe& recipe) {
  return *target::find_provider(target::parse_target(recipe.target).provider);
}

// Warns if the target has no fast FP16 kernels.
void note_target(const Recipe& recipe, QuantizeResult& result) {
  if (info_of(recipe.format).arithmetic != Arithmetic::kFloat16 || provider_of(recipe).computes_fp16) return;
  if (target::parse_target(recipe.target).machine == "arm64") return;  // has kernels for most ops
  result.notes.emplace_back(
      "slower than FP32 on x86 CPUs, where ONNX Runtime has no FP16 kernels and casts around every op: use "
      "`format=w16` for the same size at FP32 speed, or a `target` with FP16 such as cuda or coreml");
}

// Low-bit formats such as nbits8 have kernels only for MatMul and Gather. Notes the layers that run in FP32.
void note_kernels(const Recipe& recipe, QuantizeResult& result) {
  if (!is_nbits(recipe.format)) return;
  std::size_t in_kernels = 0, others = 0;
  std::map<std::string, std::size_t> by_op;
  for (const TensorOutcome& tensor : result.tensors) {
    if (!tensor.stored || tensor.shape.size() < 2) continue;
    const bool has_kernel = tensor.decoder == Decoder::kNbits || tensor.decoder == Decoder::kDq;
    (has_kernel ? in_kernels : others) += 1;
    if (!has_kernel) ++by_op[tensor.op_type];
  }
  by_op.erase("Gather");  // has no arithmetic
  if (others <= in_kernels || by_op.empty()) return;
  std::vector<std::string> left;
  for (const auto& [op_type, count] : by_op) left.push_back(fmt::format("{} {}", count, op_type));
  const bool is_one = by_op.size() == 1 && by_op.begin()->second == 1;
  const int bits = info_of(recipe.format).weight_bits;
  result.notes.push_back(fmt::format(
      "{} {}-bit kernels ({}); {} keep{} FP32 arithmetic with compressed weights. For INT8 inference use "
      "`format=int8` with `data`",
      in_kernels == 0   ? std::string("no layer uses")
      : in_kernels == 1 ? fmt::format("1 of {} layers uses", in_kernels + others)
                        : fmt::format("{} of {} layers use", in_kernels, in_kernels + others),
      bits, recipe.nbits.dialect == NbitsDialect::kNbits ? "MatMulNBits" : "DequantizeLinear by blocks",
      fmt::join(left, ", "), is_one ? "s" : ""));
}

// Fits the recipe to a target with a known release. A provider alone has no measured kernels.
void fit_recipe_to_target(Quantization& q) {
  const target::Target target = target::parse_target(q.recipe.target);
  if (q.recipe.target.empty() || !target.is_place()) return;
  q.recipe = fit_to_target(q.source().model(), *q.prepared, q.recipe, target, q.pool, q.result.notes);
}

// Fits scales and rounding of weights to the layers' outputs on data.
void fit_weights(Quantization& q) {
  std::vector<std::string>& notes = q.result.notes;
  if (!q.is_unread() && needs_data(q.recipe.nbits.method)) {
    NbitsFitter fitter(*q.prepared, q.options, q.kept_fits());
    fitter.fit(q.plan, q.pool);
    for (const auto& [why, count] : fitter.left_alone())
      notes.push_back(fmt::format("{} layers are rounded to nearest: {}", count, why));
  }
  if (q.recipe.rounding != Rounding::kAdaptive) return;
  const AdaptiveResult rounded = round_adaptively(*q.prepared, q.options, q.plan, q.pool);
  notes.push_back(
      fmt::format("adaptive rounding of {} layers: their outputs are {:.1f} dB more accurate than with "
                  "nearest rounding",
                  rounded.layers, rounded.gain_db));
  for (const std::string& reason : rounded.left_alone) notes.push_back("rounded to nearest: " + reason);
}

// Copies the plan's decisions on tensors, nodes and activations, and all notes, to the result.
void describe_plan(Quantization& q) {
  QuantizeResult& result = q.result;
  const graph::Index& index = q.prepared->index();
  const std::vector<std::string>& notes = q.prepared->notes();
  result.notes.insert(result.notes.begin(), notes.begin(), notes.end());
  result.notes.insert(result.notes.end(), q.plan.notes.begin(), q.plan.notes.end());
  result.unmatched.insert(result.unmatched.end(), q.plan.unmatched.begin(), q.plan.unmatched.end());
  result.scale_changes = q.prepared->scale_changes();
  describe_integers(q.plan.integer, index, result);
  describe_halves(q.plan.half, index, result);
  const std::vector<NodeOutcome>& float_ops = q.prepared->float_ops();
  result.nodes.insert(result.nodes.end(), float_ops.begin(), float_ops.end());
  for (const plan::Decision& decision : q.plan.decisions)
    result.tensors.push_back(outcome_of(decision, index.bodies()[decision.weight.graph].path));
  note_kernels(q.recipe, result);
  if (q.options.pictures) add_histograms(q.prepared->model(), q.plan, q.prepared->ranges(), result);
}

}  // namespace

// Emits the INT8 ops first. min_bytes keeps all other weights unchanged until the remainder becomes FP16.
void emit_integers(Quantization& q) {
  fit_recipe_to_target(q);
  const PreparedModel& prepared = *q.prepared;
  Recipe integers_only = q.recipe;
  integers_only.min_bytes = std::numeric_limits<std::uint64_t>::max();
  const plan::Plan plan =
      plan::make_plan(prepared.model(), prepared.index(), integers_only, q.pool, prepared.ranges());
  describe_integers(plan.integer, prepared.index(), q.result);
  std::erase_if(q.result.nodes,
                [](const NodeOutcome& node) { return node.arithmetic == Arithmetic::kFloat; });
  for (const plan::Decision& decision : plan.decisions) {
    if (decision.is_stored())
      q.integer_tensors.push_back(
          outcome_of(decision, prepared.index().bodies()[decision.weight.graph].path));
  }
  onnx::Model changed = onnx::clone(prepared.model());
  rewrite(changed, prepared.model(), prepared.index(), plan, {});
  q.prepared = prepared.replaced_by(changed);
  q.recipe.format = format_with(Arithmetic::kFloat16);
  q.recipe.include = q.recipe.exclude = {};  // applied to the INT8 part
  q.recipe.nodes = {};                       // as above
  q.recipe.integer.fp16_remainder = false;
  // The prepared model contains the INT8 ops; the recipe now converts the remainder to FP16.
}

void decide_onnx(Quantization& q) {
  if (has_fp16_remainder(q.recipe)) emit_integers(q);
  fit_recipe_to_target(q);
  begin_stage(q.options, "reading weights", 0);
  const onnx::Model& model = q.prepared->model();
  const graph::Index& index = q.prepared->index();
  q.plan = q.is_unread() ? plan::plan_by_shapes(model, index, q.recipe)
                         : plan::make_plan(model, index, q.recipe, q.pool, q.prepared->ranges());
  fit_weights(q);
  note_target(q.recipe, q.result);
  const std::vector<std::string> unlisted =
      q.recipe.keep_inputs ? std::vector<std::string>() : passes::listed_constants(q.source().model());
  if (!unlisted.empty()) q.result.notes.push_back(passes::sentence_of_unlisted(unlisted));
  describe_plan(q);
  // Everything that changes the bytes of the result must be part of the digest: it names the data file.
  const char* const limited = q.result.scale_changes.empty() ? "" : " limited";
  q.result.plan_digest = hex(digest_of(fmt::format(
      "{}{} {} {}{}{}", q.plan.text(), static_cast<int>(q.recipe.scale), static_cast<int>(q.recipe.rounding),
      version(), unlisted.empty() ? "" : " unlisted", limited)));
  require_integers(q);
  if (q.integer_tensors.empty())
    require_something_to_do(q.plan, *q.prepared, q.path());  // INT8 ops alone are sufficient
  // Every tensor and every node has a decision with its reason, and at least one is quantized.
}

}  // namespace ounce::quantization
