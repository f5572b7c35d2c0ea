#include "search/tune/measuring_evaluator.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/cancel.h"
#include "base/digest.h"
#include "base/json_text.h"
#include "base/machine.h"
#include "base/quality.h"
#include "base/thread_pool.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/models/open.h"
#include "quantize/candidate_error.h"
#include "quantize/output_place.h"
#include "quantize/recipe_json.h"
#include "quantize/statement.h"
#include "recipe/format_info.h"
#include "search/tune/evaluator.h"
#include "search/tune/journal.h"
#include "search/tune/tuning.h"

namespace ounce::search {
namespace {

using nlohmann::json;

constexpr std::uint64_t kRecordedBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kNoiseSamples = 32;                   // samples for noises()
constexpr std::size_t kMostFiles = 24;                        // candidate files kept for later measurements
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;  // total size of these files

std::string key_of(const char* what, const Recipe& recipe) {
  return std::string(what) + " " + hex(digest_of(json_text(quantization::to_json(recipe))));
}

void fill(TuneTrial& trial, const VerifyResult& result, double confidence) {
  trial.sqnr_db = evaluate::worst_sqnr(result.outputs);
  trial.agreement = evaluate::least_agreement(result.outputs);
  if (!result.metrics.empty()) trial.metric = result.metrics.front();
  trial.passed = result.passed;
  trial.verdict = result.verdict;
  trial.samples = result.samples;
  trial.confidence = confidence;
  if (confidence == 0) return;  // without a confidence, `certain` is not considered
  trial.samples_needed = result.samples_needed;
  trial.has_too_few_samples = result.has_too_few_samples;
}

}  // namespace

MeasuringEvaluator::MeasuringEvaluator(const TuneOptions& options, const Split& split, CandidateMaker& maker,
                                       Journal& journal, Clock& clock)
    : Evaluator(clock),
      options_(options),
      split_(split),
      search_confidence_(ValidationAttempts(options.gates.confidence.value_or(0)).confidence_of_first()),
      maker_(maker),
      journal_(journal) {
  original_bytes_ = evaluate::check_model(maker.model()).bytes;
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

json MeasuringEvaluator::find_out(const std::string& key, const std::function<json()>& find) {
  before_measuring();
  const TimeLimit limit(seconds_left());
  const Stopwatch time;
  is_cut_short_ = false;
  json value = find();
  if (is_cut_short_) return value;
  return journal_.add(key, std::move(value), time.seconds()).value;
}

VerifyOptions MeasuringEvaluator::verify_options(const DataOptions& data) const {
  VerifyOptions how{options_};
  how.runtime = options_.runtime;
  how.data = data;
  how.gates = options_.gates;
  return how;
}

Gates MeasuringEvaluator::gates_with(double confidence) const {
  Gates gates = options_.gates;
  gates.confidence = confidence;
  return gates;
}

const RecordedReference& MeasuringEvaluator::recording() {
  if (recording_ != nullptr) return *recording_;
  recording_ =
      std::make_unique<RecordedReference>(maker_.model(), verify_options(split_.search.data), kRecordedBytes);
  if (recording_->is_cut())
    notes_.push_back(
        fmt::format("searched on the first {} of {} samples, because more do not fit into memory",
                    recording_->samples(), split_.search.samples));
  return *recording_;
}

// Returns a candidate's file; makes it if it does not exist or has been removed.
std::filesystem::path MeasuringEvaluator::file_of(const Recipe& recipe) {
  const std::string name = hex(digest_of(json_text(quantization::to_json(recipe)))) + maker_.extension();
  const auto found = std::find(files_.begin(), files_.end(), name);
  if (found != files_.end()) {
    files_.splice(files_.begin(), files_, found);
    return folder_.path() / name;
  }
  const std::uint64_t bytes = maker_.make(recipe, folder_.path() / name);
  files_.push_front(name);
  const std::size_t most =
      std::clamp<std::size_t>(kMostBytes / std::max<std::uint64_t>(bytes, 1), 4, kMostFiles);
  while (files_.size() > most) {
    remove_model(folder_.path() / files_.back());
    files_.pop_back();
  }
  return folder_.path() / name;
}

std::vector<double> MeasuringEvaluator::noises(const std::vector<Recipe>& recipes) {
  std::set<std::string> keys;
  for (const Recipe& recipe : recipes) keys.insert(key_of("noise", recipe));
  count(keys);
  const double none = std::numeric_limits<double>::infinity();
  std::vector<double> noises(recipes.size(), none);
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    const Journal::Entry* known = journal_.find(key_of("noise", recipes[i]));
    if (known == nullptr || !(known->value.is_number() || known->value.is_null())) {
      unknown.push_back(i);
      continue;
    }
    clock_.credit(known->seconds);
    ++recalled_;
    noises[i] = number_or(known->value, none);
  }
  if (unknown.empty()) return noises;
  before_measuring();
  const TimeLimit limit(seconds_left());
  const RecordedReference& samples = recording();
  maker_.prepare(recipes[unknown.front()]);
  ThreadPool pool(side_by_side(original_bytes_, options_.runtime, options_.threads));
  const auto at_once = static_cast<double>(std::min<std::size_t>(pool.size(), unknown.size()));
  pool.for_each(unknown.size(), [&](std::size_t k) {
    const Recipe& recipe = recipes[unknown[k]];
    const Stopwatch time;
    const std::filesystem::path file =
        folder_.path() /
        (hex(digest_of(json_text(quantization::to_json(recipe)))) + ".noise" + maker_.extension());
    double noise = none;
    bool is_fact = true;
    try {
      maker_.make(recipe, file);
      noise = evaluate::worst_noise(samples.compare(file, kNoiseSamples).outputs);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kIo) throw;
      is_fact = !is_shortage(error);
    }
    remove_model(file);
    noises[unknown[k]] = noise;
    if (is_fact) journal_.add(key_of("noise", recipe), number(noise), time.seconds() / at_once);
  });
  return noises;
}

