#include "search/tune/tune_meter.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/json_text.h"
#include "base/machine.h"
#include "base/quality.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/models/open.h"
#include "quantize/recipe_json.h"
#include "quantize/statement.h"
#include "recipe/format_info.h"
#include "search/tune/evaluator.h"
#include "search/tune/tuning.h"

namespace ounce::search {
namespace {

using nlohmann::json;

constexpr std::uint64_t kRecordedBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kNoiseSamples = 32;                   // samples for noise()
constexpr std::size_t kMostFiles = 24;                        // candidate files kept for later measurements
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;  // total size of these files
constexpr JsonLimits kTuneQuestion = {.depth = 16, .bytes = std::size_t{64} << 20};

std::string digest_of_recipe(const Recipe& recipe) {
  return hex(digest_of(json_text(quantization::to_json(recipe))));
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

TuneMeter::TuneMeter(const TuneOptions& options, const Split& split, CandidateMaker& maker,
                     std::string identity)
    : options_(options),
      split_(split),
      maker_(maker),
      identity_(std::move(identity)),
      search_confidence_(ValidationAttempts(options.gates.confidence.value_or(0)).confidence_of_first()) {
  original_bytes_ = evaluate::check_model(maker.model()).bytes;
}

std::string TuneMeter::answer(const std::string& question) {
  const json asked = parse_json(question, kTuneQuestion, "a question");
  const Stopwatch time;
  Answer answer;
  try {
    const std::string measure = asked.at("measure");
    const auto recipe = [&] { return quantization::recipe_from(asked.at("recipe")); };
    if (measure == "noise") {
      answer.value = noise(recipe(), answer);
    } else if (measure == "quality") {
      answer.value = quality(recipe());
      if (recording_ != nullptr && recording_->is_cut())
        answer.notes.push_back(
            fmt::format("searched on the first {} of {} samples, because more do not fit into memory",
                        recording_->samples(), split_.search.samples));
    } else if (measure == "held out") {
      answer.value = held_out(recipe(), asked.at("confidence"));
    } else if (measure == "time") {
      answer.value = times(asked, answer);
    } else if (measure == "memory") {
      answer.value = memory(asked.contains("recipe") ? file_of(recipe()) : maker_.model());
    } else if (measure == "resolve static") {
      answer.value = resolved(asked.at("within"), answer);
    } else {
      throw Error(ErrorCode::kUnsupported, fmt::format("'{}' is not a measure of tune", measure));
    }
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadInput, std::string("a question is not valid: ") + error.what());
  }
  answer.seconds = time.seconds();
  return answer.text();
}

VerifyOptions TuneMeter::verify_options(const DataOptions& data) const {
  VerifyOptions how{options_};
  how.runtime = options_.runtime;
  how.data = data;
  how.gates = options_.gates;
  return how;
}

Gates TuneMeter::gates_with(double confidence) const {
  Gates gates = options_.gates;
  gates.confidence = confidence;
  return gates;
}

const RecordedReference& TuneMeter::recording() {
  const std::scoped_lock lock(mutex_);
  if (recording_ == nullptr)
    recording_ = std::make_unique<RecordedReference>(maker_.model(), verify_options(split_.search.data),
                                                     kRecordedBytes);
  return *recording_;
}

std::filesystem::path TuneMeter::file_of(const Recipe& recipe) {
  const std::scoped_lock lock(mutex_);
  const std::string name = digest_of_recipe(recipe) + maker_.extension();
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

// Infinite for a recipe that cannot be made.
json TuneMeter::noise(const Recipe& recipe, Answer& answer) {
  const RecordedReference& samples = recording();
  maker_.prepare(recipe);
  const std::filesystem::path file =
      folder_.path() / (digest_of_recipe(recipe) + ".noise" + maker_.extension());
  double noise = std::numeric_limits<double>::infinity();
  try {
    maker_.make(recipe, file);
    noise = evaluate::worst_noise(samples.compare(file, kNoiseSamples).outputs);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kIo) throw;
    answer.is_kept = !is_shortage(error);
  }
  remove_model(file);
  return number(noise);
}

json TuneMeter::quality(const Recipe& recipe) {
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
}

json TuneMeter::held_out(const Recipe& recipe, double confidence) {
  const bool has_all = confidence > 0 && is_made_without_data(recipe);
  VerifyOptions how = verify_options(has_all ? options_.data : split_.held_out.data);
  how.gates = gates_with(confidence);
  how.reference_outputs = reference_outputs_;
  TuneTrial trial;
  const VerifyResult result = verify(maker_.model(), file_of(recipe), how);
  fill(trial, result, confidence);
  trial.gate = quantization::stated_gate(how, result);
  return trial_json(trial);
}

json TuneMeter::times(const json& question, Answer& answer) {
  std::vector<std::filesystem::path> models = {maker_.model()};
  for (const json& recipe : question.at("recipes"))
    models.push_back(file_of(quantization::recipe_from(recipe)));
  BenchOptions how;
  how.runtime = options_.runtime;
  how.data = split_.search.data;
  how.data.labels.clear();
  how.seconds = question.at("seconds");
  how.cold_starts = 0;
  json all = json::array();
  const BenchReport report = bench(models, how);
  for (std::size_t i = 1; i < report.models.size(); ++i) {
    const SpeedUp& speed = report.models[i].batches.front().speed_up;
    if (!speed.is_reliable) answer.is_kept = false;  // the machine was too busy
    all.push_back(speed_json(speed));
  }
  return all;
}

// Measures in a separate process.
json TuneMeter::memory(const std::filesystem::path& file) const {
  runtime::ExecutorOptions how = evaluate::executor_options(options_.runtime);
  if (!how.isolate) how.isolate = runtime::Limits{};
  const LoadMemory memory = runtime::load(file, how)->load_memory().value_or(LoadMemory{});
  return {{"peak", memory.peak}, {"stays", memory.stays}};
}

json TuneMeter::resolved(const json& within, Answer& answer) {
  const double most = within.at("most");
  const bool counts_models = within.at("unit") == "models";
  Recipe recipe;
  recipe.format = format_with(Arithmetic::kStatic);
  std::uint64_t models = 0;
  const Stopwatch time;
  quantization::StaticLimits limits;
  limits.others_go_on = true;
  limits.close_enough = limits.good = number_or(within.at("close_enough"), 0);
  limits.has_time = [&] {
    if (counts_models) return static_cast<double>(++models) <= most;
    if (time.seconds() >= most) answer.is_kept = false;  // the result depends on the time
    return answer.is_kept;
  };
  try {
    std::vector<std::string> notes;
    const Recipe found = maker_.resolve(recipe, limits, notes);
    return {{"problem", ""}, {"recipe", quantization::to_json(found)}, {"notes", notes}, {"models", models}};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal || !is_own_failure(error)) throw;
    return {{"problem", error.what()},
            {"recipe", quantization::to_json(Recipe())},
            {"notes", json::array()},
            {"models", models}};
  }
}

}  // namespace ounce::search
