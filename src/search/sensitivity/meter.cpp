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
#include "evaluate/compare/worst_output.h"
#include "evaluate/models/open.h"
#include "model/model_file.h"
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
constexpr std::uint64_t kCalibrationPart = 512;  // calibration samples
constexpr std::uint64_t kFewCalibration = 8;     // with fewer samples, use min-max ranges
constexpr JsonLimits kSurveyQuestion = {.depth = 16, .bytes = std::size_t{64} << 20};
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

std::uint64_t samples_of(const SensitivityOptions& options) {
  return options.samples.value_or(options.data.carry.empty() ? kUsualSamples : kUsualSteps);
}

std::string identity_for(const std::filesystem::path& model, const SensitivityOptions& options) {
  return identity_of(
      model, options.data, options.runtime,
      fmt::format(
          "sensitivity 4 format {} task {} metric {} '{}' output '{}' of '{}' threshold {} samples {}",
          name_of(options.format), name_of(options.task), options.metric,
          fmt::format("{}' '{}", options.metric_command.command, fmt::join(options.tags, ",")),
          options.label_output, fmt::join(options.outputs, "', '"), options.threshold.value_or(-1),
          samples_of(options)));
}

// Without search and equalization, so that variants differ only in their layers.
Recipe base_recipe(const SensitivityOptions& options) {
  Recipe recipe;
  recipe.format = options.format;
  recipe.fp16_budget = 0;
  return quantization::as_it_is(recipe);
}

// With few samples, use min-max ranges.
void calibrate_for_few(Recipe& recipe, bool has_few_samples) {
  if (has_few_samples) recipe.integer.calibration = CalibrationMethod::kMinMax;
}

}  // namespace

SensitivitySession::SensitivitySession(const std::filesystem::path& model, const SensitivityOptions& options,
                                       std::string identity)
    : model_(model), options_(options), identity_(std::move(identity)) {}

// Called with the lock.
const RecordedReference& SensitivitySession::recording() {
  if (recording_ == nullptr)
    recording_ = std::make_unique<RecordedReference>(model_, verify_options(options_), kMostRecorded,
                                                     samples_of(options_));
  return *recording_;
}

// Called with the lock.
CandidateMaker& SensitivitySession::maker() {
  if (maker_ != nullptr) return *maker_;
  QuantizeOptions how;
  how.trial.runtime.library = options_.runtime.library;
  how.trial.runtime.isolate = options_.runtime.isolate;
  how.trial.data = options_.data;
  how.trial.data.labels.clear();
  const std::uint64_t all = recording().available();
  if (!options_.data.carry.empty()) {
    how.trial.data.samples = std::min(all, std::max(samples_of(options_), kCalibrationPart));
  } else {
    how.trial.data.parts = std::max<std::uint64_t>(1, (all + kCalibrationPart - 1) / kCalibrationPart);
  }
  how.progress = options_.progress;
  maker_ = make_candidate_maker(model_, how);
  maker_->prepare(base_recipe(options_));
  return *maker_;
}

std::string SensitivitySession::answer(const std::string& question) {
  throw_if_cancelled();
  const json asked = parse_json(question, kSurveyQuestion, "a question");
  const Stopwatch time;
  Answer answer;
  try {
    const std::string measure = asked.at("measure");
    if (measure == "survey") {
      answer.value = look();
    } else if (measure == "floats") {
      answer.value = run(quantization::recipe_from(asked.at("recipe")));
    } else {
      throw Error(ErrorCode::kUnsupported, fmt::format("'{}' is not a measure of sensitivity", measure));
    }
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadInput, std::string("a question is not valid: ") + error.what());
  }
  answer.seconds = time.seconds();
  return answer.text();
}

json SensitivitySession::look() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> notes = recording().notes();
  if (recording().is_cut())
    notes.push_back(
        fmt::format("only {} samples were used: more do not fit into memory", recording().samples()));
  if (options_.data.is_generated())
    notes.emplace_back(
        "random inputs show which layers are sensitive, but not the loss of accuracy; give `data`");
  Recipe recipe = base_recipe(options_);
  const calibration::Ranges* ranges = maker().ranges(recipe);
  const bool has_few_samples = ranges != nullptr && ranges->samples < kFewCalibration;
  calibrate_for_few(recipe, has_few_samples);
  Survey survey = maker().survey(recipe);
  if (survey.layers.empty())
    throw Error(ErrorCode::kUnsupported,
                "the model has no node with constant floating-point weights of at least 1 kB",
                model_.string());
  notes.insert(notes.end(), survey.notes.begin(), survey.notes.end());
  json value = {{"layers", json::array()}, {"notes", notes}, {"few_samples", has_few_samples}};
  for (std::size_t i = 0; i < survey.layers.size(); ++i)
    value["layers"].push_back(layer_json(survey.layers[i], survey.noise[i]));
  return value;
}

