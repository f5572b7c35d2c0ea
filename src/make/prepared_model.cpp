#include "make/prepared_model.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>

#include "graph/verify.h"
#include "make/asked_types.h"
#include "make/outcome.h"
#include "make/ranges_file.h"
#include "make/rewrite.h"
#include "make/source_digest.h"
#include "onnx/reader.h"
#include "onnx/write_temporary.h"
#include "passes/equalize.h"
#include "passes/limit_pairs.h"
#include "passes/prepare.h"
#include "passes/quantized_state.h"
#include "passes/raise_opset.h"
#include "passes/remove_dead_nodes.h"
#include "passes/spell_constants.h"
#include "passes/trained_scales.h"
#include "plan/node_wishes.h"

namespace ounce::make {
namespace {

// Combinations that no runtime has kernels for.
void require_possible(const Recipe& recipe) {
  const auto refuse = [](const char* why) { throw Error(ErrorCode::kUsage, why); };
  const IntegerRecipe& integer = recipe.integer;
  const bool is_wide = is_16_bit(integer.activations);
  const bool is_dynamic = recipe.format == Format::kDynamic;
  const auto is_dynamic_node = [](const auto& entry) { return entry.second == Format::kDynamic; };
  if (recipe.rounding == Rounding::kAdaptive &&
      std::any_of(recipe.nodes.begin(), recipe.nodes.end(), is_dynamic_node))
    refuse("--rounding adaptive is for static nodes: leave out those with --node NAME=dynamic");
  if (recipe.granularity.kind == GranularityKind::kBlock)
    refuse("integer kernels know no blocks: --granularity channel or tensor");
  if (recipe.codebook || recipe.asymmetric)
    refuse("integer kernels take symmetric linear codes: leave out --codebook and --asymmetric");
  if (integer.reduce_range.value_or(false) && integer.weights != WeightType::kS8)
    refuse("--reduce-range is for s8 weights: the products of others do not saturate");
  if (is_dynamic && integer.weights == WeightType::kS4)
    refuse("dynamic kernels take 8-bit weights: --weights s8 or u8");
  if (is_dynamic || integer.dialect == Dialect::kQdq) return;
  if (is_wide || integer.weights == WeightType::kS4)
    refuse("integer ops are 8-bit: --dialect qdq for 16-bit activations and 4-bit weights");
  if (integer.activations == ActivationType::kS8 && integer.weights == WeightType::kU8)
    refuse("no runtime multiplies s8 activations with u8 weights: --weights s8");
}

// What people would otherwise find out on the device.
std::vector<std::string> warnings_for(const Recipe& recipe) {
  std::vector<std::string> notes;
  if (recipe.format != Format::kStatic) return notes;
  if (is_16_bit(recipe.integer.activations)) {
    notes.emplace_back(
        "16-bit activations have no integer kernels in ONNX Runtime's CPU provider: it computes in floats, "
        "slower than FP32; they are for accelerators");
  }
  if (recipe.integer.weights == WeightType::kS4) {
    notes.emplace_back(
        "4-bit weights of Conv and Gemm have no integer kernels in ONNX Runtime's CPU provider: it decodes "
        "them at every run; `format=w4` stores as small and runs at FP32 speed");
  }
  return notes;
}

}  // namespace

bool may_equalize(const QuantizeOptions& options) {
  return options.recipe.integer.equalize && options.recipe.granularity.kind != GranularityKind::kTensor &&
         options.ranges.empty() && options.recipe.integer.values.empty();
}

PreparedModel::PreparedModel(const std::filesystem::path& model, const QuantizeOptions& options)
    : model_(model) {
  plan::require_mixable(options.recipe);
  if (options.recipe.rounding == Rounding::kAdaptive &&
      (options.recipe.format != Format::kStatic || options.trial.data.is_generated()))
    throw Error(ErrorCode::kUsage,
                "`rounding=adaptive` looks at data: it is for `format=static` with `data`");
  if (options.recipe.is_half()) prepare_halves(model, options);
  if (!options.recipe.is_integer()) return;
  require_possible(options.recipe);
  if (take_trained(model, options.recipe)) return;
  if (options.recipe.format == Format::kStatic) observe(model, options);
  prepare(model, options.recipe);
  const std::vector<std::string> warnings = warnings_for(options.recipe);
  notes_.insert(notes_.end(), warnings.begin(), warnings.end());
}

// A model that was trained for integers knows its scales better than any statistics.
bool PreparedModel::take_trained(const std::filesystem::path& source, const Recipe& recipe) {
  onnx::Model model = onnx::read_model(source);
  const passes::QuantizedState state = passes::describe_quantization(model, graph::verify(model));
  if (state.is_qoperator())
    throw Error(ErrorCode::kUnsupported, state.sentence + "; nothing was written", source.string());
  if (!state.is_qdq()) return false;
  if (recipe.format == Format::kDynamic) {
    throw Error(
        ErrorCode::kUnsupported,
        state.sentence + ": its scales are static, and `format=static` keeps them; nothing was written",
        source.string());
  }
  passes::Changes changes = passes::store_trained_weights(model);
  const passes::Changes limited =
      recipe.integer.reduce_range == false ? passes::Changes{} : passes::limit_pairs(model);
  passes::remove_dead_nodes(model);
  is_trained_ = true;
  trained_weights_ = std::max(changes.count, limited.count);
  notes_.push_back(state.sentence);
  if (limited.count != 0) {
    notes_.push_back(
        fmt::format("the scales of {} weight{} grew, as sums of their products would saturate on x86 CPUs "
                    "without VNNI; `integer.reduce_range=false` keeps them as they were trained",
                    limited.count, limited.count == 1 ? "" : "s"));
  }
  changes.left_alone.insert(changes.left_alone.end(), limited.left_alone.begin(), limited.left_alone.end());
  for (const passes::FloatOp& op : state.float_ops) {
    const char* why = op.has_float_weight && op.has_float_input
                          ? "neither its weight nor its input is quantized"
                      : op.has_float_weight ? "its weight is not quantized"
                                            : "its input is not quantized";
    float_ops_.push_back({op.label, "", op.op_type, Arithmetic::kFloat, why});
  }
  for (const std::string& reason : changes.left_alone) notes_.push_back("left alone: " + reason);
  write(model);
  return true;
}

void PreparedModel::observe(const std::filesystem::path& source, const QuantizeOptions& options) {
  if (!options.ranges.empty()) return load(source, options);
  if (options.trial.data.is_generated()) {
    throw Error(ErrorCode::kUsage,
                "static needs to see real data: give `data`, or `ranges` from `calibrate()`",
                source.string());
  }
  look_at(source, options, Watching::kForIntegers);
}

void PreparedModel::load(const std::filesystem::path& source, const QuantizeOptions& options) {
  ranges_ = load_ranges(options.ranges);
  ThreadPool pool(options.threads);
  const onnx::Model model = onnx::read_model(source);
  if (ranges_->model == source_digest(model, {}, pool)) return;
  throw Error(ErrorCode::kBadInput, "these ranges are of another model; run `calibrate()` on this one",
              options.ranges.string());
}

// Casts between numbers as such came with opset 6, bfloat16 with 13.
void PreparedModel::prepare_halves(const std::filesystem::path& source, const QuantizeOptions& options) {
  onnx::Model model = onnx::read_model(source);
  graph::verify(model);
  const std::int64_t opset = onnx::opset_version(model.proto->opset_imports, "");
  const bool is_old = opset < (options.recipe.format == Format::kBf16 ? 13 : 6);
  std::size_t changes = is_old ? passes::raise_opset(model, 13) : 0;
  changes += declare_asked_types(model, options.trial.runtime);
  changes += passes::spell_constants(model);
  if (changes != 0 || is_old) write(model);
  if (!options.ranges.empty()) return load(source, options);
  if (!options.trial.data.is_generated()) look_at(model_, options, Watching::kAllFloats);
}

void PreparedModel::look_at(const std::filesystem::path& model, const QuantizeOptions& options,
                            Watching watching) {
  CalibrateOptions how;
  how.data = options.trial.data;
  how.runtime.library = options.trial.runtime.library;
  how.progress = options.progress;
  Observation observed = observe_activations(model, how, watching);
  ranges_ = std::move(observed.ranges);
  notes_ = std::move(observed.notes);
}

std::shared_ptr<const PreparedModel> PreparedModel::equalized(const QuantizeOptions& options) const {
  onnx::Model model = onnx::read_model(model_);
  const passes::Equalization done = passes::equalize(model, *ranges_);
  if (done.count == 0) return nullptr;
  std::shared_ptr<PreparedModel> even(new PreparedModel);
  even->write(model);
  even->look_at(even->model_, options, Watching::kForIntegers);
  even->notes_ = notes_;
  even->equalized_places_ = done.count;
  return even;
}

std::shared_ptr<const PreparedModel> PreparedModel::with_integers(const Recipe& recipe, ThreadPool& pool,
                                                                  QuantizeResult& result) const {
  Recipe integers_only = recipe;
  integers_only.min_bytes = std::numeric_limits<std::uint64_t>::max();
  const onnx::Model source = onnx::read_model(model_);
  const graph::Index index = graph::verify(source);
  const plan::Plan plan = plan::make_plan(source, index, integers_only, pool, ranges());
  describe_integers(plan.integer, index, result);
  std::erase_if(result.nodes, [](const NodeOutcome& node) { return node.arithmetic == Arithmetic::kFloat; });
  for (const plan::Decision& decision : plan.decisions) {
    if (decision.is_stored()) result.tensors.push_back(outcome_of(decision, index));
  }
  onnx::Model model = onnx::read_model(model_);
  rewrite(model, source, index, plan, {});
  std::shared_ptr<PreparedModel> integers(new PreparedModel);
  integers->write(model);
  integers->notes_ = notes_;
  return integers;
}

void PreparedModel::prepare(const std::filesystem::path& source, const Recipe& recipe) {
  onnx::Model model = onnx::read_model(source);
  graph::verify(model);
  passes::prepare(model, recipe);

  write(model);
}

void PreparedModel::write(const onnx::Model& model) {
  folder_ = std::make_unique<TemporaryFolder>("quantize");
  model_ = folder_->path() / "model.onnx";
  ThreadPool pool;
  onnx::write_temporary(model, model_, pool);
}

}  // namespace ounce::make
