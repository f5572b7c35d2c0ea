#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/runtime.h>

#include <deque>

#include "base/cancel.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "io/output_file.h"
#include "model/model_file.h"
#include "quantize/output_place.h"
#include "quantize/trial.h"
#include "target/ort/requirements.h"

namespace ounce {
namespace {

void write_text(const std::filesystem::path& path, const std::string& text) {
  io::OutputFile file(path, text.size());
  file.write(0, text);
  file.flush();
  file.commit();
}

std::uint64_t bytes_without_metadata(const onnx::Model& model) {
  std::uint64_t bytes = 0;
  for (const onnx::Bytes& field : onnx::fields_without_metadata(model.file.bytes())) bytes += field.size();
  for (const auto& [location, file] : model.external_files) bytes += file.bytes().size();
  return bytes;
}

}  // namespace

std::string required_operators(const std::vector<std::filesystem::path>& models, const EmitOptions& options) {
  const CancellationScope scope(options.progress);
  std::deque<onnx::Model> read;
  for (const std::filesystem::path& model : models) {
    graph::validate(read.emplace_back(onnx::read_model(model)));
    // A minimal build may or may not optimize at run time: include the ops of both variants.
    for (const OrtStyle style : {OrtStyle::kFixed, OrtStyle::kRuntime}) {
      EmitOptions how = options;
      how.style = style;
      if (auto optimized = quantization::optimized_model(model, how)) read.push_back(std::move(*optimized));
    }
  }
  std::vector<const onnx::Model*> all;
  for (const onnx::Model& model : read) all.push_back(&model);
  return target::required_ops(all);
}

void write_required_operators(const std::vector<std::filesystem::path>& models,
                              const std::filesystem::path& output, const EmitOptions& options) {
  const CancellationScope scope(options.progress);
  for (const std::filesystem::path& model : models)
    quantization::Inputs(onnx::read_model(model)).add("the runtime", options.library).require_apart(output);
  io::require_place(output);
  write_text(output, required_operators(models, options));
}

EmitResult emit_ort(const std::filesystem::path& model, const std::filesystem::path& output,
                    const EmitOptions& options) {
  const CancellationScope scope(options.progress);
  model::require_support(model, "repack");
  const onnx::Model read = onnx::read_model(model);  // gives better errors than the runtime
  const graph::Index index = graph::validate(read);
  EmitResult result;
  result.required_ops = std::filesystem::path(output).replace_extension(".required_operators.config");
  quantization::Inputs inputs(read);
  inputs.add("the runtime", options.library);
  inputs.require_apart(output);
  inputs.require_apart(result.required_ops, "the list of operators");
  io::require_place(output);
  quantization::write_ort(model, output, options);
  result.is_decoded = target::weights_after_loading(index) > bytes_without_metadata(read) * 3 / 2;
  result.ort = output;
  result.bytes = std::filesystem::file_size(output);
  write_required_operators({model}, result.required_ops, options);
  return result;
}

}  // namespace ounce
