#include <ounce/error.h>
#include <ounce/tune.h>

#include <algorithm>

#include "base/cancel.h"
#include "data/source/open_source.h"
#include "evaluate/compare/gates.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/metrics/metric_command.h"
#include "evaluate/models/open.h"
#include "evaluate/timing/cpus.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "io/output_file.h"
#include "quantize/original.h"
#include "quantize/output_place.h"
#include "recipe/format_info.h"
#include "search/tune/tuning.h"
#include "target/ort/kernel_pairs.h"

namespace ounce {
namespace {

// Was it written by this program?
bool is_ours(const std::filesystem::path& file) {
  try {
    return !quantization::why_written_by_ounce(onnx::read_model(file)).empty();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    return false;  // no model at all
  }
}

void add_journals(const TuneOptions& options, quantization::Inputs& inputs) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(options.cache, none)) {
    if (entry.path().extension() == ".jsonl") inputs.add("measurements of the cache", entry.path());
  }
}

bool computes_on_integers(const std::vector<LayerChoice>& layers) {
  return std::any_of(layers.begin(), layers.end(),
                     [](const LayerChoice& layer) { return is_integer(layer.format); });
}

std::vector<CpuComparison> compare_on_cpus(const TuneResult& result, const TuneOptions& options) {
  std::vector<std::string> cpus = options.cpus;
  if (target::has_exact_products(target::parse_target(options.target)))  // all 8 bits are meant for those
    std::erase_if(cpus, target::is_without_exact_products);
  if (cpus.empty()) return {};
  const auto inputs = runtime::load(result.model, evaluate::executor_options(options.runtime))->inputs();
  const evaluate::OpenFeed open = evaluate::open_feed(result.model, inputs, options.data);
  return evaluate::compare_on_cpus(result.model, result.output, {.names = cpus, .outputs = options.outputs},
                                   options.runtime, open);
}

}  // namespace

TuneResult tune(const std::filesystem::path& model, const std::filesystem::path& output,
                const TuneOptions& options) {
  const Call call(options.progress);
  if (options.data.is_generated())
    throw Error(ErrorCode::kUsage, "tune needs to see real data: give `data`", model.string());
  if (options.budget.models == 0 && !(options.budget.seconds > 0))
    throw Error(ErrorCode::kUsage, "`budget` must be more than nothing");
  evaluate::require_confidence(options.gates);
  evaluate::require_outputs(options.outputs, model);
  const onnx::Model original = onnx::read_model(model);
  graph::verify(original);
  quantization::require_original(original, "Tune");
  quantization::Inputs inputs(original);
  inputs.add(options.data).add(options.runtime);
  add_journals(options, inputs);
  inputs.require_apart(output);
  const std::filesystem::path closest = search::closest_name(output);
  inputs.require_apart(closest, "what comes closest");
  if (std::filesystem::exists(closest) && !is_ours(closest))
    throw Error(ErrorCode::kUsage, "is in the way of what comes closest; choose another `output`",
                closest.string());
  io::require_place(output);
  data::require_files(options.data);
  evaluate::require_program(options.metric_command);
  TuneResult result = search::find_best(model, output, options);
  if (result.passed && computes_on_integers(result.layers)) result.cpus = compare_on_cpus(result, options);
  return result;
}

}  // namespace ounce