json SensitivitySession::run(const Recipe& recipe) {
  const RecordedReference* reference = nullptr;
  CandidateMaker* makes = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    reference = &recording();
    makes = &maker();
  }
  const std::filesystem::path file = folder_.path() / fmt::format("{}{}", ++made_, makes->extension());
  json value = {{"noise", nullptr}};
  try {
    makes->make(recipe, file);
    value = comparison_json(reference->compare(file));
  } catch (const Error& error) {  // the runtime rejects this combination: infinite noise
    const bool is_of_the_model = error.code() != ErrorCode::kCancelled && error.code() != ErrorCode::kIo &&
                                 error.code() != ErrorCode::kUsage && !is_shortage(error);
    if (!is_of_the_model) throw;
    value["problem"] = error.what();
  }
  remove_model(file);
  return value;
}

SensitivityMeter::SensitivityMeter(const std::filesystem::path& model, const SensitivityOptions& options)
    : model_(model),
      options_(options),
      identity_(options.queue != nullptr || (options.keep && !options.metric_command.function)
                    ? identity_for(model, options)
                    : ""),
      journal_(options.keep && !options.metric_command.function
                   ? journal_file(options.cache, identity_, notes_)
                   : std::filesystem::path()),
      session_(model_, options, identity_),
      here_(session_, journal_,
            side_by_side(evaluate::check_model(model).bytes, options.runtime, options.threads)),
      questions_(&journal_, options.queue == nullptr ? here_ : *options.queue, identity_) {}

Recipe SensitivityMeter::recipe_for(const std::set<std::size_t>& floats, Format kept) const {
  Recipe recipe = base_recipe(options_);
  calibrate_for_few(recipe, has_few_samples_);
  for (const std::size_t i : floats) {
    const Layer& layer = survey_->layers[i];
    recipe.nodes[layer.output] = kept;
    // A weight that is sliced or concatenated before its use must be excluded by its own name.
    if (layer.is_moved && kept == kUnchanged)
      recipe.exclude.insert(recipe.exclude.end(), layer.expressions.begin(), layer.expressions.end());
  }
  return recipe;
}

const Survey& SensitivityMeter::survey() {
  constexpr const char* kKey = "survey";
  if (survey_) return *survey_;
  const auto take = [&](const json& value) {
    survey_ = read_or_nothing(value, survey_of);
    if (survey_) has_few_samples_ = value.value("few_samples", false);
  };
  if (const Journal::Entry* known = journal_.find(kKey)) take(known->value);
  if (!survey_)
    questions_.ask({{{"measure", kKey}}}, [&](std::size_t, const Answer& answer) { take(answer.value); });
  if (!survey_) throw Error(ErrorCode::kBadInput, "the answer to 'survey' is not valid", model_.string());
  return *survey_;
}

std::vector<Measured> SensitivityMeter::measure(const std::vector<std::set<std::size_t>>& floats,
                                                Format kept) {
  survey();
  std::vector<std::string> keys;
  std::map<std::string, std::optional<Measured>> results;
  std::vector<json>
      unknown;  // in the requested order, so that a run that is stopped has measured the worst groups
  std::vector<std::string> unknown_keys;
  for (const std::set<std::size_t>& floated : floats) {
    json question = {{"measure", "floats"}, {"recipe", quantization::to_json(recipe_for(floated, kept))}};
    const auto [place, is_new] = results.try_emplace(keys.emplace_back(key_of(question)));
    if (!is_new) continue;
    if (const Journal::Entry* known = journal_.find(place->first))
      place->second = read_or_nothing(known->value, measured_of);
    if (place->second) continue;
    unknown.push_back(std::move(question));
    unknown_keys.push_back(place->first);
  }
  recalled_ += results.size() - unknown.size();
  measured_ += unknown.size();
  if (options_.progress != nullptr) options_.progress->done += results.size() - unknown.size();
  if (!unknown.empty()) {
    if (options_.progress != nullptr) options_.progress->stage = "measuring";
    questions_.ask(std::move(unknown), [&](std::size_t k, const Answer& answer) {
      results.at(unknown_keys[k]) = measured_of(answer.value);
      if (options_.progress != nullptr) ++options_.progress->done;
    });
  }
  std::vector<Measured> found;
  for (const std::string& key : keys) found.push_back(*results.at(key));
  return found;
}

}  // namespace ounce::search

namespace ounce {
namespace {

// Answers the questions of another process's sensitivity().
class OwnedSensitivitySession final : public Session {
 public:
  OwnedSensitivitySession(const std::filesystem::path& model, const SensitivityOptions& options)
      : model_(model), options_(options), session_(model_, options_, search::identity_for(model, options)) {}

  const std::string& identity() const override { return session_.identity(); }
  std::string answer(const std::string& question) override { return session_.answer(question); }

 private:
  std::filesystem::path model_;
  SensitivityOptions options_;
  search::SensitivitySession session_;
};

}  // namespace

std::unique_ptr<Session> open_session(const std::filesystem::path& model, const SensitivityOptions& options) {
  model::require_support(model, "sensitivity");
  return std::make_unique<OwnedSensitivitySession>(model, options);
}

}  // namespace ounce
