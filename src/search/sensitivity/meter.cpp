#include "search/sensitivity/meter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/cancel.h"
#include "base/digest.h"
#include "base/json_text.h"
#include "base/machine.h"
#include "base/thread_pool.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/models/open.h"
#include "io/temporary_files.h"
#include "quantize/recipe_json.h"
#include "recipe/format_info.h"
#include "search/tune/evaluator.h"
#include "search/tune/journal.h"
#include "search/tune/tuning.h"

namespace ounce::search {
namespace {

using nlohmann::json;

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kUsualSamples = 64, kUsualSteps = 1024;
constexpr std::uint64_t kCalibrationPart = 512;                  // calibration samples
constexpr std::uint64_t kFewCalibration = 8;                     // with fewer samples, use min-max ranges
constexpr std::uint64_t kMostRecorded = std::uint64_t{1} << 30;  // bytes of samples and outputs in memory

json layer_json(const Layer& layer, double noise) {
  return {{"output", layer.output},
          {"name", layer.name},
          {"op_type", layer.op_type},
          {"weights", layer.weights},
          {"expressions", layer.expressions},
          {"values", layer.values},
          {"moved", layer.is_moved},
          {"first", layer.is_first},
          {"last", layer.is_last},
          {"attention", layer.is_attention},
          {"noise", noise}};
}

// Reads the layers that layer_json() wrote. Throws json::exception if the format differs.
Survey survey_of(const json& value) {
  Survey survey;
  survey.notes = value.at("notes").get<std::vector<std::string>>();
  for (const json& entry : value.at("layers")) {
    Layer& layer = survey.layers.emplace_back();
    layer.output = entry.at("output");
    layer.name = entry.at("name");
    layer.op_type = entry.at("op_type");
    layer.weights = entry.at("weights").get<std::vector<std::string>>();
    layer.expressions = entry.at("expressions").get<std::vector<std::string>>();
    layer.values = entry.at("values");
    layer.is_moved = entry.at("moved");
    layer.is_first = entry.at("first");
    layer.is_last = entry.at("last");
    layer.is_attention = entry.at("attention");
    survey.noise.push_back(entry.at("noise"));
  }
  return survey;
}

json comparison_json(const VerifyResult& result) {
  const double noise = evaluate::worst_noise(result.outputs);
  json value = {{"noise", std::isfinite(noise) ? json(noise) : json(nullptr)},
                {"samples", result.samples},
                {"runtime_version", result.runtime_version}};
  if (!result.metrics.empty()) {
    const MetricResult& metric = result.metrics.front();
    value["metric"] = metric.name;
    value["reference"] = std::isfinite(metric.reference) ? json(metric.reference) : json(nullptr);
    value["drop"] = std::isfinite(metric.drop) ? json(metric.drop) : json(nullptr);
  }
  return value;
}

Measured measured_of(const json& value) {
  Measured measured;
  measured.noise = value.at("noise").is_null() ? kNone : value.at("noise").get<double>();
  measured.samples = value.value("samples", std::uint64_t{0});
  measured.runtime_version = value.value("runtime_version", "");
  if (value.contains("metric")) {
    measured.metric = value.at("metric");
    measured.reference = value.at("reference").is_null() ? 0 : value.at("reference").get<double>();
    if (!value.at("drop").is_null()) measured.drop = value.at("drop").get<double>();
  }
  return measured;
}

// Returns nullopt for a line of the journal that another program wrote.
template <class Read>
auto read_or_nothing(const json& value, Read read) -> std::optional<decltype(read(value))> {
  try {
    return read(value);
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

VerifyOptions verify_options(const SensitivityOptions& options) {
  VerifyOptions how{options};
  how.runtime = options.runtime;
  how.data = options.data;
  how.edge_cases = false;
  return how;
}

}  // namespace

SensitivityMeter::SensitivityMeter(const std::filesystem::path& model, const SensitivityOptions& options)
    : model_(model),
      options_(options),
      journal_(options.keep && !options.metric_command.function
                   ? journal_file(options.cache, identity(), notes_)
                   : std::filesystem::path()) {}

std::uint64_t SensitivityMeter::samples() const {
  return options_.samples.value_or(options_.data.carry.empty() ? kUsualSamples : kUsualSteps);
}

std::string SensitivityMeter::identity() const {
  return identity_of(
      model_, options_.data, options_.runtime,
      fmt::format(
          "sensitivity 3 format {} task {} metric {} '{}' output '{}' of '{}' threshold {} samples {}",
          name_of(options_.format), name_of(options_.task), options_.metric,
          fmt::format("{}' '{}", options_.metric_command.command, fmt::join(options_.tags, ",")),
          options_.label_output, fmt::join(options_.outputs, "', '"), options_.threshold.value_or(-1),
          samples()));
}

const RecordedReference& SensitivityMeter::recording() {
  if (recording_ == nullptr)
    recording_ =
        std::make_unique<RecordedReference>(model_, verify_options(options_), kMostRecorded, samples());
  return *recording_;
}

CandidateMaker& SensitivityMeter::maker() {
  if (maker_ != nullptr) return *maker_;
  QuantizeOptions how;
  how.trial.runtime.library = options_.runtime.library;
  how.trial.runtime.isolate = options_.runtime.isolate;
  how.trial.data = options_.data;
  how.trial.data.labels.clear();
  const std::uint64_t all = recording().available();
  if (!options_.data.carry.empty()) {
    how.trial.data.samples = std::min(all, std::max(samples(), kCalibrationPart));
  } else {
    how.trial.data.parts = std::max<std::uint64_t>(1, (all + kCalibrationPart - 1) / kCalibrationPart);
  }
  how.progress = options_.progress;
  maker_ = make_candidate_maker(model_, how);
  return *maker_;
}

// Without search and equalization, so that variants differ only in their layers.
Recipe SensitivityMeter::base() const {
  Recipe recipe;
  recipe.format = options_.format;
  recipe.fp16_budget = 0;
  return quantization::as_it_is(recipe);
}

Recipe SensitivityMeter::recipe_for(const std::set<std::size_t>& floats, Format kept) {
  Recipe recipe = base();
  const calibration::Ranges* ranges = maker().ranges(recipe);
  if (ranges != nullptr && ranges->samples < kFewCalibration)
    recipe.integer.calibration = CalibrationMethod::kMinMax;
  for (const std::size_t i : floats) {
    const Layer& layer = survey_->layers[i];
    recipe.nodes[layer.output] = kept;
    // A weight that is sliced or concatenated before its use must be excluded by its own name.
    if (layer.is_moved && kept == kUnchanged)
      recipe.exclude.insert(recipe.exclude.end(), layer.expressions.begin(), layer.expressions.end());
  }
  return recipe;
}

json SensitivityMeter::look() {
  std::vector<std::string> notes = recording().notes();
  if (recording().is_cut())
    notes.push_back(
        fmt::format("only {} samples were used: more do not fit into memory", recording().samples()));
  if (options_.data.is_generated())
    notes.emplace_back(
        "random inputs show which layers are sensitive, but not the loss of accuracy; give `data`");
  Survey survey = maker().survey(recipe_for({}, kUnchanged));
  if (survey.layers.empty())
    throw Error(ErrorCode::kUnsupported,
                "the model has no node with constant floating-point weights of at least 1 kB",
                model_.string());
  notes.insert(notes.end(), survey.notes.begin(), survey.notes.end());
  json value = {{"layers", json::array()}, {"notes", notes}};
  for (std::size_t i = 0; i < survey.layers.size(); ++i)
    value["layers"].push_back(layer_json(survey.layers[i], survey.noise[i]));
  return value;
}

const Survey& SensitivityMeter::survey() {
  constexpr const char* kKey = "survey";
  if (survey_) return *survey_;
  if (const Journal::Entry* known = journal_.find(kKey)) survey_ = read_or_nothing(known->value, survey_of);
  if (survey_) return *survey_;
  const Stopwatch time;
  json value = look();
  survey_ = survey_of(value);
  journal_.add(kKey, std::move(value), time.seconds());
  return *survey_;
}

std::string SensitivityMeter::key_of(const std::set<std::size_t>& floats, Format kept) const {
  std::set<std::string> outputs;
  for (const std::size_t i : floats) outputs.insert(survey_->layers[i].output);
  const std::string stored = kept == kUnchanged || floats.empty() ? "" : fmt::format("{} ", name_of(kept));
  return "floats " + stored + hex(digest_of(json_text(json(outputs))));
}

json SensitivityMeter::run(const std::set<std::size_t>& floats, Format kept,
                           const std::filesystem::path& file) {
  throw_if_cancelled();
  json value = {{"noise", nullptr}};
  try {
    maker_->make(recipe_for(floats, kept), file);
    value = comparison_json(recording_->compare(file));
  } catch (const Error& error) {  // the runtime rejects this combination: infinite noise
    const bool is_of_the_model = error.code() != ErrorCode::kCancelled && error.code() != ErrorCode::kIo &&
                                 error.code() != ErrorCode::kUsage && !is_shortage(error);
    if (!is_of_the_model) throw;
    value["problem"] = error.what();
  }
  remove_model(file);
  return value;
}

std::vector<Measured> SensitivityMeter::measure(const std::vector<std::set<std::size_t>>& floats,
                                                Format kept) {
  survey();
  std::map<std::string, std::optional<Measured>> results;
  std::map<std::string, std::size_t> unknown;  // key to index of the first set with this key
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const auto [place, is_new] = results.try_emplace(key_of(floats[i], kept));
    if (!is_new) continue;
    if (const Journal::Entry* known = journal_.find(place->first))
      place->second = read_or_nothing(known->value, measured_of);
    if (!place->second) unknown.emplace(place->first, i);
  }
  recalled_ += results.size() - unknown.size();
  measured_ += unknown.size();
  if (options_.progress != nullptr) options_.progress->done += results.size() - unknown.size();
  if (!unknown.empty()) {
    recording();
    maker().prepare(base());
    if (options_.progress != nullptr) options_.progress->stage = "measuring";
    // Keep the requested order, so that a run that is stopped has measured the worst groups.
    std::vector<std::pair<std::size_t, std::string>> work;
    for (const auto& [key, i] : unknown) work.emplace_back(i, key);
    std::sort(work.begin(), work.end());
    const TemporaryFolder folder("sensitivity");
    ThreadPool pool(side_by_side(evaluate::check_model(model_).bytes, options_.runtime, options_.threads));
    pool.for_each(work.size(), [&](std::size_t k) {
      const Stopwatch time;
      json value =
          run(floats[work[k].first], kept, folder.path() / fmt::format("{}{}", k, maker().extension()));
      results.at(work[k].second) = measured_of(value);
      journal_.add(work[k].second, std::move(value), time.seconds());
      if (options_.progress != nullptr) ++options_.progress->done;
    });
  }
  std::vector<Measured> found;
  for (const auto& floated : floats) found.push_back(*results.at(key_of(floated, kept)));
  return found;
}

}  // namespace ounce::search
