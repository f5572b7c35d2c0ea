#include <ounce/error.h>
#include <ounce/quantize.h>

#include <algorithm>
#include <initializer_list>

#include "base/cancel.h"
#include "base/stopwatch.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/by_structure.h"
#include "formats/onnx/plan/validate.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "quantize/original.h"
#include "quantize/output_place.h"
#include "quantize/resolve.h"
#include "quantize/trial.h"
#include "quantize/write_resolved.h"

namespace ounce {
std::size_t QuantizeResult::stored_count() const {
  return static_cast<std::size_t>(
      std::count_if(tensors.begin(), tensors.end(), [](const TensorOutcome& t) { return t.stored; }));
}

Format QuantizeResult::stored_as() const {
  const bool is_for_kernels = is_few_bits(format);
  if (format != Format::kW4 && !is_for_kernels) return format;
  const auto is = [](const TensorOutcome& tensor, std::initializer_list<StoredAs> encodings) {
    return std::find(encodings.begin(), encodings.end(), tensor.encoding) != encodings.end();
  };
  bool has_eight = false;
  for (const TensorOutcome& tensor : tensors) {
    if (!tensor.stored) continue;
    const bool is_as_asked = is_for_kernels
                                 ? tensor.decoder == Decoder::kNbits || tensor.decoder == Decoder::kDq
                                 : is(tensor, {StoredAs::kInt4, StoredAs::kUint4, StoredAs::kCodebook16});
    if (is_as_asked) return format;
    has_eight |= is(tensor, {StoredAs::kInt8, StoredAs::kUint8, StoredAs::kCodebook256});
  }
  return has_eight ? Format::kW8 : format;
}

Format possible_format(const std::filesystem::path& model, Format format) {
  if (format != Format::kW4) return format;
  try {
    const onnx::Model read = onnx::read_model(model);
    return onnx::opset_version(read.proto->opset_imports, "") < plan::kShiftOpset ? Format::kW8 : format;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    return format;
  }
}

std::string why_no_original(const std::filesystem::path& model) {
  try {
    const onnx::Model read = onnx::read_model(model);
    return quantization::why_no_original(read, graph::verify(read));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    return {};  // whoever opens it will say why
  }
}

std::filesystem::path default_output(const std::filesystem::path& model, Format format) {
  std::filesystem::path output = model;
  return output.replace_extension(std::string(".") + name_of(format) + model.extension().string());
}

QuantizeResult quantize(const std::filesystem::path& path, const std::filesystem::path& output_path,
                        const QuantizeOptions& given) {
  const Call call(given.progress);
  const Stopwatch time;
  validate(given.recipe);
  const QuantizeOptions options = quantization::for_target(given);
  if (!given.importance.empty() && !given.recipe.few_bits.has_budget())
    throw Error(ErrorCode::kUsage, "`importance` is for `few_bits.bits` and `few_bits.target_size`");
  QuantizeResult result;
  result.model = path;
  result.format = given.recipe.format;
  result.output = output_path;
  result.notes = plan::unread_fields(given.recipe);

  // Open: every byte of the structure is checked, no weight has been read yet.
  const onnx::Model original = onnx::read_model(path);
  graph::verify(original);
  quantization::Inputs inputs(original);
  inputs.add(options.trial.data)
      .add(options.trial.runtime)
      .add("the ranges", options.ranges)
      .add("the importance", options.importance);
  inputs.require_apart(output_path);
  if (!options.dry_run) io::require_place(output_path);
  if (!options.ranges.empty()) io::require_readable(options.ranges);
  if (!options.importance.empty() && !std::filesystem::exists(options.importance))
    io::require_place(options.importance);
  quantization::require_trial(original, path, options.trial);
  result.bytes_before = onnx::bytes_of(original);
  quantization::Resolved resolved = quantization::resolve(path, options, result.notes);
  quantization::write_resolved(original, options, std::move(resolved), result);
  result.seconds = time.seconds();
  return result;
}

}  // namespace ounce
