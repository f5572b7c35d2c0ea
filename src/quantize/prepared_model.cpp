#include "quantize/prepared_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <utility>

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
#include "quantize/calibrate.h"
#include "quantize/digests.h"
#include "quantize/observation.h"
#include "quantize/onnx_emitter.h"
#include "quantize/original.h"
#include "quantize/target_fit.h"
#include "recipe/format_info.h"
#include "target/ort/saturation.h"

namespace ounce::quantization {
namespace {

// Warns of INT8 options that ONNX Runtime's CPU provider has no kernels for.
std::vector<std::string> warnings_for(const Recipe& recipe) {
  std::vector<std::string> notes;
  if (!is_static(recipe.format)) return notes;
  if (is_16_bit(recipe.integer.activations)) {
    notes.emplace_back(
        "ONNX Runtime's CPU provider has no INT8 kernels for 16-bit activations and runs slower than FP32; "
        "use "
        "them on accelerators only");
  }
  if (recipe.integer.weights == WeightType::kS4) {
    notes.emplace_back(
        "ONNX Runtime's CPU provider has no INT8 kernels for 4-bit weights of Conv and Gemm and dequantizes "
        "them on every run; `format=w4` gives the same size at FP32 speed");
  }
  return notes;
}

// Bytes of the weights of products and convolutions that are not quantized yet.
struct OpenWeights {
  std::uint64_t floats = 0, halves = 0;
};

OpenWeights open_weights(const graph::Index& index, std::uint64_t min_bytes) {
  OpenWeights found;
  for (const plan::Weight& weight : plan::find_weights(index)) {
    const std::uint64_t bytes = weight.tensor->byte_count();
    if (!weight.fits_nbits() || weight.feeds_quantized_op || bytes < min_bytes) continue;
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

PreparedModel::PreparedModel(const onnx::Model& source, const QuantizeOptions& options)
    : source_(source.file.path()), keeps_inputs_(options.recipe.keep_inputs) {
  const Recipe& recipe = options.recipe;
  if (recipe.rounding == Rounding::kAdaptive && options.trial.data.is_generated())
    throw Error(ErrorCode::kUsage, "`rounding=adaptive` needs data: give `data`");
  open(onnx::clone(source));
  require_original(model(), recipe.format);
  if (is_nbits(recipe.format) && recipe.nbits.dialect == NbitsDialect::kQdq) prepare_blocks();
  if (recipe.is_half()) prepare_halves(options);
  if (recipe.is_integer()) prepare_integers(options);
}

void PreparedModel::open(onnx::Model model, std::unique_ptr<TemporaryFolder> folder) {
  if (!keeps_inputs_) passes::remove_initializer_inputs(model);
  opened_ = std::make_shared<const Opened>(std::move(model), std::move(folder));
}

// Makes `changed` the prepared model. Writes it to a temporary file, so that computed weights need no memory.
void PreparedModel::keep(const onnx::Model& changed) {
  auto folder = std::make_unique<TemporaryFolder>("quantize");
  const std::filesystem::path path = folder->path() / "model.onnx";
  ThreadPool pool;
  onnx::write_temporary(changed, path, pool);
  open(onnx::read_model(path), std::move(folder));
}

void PreparedModel::prepare_integers(const QuantizeOptions& options) {
  const Recipe& recipe = options.recipe;
  onnx::Model changed = onnx::clone(model());
  if (take_trained(changed, recipe)) return;
  if (const OpenWeights open = open_weights(index(), recipe.min_bytes);
      open.halves != 0 && open.floats == 0) {
    throw Error(
        ErrorCode::kUnsupported,
        "INT8 arithmetic needs FP32 weights, and those of this model are FP16 or BF16. Quantize the FP32 "
        "model, or compress this one with `format=w8`; nothing was written",
        source_.string());
  }
  const bool needs_ranges = info_of(recipe.format).needs_data;
  if (needs_ranges && options.ranges.empty() && options.trial.data.is_generated()) {
    throw Error(ErrorCode::kUsage,
                "`format=int8` needs calibration data: give `data` with real samples, or `ranges` from "
                "`calibrate()`. `format=w8` and `format=nbits8` compress the weights without data",
                source_.string());
  }
  note_left_alone(passes::prepare(changed, recipe));
  keep(changed);
  if (needs_ranges) watching_ = Watching::kForIntegers;
}

// Notes the nodes that could not be folded or rewritten for INT8 kernels. They run in FP32 or as several ops.
void PreparedModel::note_left_alone(const std::vector<std::string>& reasons) {
  constexpr std::size_t kMostShown = 3;
  if (reasons.empty()) return;
  const std::size_t shown = std::min(reasons.size(), kMostShown);
  std::string note =
      fmt::format("not rewritten for INT8 kernels: {}",
                  fmt::join(reasons.begin(), reasons.begin() + static_cast<std::ptrdiff_t>(shown), "; "));
  if (shown < reasons.size()) note += fmt::format("; and {} more", reasons.size() - shown);
  notes_.push_back(std::move(note));
}

// Keeps the scales of a model from quantization-aware training, which are better than calibrated ones.
// Returns false if the model has none.
bool PreparedModel::take_trained(onnx::Model& model, const Recipe& recipe) {
  const passes::QuantizedState state = passes::describe_quantization(this->model(), index());
  if (state.is_qoperator()) {
    const bool has_more = open_weights(index(), recipe.min_bytes).floats != 0;
    throw Error(ErrorCode::kUnsupported,
                state.sentence +
                    (has_more ? " except compressing its remaining FP32 weights with `format=w8`" : "") +
                    "; nothing was written",
                source_.string());
  }
  if (!state.is_qdq()) {
    if (state.simulated != 0)
      notes_.push_back(
          fmt::format("{} fake-quantization ops: their trained scales are not used; export the model with "
                      "QuantizeLinear and DequantizeLinear to keep them",
                      state.simulated));
    return false;
  }
  if (is_dynamic(recipe.format)) {
    throw Error(ErrorCode::kUnsupported,
                state.sentence + ": its scales are static, and `format=int8` keeps them; nothing was written",
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

// Increases trained scales whose int8 products saturate on the target. Without such a target, trained scales
// are kept unchanged.
void PreparedModel::fit_trained_scales(onnx::Model& model, const Recipe& recipe) {
  const target::Target target = target::parse_target(recipe.target);
  if (!recipe.integer.reduce_range.value_or(target::is_known_to_saturate(target))) {
    note_saturation(model, recipe);
    return;
  }
  passes::SaturationChanges limited = passes::avoid_saturation(model);
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
  if (recipe.integer.reduce_range) return;  // the user or the target rules out saturation
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
      "VNNI, and the result is not tested on those. For such a CPU give a `target` such as "
      "linux-x64@1.30.0+avx2, which increases these scales",
      count, count == 1 ? "" : "s", fmt::join(names, ", "),
      count == names.size() ? "" : fmt::format(" and {} more", count - names.size())));
}

std::shared_ptr<const PreparedModel> PreparedModel::observed(const onnx::Model& source,
                                                             const QuantizeOptions& options) const {
  auto same = std::make_shared<PreparedModel>(*this);
  if (!watching_) return same;
  if (options.ranges.empty()) {
    same->observe(options);
  } else {
    same->ranges_ = std::make_shared<calibration::Ranges>(load_ranges(options.ranges));
    ThreadPool pool(options.threads);
    if (same->ranges_->model != source_digest(source, {}, pool))
      throw Error(ErrorCode::kBadInput, "these ranges belong to another model; run `calibrate()` on this one",
                  options.ranges.string());
  }
  const std::vector<std::string> warnings = warnings_for(options.recipe);
  same->notes_.insert(same->notes_.end(), warnings.begin(), warnings.end());
  return same;
}

void PreparedModel::observe(const QuantizeOptions& options) {
  CalibrateOptions how;
  how.data = options.trial.data;
  how.runtime.library = options.trial.runtime.library;
  how.runtime.isolate = options.trial.runtime.isolate;
  how.progress = options.progress;
  Observation observed = observe_activations(expose(onnx::clone(model()), source_, *watching_), source_, how);
  ranges_ = std::make_shared<calibration::Ranges>(std::move(observed.ranges));
  half_ = observed.half ? std::make_shared<calibration::Ranges>(std::move(*observed.half)) : nullptr;
  notes_ = std::move(observed.notes);
}

// Converts the model to the opset in which DequantizeLinear supports blocks and 4-bit types.
void PreparedModel::prepare_blocks() {
  constexpr std::int64_t kBlockOpset = 21, kFourBitIr = 10;
  if (onnx::opset_version(model().proto->opset_imports, "") >= kBlockOpset &&
      model().proto->ir_version >= kFourBitIr)
    return;
  onnx::Model changed = onnx::clone(model());
  passes::raise_opset(changed, kBlockOpset);
  changed.proto.edit().ir_version = std::max(changed.proto->ir_version, kFourBitIr);
  keep(changed);
}

// Converts the model to the opset of the needed Cast: 6 in general, 13 for BF16.
void PreparedModel::prepare_halves(const QuantizeOptions& options) {
  onnx::Model changed = onnx::clone(model());
  const std::int64_t opset = onnx::opset_version(changed.proto->opset_imports, "");
  const bool is_old = opset < info_of(options.recipe.format).opset;
  std::size_t changes = is_old ? passes::raise_opset(changed, 13) : 0;
  changes += declare_asked_types(changed, options.trial.runtime);
  changes += passes::expand_constants(changed);
  if (changes != 0 || is_old) keep(changed);
  if (!options.ranges.empty() || !options.trial.data.is_generated()) watching_ = Watching::kAllFloats;
}

std::shared_ptr<const PreparedModel> PreparedModel::equalized(const QuantizeOptions& options) const {
  onnx::Model changed = onnx::clone(model());
  // Equalize by the ranges of one half of the data, so that the other half can test the result.
  const passes::Equalization done = passes::equalize(changed, half_ ? *half_ : *ranges_);
  if (done.count == 0) return nullptr;
  auto even = std::make_shared<PreparedModel>(*this);
  even->keep(changed);
  even->observe(options);
  even->notes_ = notes_;
  even->equalized_pairs_ = done.count;
  return even;
}

std::shared_ptr<const PreparedModel> PreparedModel::fit_split() const {
  if (half_ == nullptr) return nullptr;
  auto same = std::make_shared<PreparedModel>(*this);
  same->ranges_ = std::exchange(same->half_, nullptr);
  return same;
}

std::shared_ptr<const PreparedModel> PreparedModel::replaced_by(const onnx::Model& changed) const {
  std::shared_ptr<PreparedModel> other(new PreparedModel(source_, keeps_inputs_));
  other->keep(changed);
  other->notes_ = notes_;
  return other;
}

std::shared_ptr<const PreparedModel> prepare_model(const std::filesystem::path& path,
                                                   const QuantizeOptions& options) {
  const onnx::Model source = onnx::read_model(path);
  graph::validate(source);
  return PreparedModel(source, options).observed(source, options);
}

}  // namespace ounce::quantization
