#include "quantize/tflite_static.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <utility>

#include "formats/tflite/edit/io_editor.h"
#include "formats/tflite/emit/integer_graph.h"
#include "formats/tflite/file/writer.h"
#include "formats/tflite/plan/integer_costs.h"
#include "io/temporary_files.h"
#include "quantize/calibrate.h"
#include "quantize/observation.h"

namespace ounce::quantization {
namespace {

// Channels tell the mean error of a product: of the values that are multiplied with weights.
std::vector<bool> multiplied_values(const tflite::IntegerModel& prepared) {
  std::vector<bool> found(prepared.graph().tensors.size());
  for (std::size_t op = 0; op < prepared.candidates().size(); ++op) {
    const tflite::IntegerCandidate& candidate = prepared.candidates()[op];
    if (!candidate.has_weight()) continue;
    found[static_cast<std::size_t>(prepared.graph().operators[op].inputs[candidate.row->data])] = true;
  }
  return found;
}

}  // namespace

model::Exposed expose(const tflite::IntegerModel& prepared) {
  const tflite::Flow& flow = prepared.flow();
  const std::vector<std::size_t> wanted = tflite::values_to_observe(prepared.model(), prepared.candidates());
  std::vector<std::size_t> computed;
  for (const std::size_t tensor : wanted) {
    if (!flow.is_input[tensor]) computed.push_back(tensor);
  }
  tflite::Model copy = prepared.model();
  tflite::append_outputs(copy, computed);
  const std::vector<bool> is_multiplied = multiplied_values(prepared);
  std::vector<bool> is_wanted(flow.names.size());
  for (const std::size_t tensor : wanted) is_wanted[tensor] = true;
  model::Exposed exposed;
  const auto add = [&](const std::vector<std::int32_t>& tensors, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto tensor = static_cast<std::size_t>(tensors[i]);
      if (!is_wanted[tensor]) continue;
      const bool has_channels = is_multiplied[tensor] && !copy.subgraphs[0].tensors[tensor].shape.empty();
      exposed.values[names[i]] = {flow.names[tensor],
                                  has_channels ? std::optional(model::Layout::kChannelsLast) : std::nullopt};
    }
  };
  add(copy.subgraphs[0].inputs, tflite::input_names(copy));
  add(copy.subgraphs[0].outputs, tflite::output_names(copy));
  auto folder = std::make_shared<TemporaryFolder>("observe");
  exposed.model = folder->path() / "model.tflite";
  ThreadPool pool;
  tflite::write_temporary(copy, exposed.model, pool);
  exposed.files = std::move(folder);
  return exposed;
}

TfliteStatic::TfliteStatic(std::shared_ptr<const tflite::TfliteFile> prepared, std::filesystem::path source,
                           const QuantizeOptions& options, ThreadPool& pool)
    : file_(std::move(prepared)),
      source_(std::move(source)),
      integers_(std::make_shared<const tflite::IntegerModel>(
          std::shared_ptr<const tflite::Model>(file_, &file_->model()), options.recipe, pool)) {}

std::shared_ptr<const TfliteStatic> TfliteStatic::observed(const std::string& source_digest,
                                                           const QuantizeOptions& options) const {
  auto same = std::make_shared<TfliteStatic>(*this);
  if (!options.ranges.empty()) {
    same->ranges_ = std::make_shared<calibration::Ranges>(load_ranges(options.ranges));
    if (same->ranges_->model != source_digest)
      throw Error(ErrorCode::kBadInput, "these ranges are of another model; run `calibrate()` on this one",
                  options.ranges.string());
    return same;
  }
  if (options.trial.data.is_generated()) {
    throw Error(ErrorCode::kUsage,
                "`format=int8` needs calibration data: give `data` with real samples. `format=w8` compresses "
                "the weights without data",
                source_.string());
  }
  CalibrateOptions how;
  how.data = options.trial.data;
  how.runtime.library = options.trial.runtime.library;
  how.runtime.isolate = options.trial.runtime.isolate;
  how.progress = options.progress;
  Observation observed = observe_activations(expose(*integers_), source_, how);
  same->ranges_ = std::make_shared<calibration::Ranges>(std::move(observed.ranges));
  same->half_ = observed.half ? std::make_shared<calibration::Ranges>(std::move(*observed.half)) : nullptr;
  same->notes_ = std::move(observed.notes);
  return same;
}

std::shared_ptr<const StaticModel> TfliteStatic::with_half_the_ranges() const {
  if (half_ == nullptr) return nullptr;
  auto same = std::make_shared<TfliteStatic>(*this);
  same->ranges_ = half_;
  same->half_ = nullptr;
  return same;
}

tflite::IntegerPlan TfliteStatic::plan(const Recipe& recipe) const {
  return tflite::make_integer_plan(*integers_, *ranges_, recipe);
}

std::vector<IntegerNode> TfliteStatic::integer_nodes(const Recipe& recipe, ThreadPool&) const {
  const tflite::IntegerPlan planned = plan(recipe);
  const tflite::Flow& flow = integers_->flow();
  std::vector<IntegerNode> nodes;
  for (std::size_t op = 0; op < planned.ops.size(); ++op) {
    if (!planned.ops[op].is_integer()) continue;
    const tflite::IntegerCandidate& candidate = integers_->candidates()[op];
    IntegerNode& node = nodes.emplace_back();
    node.output = integers_->name_of(op);
    node.label = integers_->label_of(op);
    for (const std::size_t i : candidate.data)
      node.values.push_back(flow.names[static_cast<std::size_t>(integers_->graph().operators[op].inputs[i])]);
    for (const std::size_t output : candidate.outputs) node.values.push_back(flow.names[output]);
    node.work = tflite::multiplications(integers_->model(), flow, op, candidate, *ranges_);
  }
  return nodes;
}

std::vector<plan::NamedDivision> TfliteStatic::float_choices(
    const Recipe& recipe, const std::map<std::string, double>& noise) const {
  std::vector<plan::NamedDivision> choices;
  for (const plan::Division& division : tflite::float_choices(*integers_, *ranges_, recipe, noise)) {
    plan::NamedDivision& choice = choices.emplace_back();
    choice.time = division.time;
    for (std::size_t op = 0; op < division.is_float.size(); ++op) {
      if (division.is_float[op]) choice.floats.insert(integers_->name_of(op));
    }
  }
  return choices;
}

std::uint64_t TfliteStatic::write_candidate(const Recipe& recipe, const std::filesystem::path& file,
                                            ThreadPool& pool) const {
  tflite::Model model = integers_->model();
  tflite::apply_integers(model, integers_, plan(recipe));
  return tflite::write_temporary(model, file, pool);
}

}  // namespace ounce::quantization
