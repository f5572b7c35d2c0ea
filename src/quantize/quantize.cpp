#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/quantize.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/cancel.h"
#include "base/machine.h"
#include "evaluate/compare/worst_output.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/prepare/prepare.h"
#include "formats/open.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "model/blocks.h"
#include "model/model_file.h"
#include "plan/weights/tensor_plan.h"
#include "quantize/coreml_stages.h"
#include "quantize/onnx_emitter.h"
#include "quantize/original.h"
#include "quantize/output_place.h"
#include "quantize/pipeline.h"
#include "quantize/tflite_stages.h"
#include "recipe/format_info.h"
#include "target/coreml.h"
#include "target/litert/litert_target.h"
#include "target/ort/saturation.h"

namespace ounce {
namespace {

bool is_onnx(const std::filesystem::path& path) {
  return model::detect(path).value_or(ModelKind::kOnnx) == ModelKind::kOnnx;
}

}  // namespace

std::size_t QuantizeResult::stored_count() const {
  return static_cast<std::size_t>(
      std::count_if(tensors.begin(), tensors.end(), [](const TensorOutcome& t) { return t.stored; }));
}

Format QuantizeResult::stored_as() const {
  const FormatInfo& row = info_of(format);
  const bool is_for_kernels = row.family == Family::kNbits;
  if (row.fallback == format || !is_storage(format)) return format;
  bool has_fallback = false;
  for (const TensorOutcome& tensor : tensors) {
    if (!tensor.stored) continue;
    const unsigned bits = plan::bits_of(tensor.encoding);
    const bool is_as_asked = is_for_kernels
                                 ? tensor.decoder == Decoder::kNbits || tensor.decoder == Decoder::kDq
                                 : bits == row.weight_bits;
    if (is_as_asked) return format;
    has_fallback |= bits == info_of(row.fallback).weight_bits;
  }
  return has_fallback ? row.fallback : format;
}

Format possible_format(const std::filesystem::path& model, Format format) {
  const FormatInfo& row = info_of(format);
  if (row.opset == 0 || !is_storage(format) || !is_onnx(model)) return format;
  try {
    const onnx::Model read = onnx::read_model(model);
    return onnx::opset_version(read.proto->opset_imports, "") < row.opset ? row.fallback : format;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    return format;
  }
}

std::string why_no_original(const std::filesystem::path& model) {
  try {
    if (!is_onnx(model)) return quantization::why_written_by_ounce(*formats::open_model(model));
    const onnx::Model read = onnx::read_model(model);
    return quantization::why_no_original(read, graph::validate(read));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    return {};  // opening the file reports the error
  }
}

std::filesystem::path default_output(const std::filesystem::path& model, Format format) {
  std::filesystem::path output = model;
  return output.replace_extension(std::string(".") + name_of(format) + model.extension().string());
}

QuantizeResult quantize(const std::filesystem::path& path, const std::filesystem::path& output_path,
                        const QuantizeOptions& options) {
  const CancellationScope scope(options.progress);
  model::require_support(path, "quantize");
  const Stopwatch time;
  validate(options.recipe);
  quantization::Quantization q(path, output_path, options);
  constexpr std::array kSteps = {quantization::open, quantization::prepare, quantization::observe,
                                 quantization::search, quantization::make};
  for (std::size_t i = 0; i < kSteps.size(); ++i) {
    if (options.progress != nullptr) {
      options.progress->steps = kSteps.size();
      options.progress->step = static_cast<unsigned>(i + 1);
    }
    kSteps[i](q);
  }
  q.result.seconds = time.seconds();
  return std::move(q.result);
}

namespace quantization {

QuantizeOptions for_target(QuantizeOptions options) {
  // Use the full 8-bit range of weights if the target rules out saturation.
  std::optional<bool>& reduce_range = options.recipe.integer.reduce_range;
  const bool is_for_onnx = !target::names_litert(options.recipe.target);
  if (!reduce_range && is_for_onnx && target::has_exact_dot(target::parse_target(options.recipe.target)))
    reduce_range = false;
  // Adaptive rounding leaves no mean error for bias correction.
  if (options.recipe.rounding == Rounding::kAdaptive) options.recipe.integer.correct_bias = false;
  return options;
}

Quantization::Quantization(const std::filesystem::path& model, const std::filesystem::path& place,
                           const QuantizeOptions& given)
    : options(for_target(given)), pool(given.threads), recipe(options.recipe) {
  result.model = model;
  result.output = place;
  result.format = recipe.format;
}

Quantization::~Quantization() = default;

std::uint64_t Quantization::stored_source_bytes() const {
  std::uint64_t bytes = 0;
  for (const TensorOutcome& tensor : result.tensors) bytes += tensor.stored ? tensor.bytes_before : 0;
  return bytes;
}

namespace {

// Throws if this kind of model cannot be quantized to the format.
void require_format(const Quantization& q, Format format) {
  const std::string why = why_not_for(q.file->kind(), format);
  if (!why.empty()) throw Error(ErrorCode::kUnsupported, why, q.path().string());
}

}  // namespace

void open_source(Quantization& q) {
  q.file = formats::open_model(q.path());
  const bool is_for_coreml = target::parse_coreml_target(q.recipe.target).has_value();
  if (is_for_coreml && q.file->kind() != ModelKind::kCoreml)
    throw Error(ErrorCode::kUsage,
                fmt::format("is {} model, but `target` {} runs Core ML models only",
                            q.file->kind() == ModelKind::kOnnx ? "an ONNX" : "a TFLite", q.recipe.target),
                q.path().string());
  // Report a target of another kind of model.
  if (q.file->kind() == ModelKind::kTflite && !q.recipe.target.empty())
    target::parse_litert_target(q.recipe.target);
  else if (q.file->kind() != ModelKind::kTflite && target::names_litert(q.recipe.target))
    target::parse_target(q.recipe.target);
  require_format(q, q.recipe.format);
  for (const auto& [node, format] : q.recipe.nodes) require_format(q, format);
  if (q.recipe.rounding == Rounding::kAdaptive && !is_static(q.recipe.format) &&
      q.file->kind() != ModelKind::kCoreml)
    throw Error(ErrorCode::kUsage,
                "`rounding=adaptive` needs calibration data: use it with `format=int8` and `data`",
                q.path().string());
  q.file->validate();
  q.result.bytes_before = q.file->bytes();
  q.result.blocks = model::blocks_of(*q.file);
}

void open(Quantization& q) {
  const QuantizeOptions& options = q.options;
  if (!options.importance.empty() && !options.recipe.nbits.has_budget())
    throw Error(ErrorCode::kUsage, "`importance` is for `nbits.bits` and `nbits.target_size`");
  open_source(q);
  Inputs inputs;
  inputs.add(*q.file)
      .add(options.trial.data)
      .add(options.trial.runtime)
      .add("the calibration file", options.ranges)
      .add("the importance file", options.importance);
  inputs.require_apart(q.output_path());
  if (!options.dry_run) io::require_place(q.output_path());
  if (!options.ranges.empty()) io::require_readable(options.ranges);
  if (!options.importance.empty() && !std::filesystem::exists(options.importance))
    io::require_place(options.importance);
  evaluate::require_outputs(options.trial.outputs, q.path());
  require_trial(*q.file, options.trial);
  // The options are valid for this model, all files that they name exist, and the output can be written. The
  // structure of the source is validated; no weights have been read.
}

void prepare_onnx(Quantization& q) {
  q.prepared = std::make_shared<const PreparedModel>(q.source().model(), q.options);
  // The prepared model computes the same function as the source, with ops that have kernels in the format.
}

void observe_onnx(Quantization& q) {
  q.prepared = q.prepared->observed(q.source().model(), q.options);
  // If the format needs ranges, the range of every value that may be quantized is known.
}

model::Exposed expose_onnx(const model::ModelFile& file) {
  onnx::Model model = onnx::clone(onnx::as_onnx(file).model());
  Recipe recipe;
  recipe.format = format_with(Arithmetic::kStatic);
  passes::remove_initializer_inputs(model);
  passes::prepare(model, recipe);
  return expose(std::move(model), file.path(), Watching::kForIntegers);
}

namespace {

constexpr FormatStages kFormats[] = {
    {ModelKind::kOnnx, prepare_onnx, observe_onnx, search_onnx, decide_onnx, emit_onnx, expose_onnx},
    {ModelKind::kTflite, prepare_tflite, observe_tflite, search_tflite, decide_tflite, emit_tflite,
     expose_tflite},
    {ModelKind::kCoreml, prepare_coreml, observe_coreml, search_coreml, decide_coreml, emit_coreml, nullptr},
};

const FormatStages& stages_of(const model::ModelFile& file) {
  const auto* const found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                         [&](const FormatStages& row) { return row.kind == file.kind(); });
  return *found;  // open_source() refuses other kinds
}
const FormatStages& stages_of(const Quantization& q) { return stages_of(*q.file); }

}  // namespace

void prepare(Quantization& q) { stages_of(q).prepare(q); }
void observe(Quantization& q) { stages_of(q).observe(q); }
void search(Quantization& q) { stages_of(q).search(q); }
void decide(Quantization& q) { stages_of(q).decide(q); }
void emit(Quantization& q) { stages_of(q).emit(q); }

model::Exposed expose(const model::ModelFile& file) { return stages_of(file).expose(file); }

void make(Quantization& q) {
  q.statement = statement_before(q.options, q.recipe, q.gate);
  decide(q);
  emit(q);
  if (q.options.dry_run) return estimate_size(q);
  write(q);
  check(q);
  run_trial(q);
  commit(q);
}

}  // namespace quantization
}  // namespace ounce
