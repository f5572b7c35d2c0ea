#include "search/tune/measuring_evaluator.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ounce/error.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/cancel.h"
#include "base/digest.h"
#include "base/json_text.h"
#include "base/machine.h"
#include "quantize/recipe_json.h"
#include "search/tune/evaluator.h"
#include "search/tune/journal.h"

namespace ounce::search {
namespace {

using nlohmann::json;

constexpr const char* kTimingCpu = "timing cpu";

json about(const char* measure, const Recipe& recipe) {
  return {{"measure", measure}, {"recipe", quantization::to_json(recipe)}};
}

}  // namespace

MeasuringEvaluator::MeasuringEvaluator(const TuneOptions& options, const Split& split, CandidateMaker& maker,
                                       Journal& journal, Clock& clock, const std::string& identity)
    : Evaluator(clock),
      options_(options),
      maker_(maker),
      journal_(journal),
      meter_(options, split, maker, identity),
      here_(meter_, journal, side_by_side(meter_.original_bytes(), options.runtime, options.threads)),
      questions_(&journal, options.queue == nullptr ? here_ : *options.queue, identity) {
  if (options.queue == nullptr) {
    timing_cpu_ = cpu_name();
  } else if (const Journal::Entry* known = journal.find(kTimingCpu);
             known != nullptr && known->value.is_string()) {
    timing_cpu_ = known->value;
  }
}

// Infinite with a budget of models: running measurements are not stopped then.
double MeasuringEvaluator::seconds_left() const {
  return clock_.counts_models() ? std::numeric_limits<double>::infinity() : clock_.left() - kept_back_;
}

// Counts each model once.
void MeasuringEvaluator::count(std::set<std::string> keys) {
  std::erase_if(keys, [&](const std::string& key) { return counted_.contains(key); });
  clock_.count(keys.size());
  counted_.merge(keys);
}

const json* MeasuringEvaluator::recall(const std::string& key) {
  const Journal::Entry* known = journal_.find(key);
  if (known == nullptr) return nullptr;
  clock_.credit(known->seconds);
  ++recalled_;
  return &known->value;
}

json MeasuringEvaluator::do_here(const std::string& key, const std::function<json()>& find) {
  before_measuring();
  const TimeLimit limit(seconds_left());
  const Stopwatch time;
  json value = find();
  return journal_.add(key, std::move(value), time.seconds()).value;
}

Answer MeasuringEvaluator::measure(const json& question) {
  before_measuring();
  const TimeLimit limit(seconds_left());
  Answer measured;
  questions_.ask({question}, [&](std::size_t, const Answer& answer) { measured = answer; });
  take_notes(measured);
  return measured;
}

void MeasuringEvaluator::take_notes(const Answer& answer) {
  for (const std::string& note : answer.notes) {
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
  }
}

std::vector<double> MeasuringEvaluator::noises(const std::vector<Recipe>& recipes) {
  std::vector<json> asked;
  std::set<std::string> keys;
  for (const Recipe& recipe : recipes) keys.insert(key_of(asked.emplace_back(about("noise", recipe))));
  count(keys);
  const double none = std::numeric_limits<double>::infinity();
  std::vector<double> noises(recipes.size(), none);
  std::vector<std::size_t> unknown;
  std::vector<json> questions;
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    const Journal::Entry* known = journal_.find(key_of(asked[i]));
    if (known == nullptr || !(known->value.is_number() || known->value.is_string())) {
      unknown.push_back(i);
      questions.push_back(asked[i]);
      continue;
    }
    clock_.credit(known->seconds);
    ++recalled_;
    noises[i] = number_or(known->value, none);
  }
  if (unknown.empty()) return noises;
  before_measuring();
  const TimeLimit limit(seconds_left());
  questions_.ask(std::move(questions), [&](std::size_t k, const Answer& answer) {
    noises[unknown[k]] = number_or(answer.value, none);
    take_notes(answer);
  });
  return noises;
}

