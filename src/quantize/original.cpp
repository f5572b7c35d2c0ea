#include "quantize/original.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>
#include <ounce/model.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/cancel.h"
#include "formats/onnx/edit/fix_shapes.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/qat/quantized_state.h"
#include "formats/onnx/view/onnx_file.h"
#include "io/output_file.h"
#include "model/model_file.h"
#include "quantize/digests.h"
#include "quantize/output_place.h"
#include "quantize/statement.h"
#include "recipe/format_info.h"

namespace ounce::quantization {
namespace {

struct OwnOutput {
  std::optional<Format> format;  // empty if the file does not record it
};

std::optional<OwnOutput> own_output(const Metadata& metadata, const std::filesystem::path& path) {
  const bool is_ours = std::any_of(metadata.begin(), metadata.end(),
                                   [](const auto& entry) { return entry.first == "ounce.plan"; });
  if (!is_ours) return std::nullopt;
  try {
    const std::optional<Statement> statement = read_statement(metadata, path);
    return OwnOutput{statement ? std::optional(statement->recipe.format) : std::nullopt};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput) throw;
    return OwnOutput{};  // written by a release whose record cannot be read
  }
}

std::string in_words(const OwnOutput& output) {
  return output.format ? fmt::format("already quantized by Ounce ({})", name_of(*output.format))
                       : "already quantized by Ounce";
}

std::vector<std::string> ports_of(const onnx::Graph& graph) {
  std::vector<std::string> ports;
  const auto add = [&](const char* kind, const auto& values) {
    for (const auto& value : values)
      ports.push_back(
          fmt::format("{} {} {}", kind, value->name, onnx::describe(onnx::read_type(value->type))));
  };
  add("input", graph.inputs);
  add("output", graph.outputs);
  return ports;
}

std::optional<OwnOutput> own_output(const onnx::Model& model) {
  return own_output(onnx::metadata_of(model), model.file.path());
}

void refuse(const std::filesystem::path& path, const OwnOutput& output, const std::string& what) {
  std::string words = in_words(output);
  words.front() = 'A';
  throw Error(ErrorCode::kUnsupported, fmt::format("{}. {} the original model instead.", words, what),
              path.string());
}

void require_original(const std::optional<OwnOutput>& output, const std::filesystem::path& path,
                      Format wanted) {
  if (!output) return;
  const bool computes_in_16_bits = output->format && is_half(*output->format);
  const bool stores = !is_integer(wanted);
  if (computes_in_16_bits && stores) return;
  refuse(path, *output, "Quantize");
}

}  // namespace

std::string why_written_by_ounce(const model::ModelFile& file) {
  const std::optional<OwnOutput> output = own_output(file.metadata(), file.path());
  return output ? in_words(*output) : std::string();
}

std::string why_written_by_ounce(const onnx::Model& model) {
  const std::optional<OwnOutput> output = own_output(model);
  return output ? in_words(*output) : std::string();
}

std::string why_no_original(const onnx::Model& model, const graph::Index& index) {
  if (std::string why = why_written_by_ounce(model); !why.empty()) return why;
  const passes::QuantizedState state = passes::describe_quantization(model, index);
  if (!state.is_complete()) return {};
  std::vector<std::string> counts;
  for (const auto& [op_type, count] : state.integer_ops)
    counts.push_back(fmt::format("{} {}", count, op_type));
  if (counts.empty())
    counts.push_back(
        fmt::format("{} QuantizeLinear, {} DequantizeLinear", state.quantize_nodes, state.dequantize_nodes));
  return fmt::format("already quantized ({})", fmt::join(counts, ", "));
}

void require_original(const onnx::Model& model, Format wanted) {
  require_original(own_output(model), model.file.path(), wanted);
}

void require_original(const model::ModelFile& file, Format wanted) {
  require_original(own_output(file.metadata(), file.path()), file.path(), wanted);
}

void require_original(const model::ModelFile& file, const std::string& what) {
  const std::optional<OwnOutput> output = own_output(file.metadata(), file.path());
  if (output) refuse(file.path(), *output, what);
}

}  // namespace ounce::quantization

namespace ounce {

CopyResult copy_model(const std::filesystem::path& path, const std::filesystem::path& output_path,
                      const CopyOptions& options) {
  const CancellationScope scope(options.progress);
  model::require_support(path, "repack");
  ThreadPool pool;
  onnx::Model model = onnx::read_model(path);
  graph::validate(model);
  const std::uint64_t bytes_before = onnx::bytes_of(model);
  if (!options.shape.empty()) {
    // The provenance record describes the bytes of the file.
    if (const auto made = quantization::own_output(model))
      quantization::refuse(path, *made, "Fix the shapes of");
    passes::fix_shapes(model, options.shape);
  }
  quantization::Inputs(model).require_apart(output_path);
  io::require_place(output_path);
  // Derive the tag from the content, so that a data file with the same content keeps its name.
  const std::string tag = quantization::source_digest(model, {}, pool).substr(0, 16);
  onnx::ModelOutput output(model, output_path, {options.external_data, tag, options.data_name});
  output.write(pool, options.progress == nullptr ? nullptr : &options.progress->done);
  graph::validate(output.reopen());
  CopyResult result{path, output_path, bytes_before, output.total_bytes()};
  if (!options.shape.empty()) result.ports = quantization::ports_of(*model.proto->graph);
  output.commit();
  return result;
}

}  // namespace ounce
