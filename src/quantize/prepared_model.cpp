#include "quantize/prepared_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>

#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/weights.h"
#include "formats/onnx/prepare/equalize.h"
#include "formats/onnx/prepare/prepare.h"
#include "formats/onnx/prepare/raise_opset.h"
#include "formats/onnx/prepare/remove_nodes.h"
#include "formats/onnx/qat/avoid_saturation.h"
#include "formats/onnx/qat/quantized_state.h"
#include "formats/onnx/qat/trained_scales.h"
#include "quantize/original.h"
#include "quantize/output_place.h"
#include "quantize/ranges_file.h"
#include "quantize/rewrite.h"
#include "quantize/statement.h"
#include "quantize/target_fit.h"
#include "target/ort/kernel_pairs.h"
#include "target/ort/saturation.h"

namespace ounce::quantization {
namespace {

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

// Of those that multiply, in bytes: what nobody has quantized yet.
struct OpenWeights {
  std::uint64_t floats = 0, halves = 0;
};

OpenWeights open_weights(const graph::Index& index, std::uint64_t min_bytes) {
  OpenWeights found;
  for (const plan::Weight& weight : plan::find_weights(index)) {
    const std::uint64_t bytes = weight.tensor->byte_count();
    if (!weight.fits_few_bits() || weight.feeds_quantized_op || bytes < min_bytes) continue;
    const bool is_half =
        weight.tensor->type == ElementType::kFloat16 || weight.tensor->type == ElementType::kBfloat16;
    (is_half ? found.halves : found.floats) += bytes;
  }
  return found;
}

}  // namespace

bool may_equalize(const QuantizeOptions& options) {
  return options.recipe.integer.equalize && options.recipe.granularity.kind != GranularityKind::kTensor &&
         options.ranges.empty() && (options.recipe.integer.values.empty() || !options.recipe.integer.search);
}

PreparedModel::PreparedModel(const std::filesystem::path& source, const QuantizeOptions& options)
    : PreparedModel(source, options.recipe.keep_inputs) {
  const Recipe& recipe = options.recipe;
  if (recipe.rounding == Rounding::kAdaptive && options.trial.data.is_generated())
    throw Error(ErrorCode::kUsage, "`rounding=adaptive` looks at data: give `data`");
  open();
  require_original(model_, recipe.format);
  if (is_few_bits(recipe.format) && recipe.few_bits.dialect == FewBitsDialect::kQdq) prepare_blocks();
  if (!recipe.is_integer() && !recipe.is_half()) return;
  onnx::Model changed = read();
  if (recipe.is_half()) prepare_halves(changed, options);
  if (recipe.is_half() || take_trained(changed, recipe)) return;
  if (const OpenWeights open = open_weights(index(), recipe.min_bytes);
      open.halves != 0 && open.floats == 0) {
    throw Error(
        ErrorCode::kUnsupported,
        "INT8 arithmetic needs FP32 weights, and those of this model are FP16 or BF16. Quantize the FP32 "
        "model, or store this one smaller with `format=w8`; nothing was written",
        source.string());
  }
  const bool is_static = recipe.format == Format::kStatic;
  if (is_static && options.ranges.empty() && options.trial.data.is_generated()) {
    throw Error(ErrorCode::kUsage,
                "static needs to see real data: give `data`, or `ranges` from `calibrate()`",
                source.string());
  }
  passes::prepare(changed, recipe);
  keep(changed);
  if (is_static) find_ranges(options, Watching::kForIntegers);
  const std::vector<std::string> warnings = warnings_for(recipe);
  notes_.insert(notes_.end(), warnings.begin(), warnings.end());
}

onnx::Model PreparedModel::read() const {
  onnx::Model model = onnx::read_model(file_);
  if (!keeps_inputs_) passes::unlist_constants(model);
  return model;
}

void PreparedModel::open() {
  index_.reset();
  model_ = read();
  index_.emplace(graph::verify(model_));
}

// From here on it is this one.
void PreparedModel::keep(const onnx::Model& changed) {
  auto folder = std::make_unique<TemporaryFolder>("quantize");
  file_ = folder->path() / "model.onnx";
  ThreadPool pool;
  onnx::write_temporary(changed, file_, pool);
  folder_ = std::move(folder);
  open();
}

// A model that was trained for integers knows its scales better than any statistics.
bool PreparedModel::take_trained(onnx::Model& model, const Recipe& recipe) {
  const passes::QuantizedState state = passes::describe_quantization(model_, index());
  if (state.is_qoperator()) {
    const bool has_more = open_weights(index(), recipe.min_bytes).floats != 0;
    throw Error(ErrorCode::kUnsupported,
                state.sentence +
                    (has_more ? " but to store what is still float smaller with `format=w8`" : "") +
                    "; nothing was written",
                source_.string());
  }
  if (!state.is_qdq()) {
    if (state.simulated != 0)
      notes_.push_back(
          fmt::format("{} ops simulate quantization in floats, and their trained scales are not used; export "
                      "the model with "
                      "QuantizeLinear and DequantizeLinear to keep them",
                      state.simulated));
    return false;
  }
  if (recipe.format == Format::kDynamic) {
    throw Error(
        ErrorCode::kUnsupported,
        state.sentence + ": its scales are static, and `format=static` keeps them; nothing was written",
        source_.string());
  }
  passes::Changes changes = passes::store_trained_weights(model);
  notes_.push_back(state.sentence);
  fit_trained_scales(model, recipe);
  passes::remove_dead_nodes(model);
  is_trained_ = true;
  trained_weights_ = std::max(changes.count, scale_changes_.size());
  for (const passes::FloatOp& op : state.float_ops) {
    const char* why = op.has_float_weight && op.has_float_input
                          ? "neither its weight nor its input is quantized"
                      : op.has_float_weight ? "its weight is not quantized"
                                            : "its input is not quantized";
    float_ops_.push_back({op.label, "", op.op_type, Arithmetic::kFloat, why});
  }
  for (const std::string& reason : changes.left_alone) notes_.push_back("left alone: " + reason);
  keep(model);
  return true;
}

// Trained scales are kept to the bit, unless the user names a CPU on which they would give wrong sums.
void PreparedModel::fit_trained_scales(onnx::Model& model, const Recipe& recipe) {
  const target::Target target = target::parse_target(recipe.target);
  if (!recipe.integer.reduce_range.value_or(target::is_known_to_saturate(target))) {
    note_saturation(model, recipe);
    return;
  }
  passes::LimitedPairs limited = passes::limit_pairs(model);
  const std::string where = recipe.target.empty() ? "x86 CPUs without VNNI" : recipe.target;
  for (const ScaleChange& change : limited.weights) {
    notes_.push_back(fmt::format(
        "{} of {} trained scale{} of '{}' ({} '{}') increased by up to {:.2f}×, because its int8 products "
        "saturate on {}",
        change.changed, change.scales, change.scales == 1 ? "" : "s", change.weight, change.op_type,
        change.node, change.largest_factor, where));
  }
  for (const std::string& reason : limited.left_alone) notes_.push_back("left alone: " + reason);
  scale_changes_ = std::move(limited.weights);
}

void PreparedModel::note_saturation(const onnx::Model& model, const Recipe& recipe) {
  if (recipe.integer.reduce_range) return;  // the user or the target says that no CPU saturates
  const graph::Index index(model);
  std::vector<std::string> names;
  for (const target::Saturating& found : target::find_saturation(model, index).weights) {
    const onnx::Node& node = *index.bodies()[found.body].nodes()[found.node];
    if (found.is_constant) names.push_back(graph::node_label(node, found.node));
  }
  if (names.empty()) return;
  keeps_saturating_ = true;
  constexpr std::size_t kMostShown = 5;
  const std::size_t count = names.size();
  names.resize(std::min(count, kMostShown));
  notes_.push_back(fmt::format(
      "trained scales are kept, so the int8 products of {} weight{} ({}{}) can saturate on x86 CPUs without "
      "VNNI, and the result is not tested on those. For such a CPU give `target`, such as "
      "linux-x64@1.30.0+avx2: then the scales that saturate are increased",
      count, count == 1 ? "" : "s", fmt::join(names, ", "),
      count == names.size() ? "" : fmt::format(" and {} more", count - names.size())));
}

void PreparedModel::load_ranges_of(const QuantizeOptions& options) {
  ranges_ = std::make_shared<calibration::Ranges>(load_ranges(options.ranges));
  ThreadPool pool(options.threads);
  if (ranges_->model == source_digest(onnx::read_model(source_), {}, pool)) return;
  throw Error(ErrorCode::kBadInput, "these ranges are of another model; run `calibrate()` on this one",
              options.ranges.string());
}

void PreparedModel::find_ranges(const QuantizeOptions& options, Watching watching) {
  if (!options.ranges.empty()) return load_ranges_of(options);
  CalibrateOptions how;
  how.data = options.trial.data;
  how.runtime.library = options.trial.runtime.library;
  how.runtime.isolate = options.trial.runtime.isolate;
  how.progress = options.progress;
  Observation observed = observe_activations(read(), source_, how, watching);
  ranges_ = std::make_shared<calibration::Ranges>(std::move(observed.ranges));
  if (observed.half) half_ = std::make_shared<calibration::Ranges>(std::move(*observed.half));
  notes_ = std::move(observed.notes);
}

// DequantizeLinear takes blocks, and types of 4 bits.
void PreparedModel::prepare_blocks() {
  constexpr std::int64_t kBlockOpset = 21, kFourBitIr = 10;
  if (onnx::opset_version(model_.proto->opset_imports, "") >= kBlockOpset &&
      model_.proto->ir_version >= kFourBitIr)
    return;
  onnx::Model model = read();
  passes::raise_opset(model, kBlockOpset);
  model.proto.edit().ir_version = std::max(model.proto->ir_version, kFourBitIr);
  keep(model);
}

// Casts between numbers as such came with opset 6, bfloat16 with 13.
void PreparedModel::prepare_halves(onnx::Model& model, const QuantizeOptions& options) {
  const std::int64_t opset = onnx::opset_version(model.proto->opset_imports, "");
  const bool is_old = opset < (options.recipe.format == Format::kBf16 ? 13 : 6);
  std::size_t changes = is_old ? passes::raise_opset(model, 13) : 0;
  changes += declare_asked_types(model, options.trial.runtime);
  changes += passes::spell_constants(model);
  if (changes != 0 || is_old) keep(model);
  if (!options.ranges.empty() || !options.trial.data.is_generated())
    find_ranges(options, Watching::kAllFloats);
}

std::shared_ptr<const PreparedModel> PreparedModel::equalized(const QuantizeOptions& options) const {
  onnx::Model changed = read();
  // Chosen by one half of the data, so that the other half can tell whether it was worth it.
  const passes::Equalization done = passes::equalize(changed, half_ ? *half_ : *ranges_);
  if (done.count == 0) return nullptr;
  std::shared_ptr<PreparedModel> even(new PreparedModel(source_, keeps_inputs_));
  even->keep(changed);
  even->find_ranges(options, Watching::kForIntegers);
  even->notes_ = notes_;
  even->equalized_places_ = done.count;
  return even;
}

std::shared_ptr<const PreparedModel> PreparedModel::seen_by_half() const {
  if (half_ == nullptr) return nullptr;
  std::shared_ptr<PreparedModel> same(new PreparedModel(source_, keeps_inputs_));
  same->file_ = file_;
  same->folder_ = folder_;
  same->open();
  same->ranges_ = half_;
  same->notes_ = notes_;
  same->equalized_places_ = equalized_places_;
  return same;
}

std::shared_ptr<const PreparedModel> PreparedModel::with_integers(const Recipe& recipe, ThreadPool& pool,
                                                                  QuantizeResult& result) const {
  Recipe integers_only = recipe;
  integers_only.min_bytes = std::numeric_limits<std::uint64_t>::max();
  const plan::Plan plan = plan::make_plan(model_, index(), integers_only, pool, ranges());
  describe_integers(plan.integer, index(), result);
  std::erase_if(result.nodes, [](const NodeOutcome& node) { return node.arithmetic == Arithmetic::kFloat; });
  for (const plan::Decision& decision : plan.decisions) {
    if (decision.is_stored()) result.tensors.push_back(outcome_of(decision, index()));
  }
  onnx::Model changed = read();
  rewrite(changed, model_, index(), plan, {});
  std::shared_ptr<PreparedModel> integers(new PreparedModel(source_, keeps_inputs_));
  integers->keep(changed);
  integers->notes_ = notes_;
  return integers;
}

}  // namespace ounce::quantization