TuneTrial MeasuringEvaluator::judge(const Recipe& recipe, const std::string& name) {
  const json question = about("quality", recipe);
  count({key_of(question)});
  TuneTrial trial;
  try {
    trial = answer(question, trial_of);
  } catch (const Error& error) {  // this error is not kept
    if (!is_shortage(error)) throw;
    trial.problem = error.what();
  }
  trial.name = name;
  trial.ratio =
      static_cast<double>(trial.bytes) / static_cast<double>(std::max<std::uint64_t>(original_bytes(), 1));
  return trial;
}

std::vector<SpeedUp> MeasuringEvaluator::measure_times(const std::vector<Recipe>& recipes, double seconds,
                                                       int repetition) {
  json question = {{"measure", "time"},  {"recipes", json::array()},
                   {"seconds", seconds}, {"repetition", repetition},
                   {"cpu", timing_cpu_}, {"exclusive", options_.queue != nullptr}};
  for (const Recipe& recipe : recipes) question["recipes"].push_back(quantization::to_json(recipe));
  const auto read = [&](const json& known) {
    std::vector<SpeedUp> speeds;
    for (std::size_t i = 0; i < recipes.size(); ++i) speeds.push_back(speed_of(known.at(i)));
    return speeds;
  };
  if (!timing_cpu_.empty()) return answer(question, read);
  // Times of different CPUs are not comparable: all later ones come from the CPU that answers first.
  const Answer first = measure(question);
  timing_cpu_ = first.cpu;
  question["cpu"] = timing_cpu_;
  journal_.add(kTimingCpu, timing_cpu_, 0);
  if (first.is_kept) journal_.add(key_of(question), first.value, first.seconds);
  return read(first.value);
}

LoadMemory MeasuringEvaluator::memory_of(const json& question) {
  return answer(question, [](const json& known) -> LoadMemory {
    return {known.at("peak"), known.at("stays")};
  });
}

std::optional<MeasuredMemory> MeasuringEvaluator::memory(const Recipe& recipe) {
  const LoadMemory original = memory_of({{"measure", "memory"}}), made = memory_of(about("memory", recipe));
  if (original.peak == 0 || made.peak == 0) return std::nullopt;
  return MeasuredMemory{made, static_cast<double>(made.peak) / static_cast<double>(original.peak)};
}

bool MeasuringEvaluator::computes_on_integers(const Recipe& recipe) {
  const auto find = [&]() -> json {
    try {
      const auto treated = layers(recipe);
      return std::any_of(treated.begin(), treated.end(),
                         [](const TreatedLayer& layer) { return is_integer(layer.format); });
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      return false;
    }
  };
  const std::string key = key_of(about("integers", recipe));
  return once(
      key, [&] { return do_here(key, find); }, [](const json& known) { return known.get<bool>(); });
}

Resolution MeasuringEvaluator::resolve_static(double close_enough, double most) {
  const char* const unit = clock_.counts_models() ? "models" : "seconds";
  const json question = {
      {"measure", "resolve static"},
      {"budget", fmt::format("{} {}", clock_.budget(), unit)},
      {"within", {{"most", most}, {"unit", unit}, {"close_enough", number(close_enough)}}}};
  std::uint64_t models = 0;
  Resolution found = answer(question, [&](const json& known) -> Resolution {
    models = known.at("models");
    return {known.at("problem"), quantization::recipe_from(known.at("recipe")),
            known.at("notes").get<std::vector<std::string>>()};
  });
  clock_.count(std::min(models, static_cast<std::uint64_t>(std::max(clock_.left(), 0.0))));
  return found;
}

TuneTrial MeasuringEvaluator::hold_out(const Recipe& recipe, double confidence) {
  json question = about("held out", recipe);
  question["confidence"] = confidence;
  return answer(question, trial_of);
}

}  // namespace ounce::search