TuneTrial MeasuringEvaluator::judge(const Recipe& recipe, const std::string& name) {
  count({key_of("quality", recipe)});
  const auto find = [&]() -> json {
    const RecordedReference& samples =
        recording();  // outside of the try block: errors in the data do not concern the candidate
    TuneTrial trial;
    try {
      const std::filesystem::path file = file_of(recipe);
      trial.bytes = evaluate::check_model(file).bytes;
      // Candidates that do not depend on the data are judged with the confidence only once, at the end, on
      // all samples.
      const double confidence = is_made_without_data(recipe) ? 0 : search_confidence_;
      const Gates gates = gates_with(confidence);
      fill(trial, samples.compare(file, 0, &gates), confidence);
      if (trial.bytes >= original_bytes_ && trial.sqnr_db > Quality::kSameModel)
        throw Error(ErrorCode::kUnsupported, "no layer of the model supports this format");
    } catch (const Error& error) {
      if (!is_own_failure(error) || is_shortage(error)) throw;
      trial.problem = error.what();
    }
    return trial_json(trial);
  };
  TuneTrial trial;
  try {
    trial = once(key_of("quality", recipe), find, trial_of);
  } catch (const Error& error) {  // this error is not kept
    if (!is_shortage(error)) throw;
    trial.problem = error.what();
  }
  trial.name = name;
  trial.ratio =
      static_cast<double>(trial.bytes) / static_cast<double>(std::max<std::uint64_t>(original_bytes_, 1));
  return trial;
}

