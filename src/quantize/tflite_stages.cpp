#include "quantize/tflite_stages.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/digest.h"
#include "formats/tflite/emit/integer_graph.h"
#include "formats/tflite/file/reader.h"
#include "formats/tflite/file/writer.h"
#include "formats/tflite/prepare/prepare.h"
#include "io/temporary_files.h"
#include "quantize/digests.h"
#include "quantize/litert_fit.h"
#include "quantize/observation.h"
#include "quantize/original.h"
#include "quantize/output_place.h"
#include "quantize/pipeline.h"
#include "quantize/recipe_json.h"
#include "recipe/format_info.h"

namespace ounce::quantization {
namespace {

NodeOutcome outcome_of(const tflite::TfliteFile& file, const tflite::NodePlan& node) {
  const model::GraphView& graph = file.graphs()[node.graph];
  return {file.label({node.graph, node.op}), graph.path, std::string(graph.nodes[node.op].op),
          node.arithmetic, node.reason};
}

// Why nothing can be done, of the largest weight.
void require_work(const TfliteWork& work, const std::filesystem::path& path) {
  const std::vector<tflite::Decision>& decisions = work.plan.decisions;
  if (work.plan.stored_count() != 0) return;
  const std::size_t quantized = tflite::quantized_constants(work.prepared->model());
  std::string why = quantized == 0 ? "the model has no floating-point weights"
                                   : fmt::format("{} of its constants are quantized already", quantized);
  if (!decisions.empty()) {
    const auto largest =
        std::max_element(decisions.begin(), decisions.end(),
                         [](const auto& a, const auto& b) { return a.weight.bytes() < b.weight.bytes(); });
    why = fmt::format("largest floating-point tensor '{}': {}", largest->weight.name, largest->reason);
    if (quantized != 0) why += fmt::format("; {} constants are quantized already", quantized);
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("no weights to compress: {}; nothing was written", why),
              path.string());
}

// Values that a pass computes when a file is written are read many times here.
tflite::Model with_values(tflite::Model model, ThreadPool& pool) {
  const bool has_all = std::all_of(model.buffers.begin(), model.buffers.end(),
                                   [](const auto& buffer) { return buffer.data.computed() == nullptr; });
  if (has_all) return model;
  const TemporaryFolder folder("prepared");  // the file is open until the model goes, with a name or without
  const std::filesystem::path path = folder.path() / "model.tflite";
  tflite::write_temporary(model, path, pool);
  return tflite::read_model(path);
}

void require_integers(const Quantization& q, const tflite::IntegerPlan& plan) {
  if (plan.integer_count() != 0) return;
  std::string why = q.why_floats;
  for (std::size_t op = 0; op < plan.ops.size() && why.empty(); ++op) {
    if (!plan.ops[op].reason.empty())
      why = fmt::format("of {} the plan says: {}", q.tflite->integers->integers()->label_of(op),
                        plan.ops[op].reason);
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("nothing would run in INT8: {}. Nothing was written. `format=w8` compresses the "
                          "weights to 8 bits and computes in FP32",
                          why.empty() ? "it has no operator with an INT8 kernel" : why),
              q.path().string());
}

// The weights and biases of INT8 operators, in the list of all weights.
void decide_integer_weights(const tflite::IntegerModel& prepared, const tflite::IntegerPlan& plan,
                            std::vector<tflite::Decision>& decisions) {
  std::map<std::size_t, std::pair<std::size_t, bool>> by_tensor;  // the operator, and whether it is a bias
  for (const auto& [op, weights] : plan.weights) {
    by_tensor.emplace(weights.weight, std::pair(op, false));
    if (weights.bias != tflite::Flow::kNone) by_tensor.emplace(weights.bias, std::pair(op, true));
  }
  std::map<std::size_t, std::size_t> numbers;  // constants with one scale: how many inputs take them so
  for (const auto& [input, codes] : plan.scales.numbers)
    ++numbers[static_cast<std::size_t>(prepared.graph().operators[input.first].inputs[input.second])];
  for (tflite::Decision& decision : decisions) {
    if (decision.weight.graph != 0) continue;
    if (const auto number = numbers.find(decision.tensor);
        number != numbers.end() && number->second == prepared.flow().uses[decision.tensor].size()) {
      decision.encoding = plan::Encoding::kKeep;
      decision.reason = fmt::format("one scale, as an INT8 {} requires", decision.weight.op_type);
    }
    const auto found = by_tensor.find(decision.tensor);
    if (found == by_tensor.end()) continue;
    const auto [op, is_bias] = found->second;
    const tflite::OpWeights& weights = plan.weights.at(op);
    // If others use it in another form, INT8 operators get a copy.
    if (!tflite::has_one_form(prepared, plan, decision.tensor)) continue;
    decision.encoding = is_bias ? plan::Encoding::kInt32 : plan::Encoding::kLinear8;
    decision.decoder = Decoder::kKernel;
    decision.is_required = true;
    decision.format = tflite::kWeightFormat;
    decision.granularity = weights.affine.size() == 1 ? GranularityKind::kTensor : GranularityKind::kChannel;
    if (is_bias) {
      decision.layout = {.channels = weights.bias_scale.size(),
                         .inner = weights.bias_scale.size() == 1 ? decision.weight.values() : 1};
      decision.weight.channels = model::ChannelAxes{0, 1};
      decision.affine.clear();
      for (const float scale : weights.bias_scale) decision.affine.push_back(quant::make_affine(scale, 0));
      decision.shift = weights.shift;
    } else {
      decision.layout = prepared.weights().of(weights.weight).layout;
      decision.weight.channels = model::ChannelAxes{weights.axis, weights.axis + 1};
      decision.affine = weights.affine;
    }
    std::fill(decision.takes_codes.begin(), decision.takes_codes.end(), true);
    decision.stored_bytes = plan::stored_bytes(decision);
    decision.reason =
        fmt::format("{} of an integer {}", is_bias ? "bias" : "weight", decision.weight.op_type);
  }
}

// Adds the operators that run in INT8 to the result.
void describe_integers(Quantization& q) {
  const TfliteWork& work = *q.tflite;
  require_integers(q, work.integer_plan);
  const tflite::IntegerModel& prepared = *work.integers->integers();
  const tflite::IntegerPlan& plan = work.integer_plan;
  QuantizeResult& result = q.result;
  std::size_t raised = 0;
  for (const auto& [op, weights] : plan.weights) raised += weights.raised;
  if (raised != 0)
    result.notes.push_back(fmt::format(
        "the weights of {} channels have larger scales than they need, as their bias would overflow 32 bits",
        raised));
  for (std::size_t t = 0; t < plan.scales.codes.size(); ++t) {
    const auto& codes = plan.scales.codes[t];
    if (!codes) continue;
    const std::size_t maker = prepared.flow().producer[t];
    result.activations.push_back({prepared.flow().names[t], "", std::string(name_of(codes->type)),
                                  codes->scale, codes->zero, codes->range, codes->method, codes->sqnr_db,
                                  maker == tflite::Flow::kNone ? 0 : maker + 1});
  }
}

// The search for a static recipe (static_search.h): LiteRT loads a model in milliseconds, so it may cost what
// some runs on the calibration data cost, which were needed for the ranges.
constexpr double kTflitePasses = 4;
// Candidates that were judged on the samples of their own ranges had 22 dB there and 6 dB on other samples
// (hand_landmark_lite, 32 samples).
constexpr std::uint64_t kTfliteLeastToSplit = 32;

}  // namespace

TfliteWork::TfliteWork(const tflite::TfliteFile& source, const tflite::PrepareOptions& options) {
  tflite::Model model = source.model();
  if (!model.unwritable.empty())
    throw Error(ErrorCode::kUnsupported, fmt::format("cannot be written again: {}", model.unwritable),
                source.path().string());
  notes = tflite::prepare(model, options);
  prepared = std::make_shared<const tflite::TfliteFile>(std::move(model));
}

void make_tflite_plan(TfliteWork& work, const Recipe& recipe, ThreadPool& pool) {
  work.plan = tflite::make_plan(*work.prepared, recipe, pool);
  if (work.integers == nullptr) return;
  work.integer_plan = work.integers->plan(recipe);
  const tflite::IntegerPlan& plan = work.integer_plan;
  decide_integer_weights(*work.integers->integers(), plan, work.plan.decisions);
  // The operators that run in INT8 replace the entries in the plan of the weights.
  work.plan.nodes.clear();
  for (std::size_t op = 0; op < plan.ops.size(); ++op) {
    if (plan.ops[op].is_integer() || !plan.ops[op].reason.empty())
      work.plan.nodes.push_back({0, op, plan.ops[op].arithmetic, plan.ops[op].reason});
  }
}

std::unique_ptr<tflite::TfliteEmitted> emit_tflite(
    const TfliteWork& work, const std::vector<std::pair<std::string, std::string>>& metadata) {
  tflite::TfliteEmitted::Rewrite rewrite;
  if (work.integers != nullptr)
    rewrite = [&](tflite::Model& model) {
      tflite::apply_integers(model, work.integers->integers(), work.integer_plan);
    };
  return std::make_unique<tflite::TfliteEmitted>(work.prepared, work.plan, metadata, rewrite);
}

model::Exposed expose_tflite(const model::ModelFile& file) {
  ThreadPool pool;
  const TfliteWork work(tflite::as_tflite(file), {.static_int8 = true});
  const auto prepared = std::make_shared<const tflite::TfliteFile>(with_values(work.prepared->model(), pool));
  const tflite::IntegerModel integers(std::shared_ptr<const tflite::Model>(prepared, &prepared->model()),
                                      Recipe(), pool);
  return expose(integers);
}

std::vector<TensorOutcome> outcomes_of(const TfliteWork& work) {
  std::vector<TensorOutcome> outcomes;
  for (const tflite::Decision& decision : work.plan.decisions)
    outcomes.push_back(outcome_of(decision, work.prepared->graphs()[decision.weight.graph].path));
  return outcomes;
}

std::vector<std::pair<std::string, std::string>> tflite_metadata(const std::string& plan_digest,
                                                                 const std::string& source_digest) {
  return {{"ounce.version", version()}, {"ounce.plan", plan_digest}, {"ounce.source", source_digest}};
}

void prepare_tflite(Quantization& q) {
  require_original(*q.file, q.recipe.format);
  if (is_static(q.recipe.format) && is_16_bit(q.recipe.integer.activations))
    throw Error(
        ErrorCode::kUnsupported,
        "16-bit activations are for ONNX models: LiteRT runs them in reference kernels, 20 times slower "
        "than FP32 or more; use `integer.activations=u8`",
        q.path().string());
  q.tflite = std::make_unique<TfliteWork>(tflite::as_tflite(*q.file),
                                          tflite::PrepareOptions{.static_int8 = is_static(q.recipe.format)});
  if (is_static(q.recipe.format)) {
    TfliteWork& work = *q.tflite;
    work.prepared = std::make_shared<const tflite::TfliteFile>(with_values(work.prepared->model(), q.pool));
    work.integers = std::make_shared<const TfliteStatic>(work.prepared, q.path(), q.options, q.pool);
  }
  // It computes what the source computes, in operators that have kernels in the format.
}

void observe_tflite(Quantization& q) {
  TfliteWork& work = *q.tflite;
  if (work.integers == nullptr) return;  // the formats that need no ranges of activations
  work.integers = work.integers->observed(source_digest(*q.file, q.pool), q.options);
  work.notes.insert(work.notes.end(), work.integers->notes().begin(), work.integers->notes().end());
}

void search_tflite(Quantization& q) {
  q.recipe = as_it_is(q.options.recipe);
  if (q.tflite->integers == nullptr) return;
  q.limits.passes = kTflitePasses;
  q.limits.least_to_split = kTfliteLeastToSplit;
  q.limits.good = q.limits.close_enough;
  q.tflite->integers = std::static_pointer_cast<const TfliteStatic>(settle_static(q, q.tflite->integers));
}

void decide_tflite(Quantization& q) {
  begin_stage(q.options, "reading weights", 0);
  TfliteWork& work = *q.tflite;
  QuantizeResult& result = q.result;
  if (q.recipe.target.empty())
    make_tflite_plan(work, q.recipe, q.pool);
  else
    q.recipe = fit_to_litert(work, q.recipe, q.pool, result.notes);
  if (work.integers != nullptr) describe_integers(q);
  result.notes.insert(result.notes.begin(), work.notes.begin(), work.notes.end());
  result.notes.insert(result.notes.end(), work.plan.notes.begin(), work.plan.notes.end());
  result.unmatched.insert(result.unmatched.end(), work.plan.unmatched.begin(), work.plan.unmatched.end());
  for (const tflite::NodePlan& node : work.plan.nodes)
    result.nodes.push_back(outcome_of(*work.prepared, node));
  result.tensors = outcomes_of(work);
  for (std::size_t i = 0; q.options.pictures && i < result.tensors.size(); ++i) {
    const tflite::Decision& decision = work.plan.decisions[i];
    if (!decision.is_stored()) continue;
    const auto values = work.prepared->read({decision.weight.graph, decision.tensor});
    result.tensors[i].histogram = histogram_of(values->floats());
  }
  result.plan_digest = hex(digest_of(
      fmt::format("{}{}{} {} {}", work.plan.text(),
                  work.integers == nullptr ? "" : work.integer_plan.text(*work.integers->integers()),
                  static_cast<int>(q.recipe.scale), static_cast<int>(q.recipe.rounding), version())));
  require_work(work, q.path());
  // Every float tensor has a decision with its reason, and something is gained.
}

void emit_tflite(Quantization& q) {
  q.result.source_digest = source_digest(*q.file, q.pool);
  q.emitted = emit_tflite(*q.tflite, tflite_metadata(q.result.plan_digest, q.result.source_digest));
  // The emitted model carries out the plan. Its new weights have sizes, and are encoded while they are
  // written.
}

}  // namespace ounce::quantization