std::vector<SpeedUp> MeasuringEvaluator::measure_times(const std::vector<Recipe>& recipes, double seconds,
                                                       int repetition) {
  std::string key = fmt::format("{} {} ", seconds, repetition);
  for (const Recipe& recipe : recipes) key += hex(digest_of(json_text(quantization::to_json(recipe))));
  const auto find = [&]() -> json {
    std::vector<std::filesystem::path> models = {maker_.model()};
    for (const Recipe& recipe : recipes) models.push_back(file_of(recipe));
    BenchOptions how;
    how.runtime = options_.runtime;
    how.data = split_.search.data;
    how.data.labels.clear();
    how.seconds = seconds;
    how.cold_starts = 0;
    json all = json::array();
    const BenchReport report = bench(models, how);
    for (std::size_t i = 1; i < report.models.size(); ++i) {
      const SpeedUp& speed = report.models[i].batches.front().speed_up;
      if (!speed.is_reliable) is_cut_short_ = true;
      all.push_back(speed_json(speed));
    }
    return all;
  };
  return once("time " + hex(digest_of(key)), find, [&](const json& known) {
    std::vector<SpeedUp> speeds;
    for (std::size_t i = 0; i < recipes.size(); ++i) speeds.push_back(speed_of(known.at(i)));
    return speeds;
  });
}

// Measures in a separate process.
LoadMemory MeasuringEvaluator::memory_of(const std::string& key,
                                         const std::function<std::filesystem::path()>& file) {
  const auto find = [&]() -> json {
    runtime::ExecutorOptions how = evaluate::executor_options(options_.runtime);
    if (!how.isolate) how.isolate = runtime::Limits{};
    const LoadMemory memory = runtime::load(file(), how)->load_memory().value_or(LoadMemory{});
    return {{"peak", memory.peak}, {"stays", memory.stays}};
  };
  return once(key, find, [](const json& known) -> LoadMemory {
    return {known.at("peak"), known.at("stays")};
  });
}

std::optional<MeasuredMemory> MeasuringEvaluator::memory(const Recipe& recipe) {
  const LoadMemory original = memory_of("memory", [&] { return maker_.model(); }),
                   made = memory_of(key_of("memory", recipe), [&] { return file_of(recipe); });
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
  return once(key_of("integers", recipe), find, [](const json& known) { return known.get<bool>(); });
}

Resolution MeasuringEvaluator::resolve_static(double close_enough, double most) {
  Recipe recipe;
  recipe.format = format_with(Arithmetic::kStatic);
  const auto find = [&]() -> json {
    const double end = clock_.elapsed() + most;
    std::uint64_t models = 0;
    quantization::StaticLimits limits;
    limits.others_go_on = true;
    limits.close_enough = limits.good = close_enough;
    limits.has_time = [&] {
      if (clock_.counts_models()) return static_cast<double>(++models) <= most;
      is_cut_short_ = is_cut_short_ || clock_.elapsed() >= end;
      return !is_cut_short_;
    };
    try {
      std::vector<std::string> notes;
      return {{"problem", ""},
              {"recipe", quantization::to_json(maker_.resolve(recipe, limits, notes))},
              {"notes", notes},
              {"models", models}};
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kInternal || !is_own_failure(error)) throw;
      return {{"problem", error.what()},
              {"recipe", quantization::to_json(Recipe())},
              {"notes", json::array()},
              {"models", models}};
    }
  };
  const std::string key =
      fmt::format("resolve static {}{}", clock_.budget(), clock_.counts_models() ? " models" : "");
  std::uint64_t models = 0;
  Resolution found = once(key, find, [&](const json& known) -> Resolution {
    models = known.at("models");
    return {known.at("problem"), quantization::recipe_from(known.at("recipe")),
            known.at("notes").get<std::vector<std::string>>()};
  });
  clock_.count(std::min(models, static_cast<std::uint64_t>(std::max(clock_.left(), 0.0))));
  return found;
}

TuneTrial MeasuringEvaluator::hold_out(const Recipe& recipe, double confidence) {
  const bool has_all = confidence > 0 && is_made_without_data(recipe);
  VerifyOptions how = verify_options(has_all ? options_.data : split_.held_out.data);
  how.gates = gates_with(confidence);
  how.reference_outputs = reference_outputs_;
  TuneTrial trial;
  const VerifyResult result = verify(maker_.model(), file_of(recipe), how);
  fill(trial, result, confidence);
  trial.gate = quantization::stated_gate(how, result);
  return trial;
}

}  // namespace ounce::search
