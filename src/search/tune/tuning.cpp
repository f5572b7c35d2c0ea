#include "search/tune/tuning.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ounce/error.h>
#include <ounce/search.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/cancel.h"
#include "base/digest.h"
#include "base/json_text.h"
#include "base/machine.h"
#include "data/source/open_source.h"
#include "evaluate/compare/gates.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/metrics/metric_command.h"
#include "evaluate/metrics/metric_info.h"
#include "evaluate/models/open.h"
#include "evaluate/timing/cpus.h"
#include "formats/open.h"
#include "io/output_file.h"
#include "model/model_file.h"
#include "quantize/original.h"
#include "quantize/output_place.h"
#include "quantize/recipe_json.h"
#include "recipe/format_info.h"
#include "search/tune/candidate_maker.h"
#include "search/tune/evaluator.h"
#include "search/tune/journal.h"
#include "search/tune/measuring_evaluator.h"
#include "search/tune/search.h"
#include "target/ort/saturation.h"

namespace ounce::search {
namespace {

using nlohmann::json;

// Without a requested confidence, gates that have no confidence bound are judged on the samples alone. Throws
// Error{kUsage} if a confidence is requested for such a gate.
void settle_confidence(TuneOptions& options) {
  Gates& gates = options.gates;
  if (!gates.confidence) {
    gates.confidence = kUsualConfidence;
    gates.allow_unbounded = true;
  }
  if (gates.allow_unbounded || *gates.confidence == 0) return;
  const auto refuse = [](const char* gate, const char* why) {
    throw Error(
        ErrorCode::kUsage,
        fmt::format("{} has no bound for `gates.confidence`: {}; without `gates.confidence` this gate is "
                    "judged on the samples alone",
                    gate, why));
  };
  if (gates.max_abs_diff)
    refuse("`gates.max_abs_diff`", "no number of samples bounds the largest difference on other data");
  if (options.metric_command.is_given() && gates.max_drop)
    refuse("`metric_command`", "it gives one number for all samples, which says nothing about others");
}

// Sets default gates. Without labels a drop cannot be measured, so the outputs' SQNR is judged instead.
TuneOptions with_gates(TuneOptions options, std::vector<std::string>& notes) {
  if (options.gates.set != GateSet::kNone)
    throw Error(ErrorCode::kUsage,
                "`gates.set` applies to verify and publish only: set `gates.max_drop` instead");
  const bool is_blind = options.gates.max_drop && !evaluate::has_metric(options);
  if (is_blind) options.gates.max_drop.reset();
  const bool has_other = evaluate::has_any(options.gates);
  if (!has_other && !is_blind && !options.data.labels.empty()) {
    options.gates.max_drop = kDefaultDrop;
    notes.emplace_back(evaluate::kDefaultDropNote);
  } else if (!has_other) {
    options.gates.min_sqnr = kDefaultTuneSqnr;
  }
  settle_confidence(options);
  if (is_blind)
    notes.push_back(
        "there are no labels, so `gates.max_drop` is ignored" +
        (has_other ? "" : fmt::format("; every output must reach {} dB SQNR instead", kDefaultTuneSqnr)));
  return options;
}

QuantizeOptions maker_options(const TuneOptions& options, const Split& split) {
  QuantizeOptions made;
  made.recipe.target = options.target;
  made.trial.runtime.library = options.runtime.library;
  made.trial.runtime.isolate = options.runtime.isolate;
  made.trial.data = split.search.data;
  made.trial.outputs = options.outputs;
  made.trial.data.labels.clear();
  made.threads = options.threads;
  return made;
}

// All options that change a measurement. The CPU's name matters to times only, which have it in their keys;
// the other measurements depend on the CPU's kernels, which are a part of every identity.
std::string identity(const std::filesystem::path& model, const TuneOptions& options) {
  const Gates& gates = options.gates;
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "-";
  };
  std::string drops;
  for (const auto& [name, limit] : gates.max_drops) drops += fmt::format(" {}={}", name, limit);
  return identity_of(
      model, options.data, options.runtime,
      fmt::format("tune 6 gates {} {} {} {} {}{} {} {} sure {} metric {} {} '{}' {} of '{}' {} target {}",
                  text(gates.max_abs_diff), text(gates.mean_abs_diff), text(gates.min_sqnr),
                  text(gates.min_agreement), text(gates.max_drop), drops, text(gates.max_mse),
                  text(gates.max_flips), text(gates.confidence), name_of(options.task), options.metric,
                  fmt::format("{}' '{}", options.metric_command.command, fmt::join(options.tags, ",")),
                  options.label_output, fmt::join(options.outputs, "', '"), text(options.threshold),
                  options.target));
}

// False if nothing asks for it: it digests all data.
bool has_identity(const TuneOptions& options) {
  return options.queue != nullptr || (options.keep && !options.metric_command.function);
}

// One run of tune(). The best candidate so far is at the output path.
class Tuning {
 public:
  Tuning(const std::filesystem::path& model, const std::filesystem::path& output, const TuneOptions& given)
      : options_(with_gates(given, result_.notes)),
        clock_(options_.budget),
        split_(split_data(model, options_.runtime, options_.data)),
        maker_(make_candidate_maker(model, maker_options(options_, split_))),
        identity_(has_identity(options_) ? identity(model, options_) : ""),
        journal_(options_.keep && !options_.metric_command.function
                     ? journal_file(options_.cache, identity_, result_.notes)
                     : std::filesystem::path()),
        evaluator_(options_, split_, *maker_, journal_, clock_, identity_),
        search_(options_, evaluator_, clock_, [this](const Candidate& best) { return adopt(best); }),
        tries_(*options_.gates.confidence),
        output_(output) {
    result_.model = model;
    result_.confidence = tries_.confidence();
    result_.bytes_before = evaluator_.original_bytes();
    result_.search_samples = split_.search.samples;
    result_.held_out_samples = split_.held_out.samples;
    if (split_.is_same)
      result_.notes.push_back(fmt::format(
          "{} samples are too few for a holdout set: candidates are judged on the samples used for the "
          "search; give 100 or more",
          split_.search.samples));
    evaluator_.before_measuring = [this] { best_.put_in_place(); };
  }

  TuneResult run() {
    try {
      search_.run();
      best_.put_in_place();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCancelled || !is_cancelled()) throw;
      if (!best_.there()) throw;  // there is no result
      result_.is_interrupted = true;
    }
    return finish();
  }

 private:
  // Judges a candidate on the holdout set, then with the checks of quantize().
  bool adopt(const Candidate& candidate) {
    const std::string digest = hex(digest_of(json_text(quantization::to_json(candidate.recipe))));
    if (!held_out_.contains(candidate.number) && !holds_elsewhere(candidate)) return false;
    const std::string key = "written " + digest;
    const auto problem = evaluator_.once(
        key, [&] { return evaluator_.do_here(key, [&] { return try_to_write(candidate); }); },
        [](const json& known) { return known.get<std::string>(); });
    if (!problem.empty()) {
      unwritten_[candidate.number] = problem;
      result_.notes.push_back(
          fmt::format("'{}' passed but cannot be written: {}", candidate.trial.name, problem));
      return false;
    }
    best_.expect(candidate.number);
    return true;
  }

  // Judges each candidate once on the holdout set: repeated attempts would lower the confidence.
  bool holds_elsewhere(const Candidate& candidate) {
    const TuneTrial held_out = evaluator_.hold_out(candidate.recipe, tries_.confidence_of_next());
    if (held_out.passed) {
      held_out_[candidate.number] = held_out;
      return true;
    }
    refused_[candidate.number] = held_out;
    const bool has_all = held_out.samples > split_.held_out.samples;
    if (held_out.has_too_few_samples) {  // inconclusive; reported at the end
      if (has_all || split_.is_same) search_.note_too_few_samples();
      return false;
    }
    tries_.note_failure();
    result_.notes.push_back(fmt::format("'{}' passed on the search data but not on {}: {}",
                                        candidate.trial.name, has_all ? "all data" : "the held-out data",
                                        held_out.verdict));
    return false;
  }

  json try_to_write(const Candidate& candidate) {
    try {
      best_.write(candidate.number);
      return "";
    } catch (const Error& error) {
      if (!is_own_failure(error) || is_shortage(error)) throw;  // only reproducible errors are kept
      return error.what();
    }
  }

  void write(const Candidate& candidate) {
    std::vector<LayerChoice> layers = layers_of(candidate.recipe);  // first, as an interruption may follow
    bytes_ = maker_->write(candidate.recipe, output_, held_out_.at(candidate.number).gate).bytes_after;
    result_.layers = std::move(layers);
  }

  TuneResult finish() {
    result_.notes.insert(result_.notes.end(), search_.notes().begin(), search_.notes().end());
    for (const Candidate& candidate : search_.candidates()) {
      TuneTrial& trial = result_.trials.emplace_back(candidate.trial);
      trial.recipe = candidate.recipe;
      explain(candidate.number, trial);
    }
    mark_front(result_.trials);
    result_.is_out_of_time = !search_.is_complete();
    result_.runtime_version = split_.runtime_version;
    result_.recalled = evaluator_.recalled();
    result_.notes.insert(result_.notes.end(), evaluator_.notes().begin(), evaluator_.notes().end());
    if (best_.there() && (search_.best() != nullptr || result_.is_interrupted)) {
      give_answer();
    } else if (!result_.is_interrupted) {
      give_closest();
    }
    result_.seconds = clock_.real_seconds();
    return std::move(result_);
  }

  // Sets the reason of the rejection, and the number of samples that could change it.
  void explain(std::size_t number, TuneTrial& trial) const {
    const auto found = refused_.find(number);
    const TuneTrial* refused = found == refused_.end() ? nullptr : &found->second;
    if (refused != nullptr) trial.has_too_few_samples = refused->has_too_few_samples;
    trial.reason = rejection_of(trial, options_.objective, refused);
    if (const auto problem = unwritten_.find(number); problem != unwritten_.end())
      trial.reason = "cannot be written: " + problem->second;
    const std::uint64_t needed = refused != nullptr ? samples_for(*refused, split_.held_out.samples)
                                 : !trial.passed    ? samples_for(trial, split_.search.samples)
                                                    : 0;
    const std::uint64_t given = split_.search.samples + (split_.is_same ? 0 : split_.held_out.samples);
    trial.more_samples = needed > given ? needed - given : 0;
  }

  // Notes a candidate that would be better than the best but has too few samples to pass.
  void note_missing_samples() {
    const TuneTrial* lacking = nullptr;
    for (const TuneTrial& trial : result_.trials) {
      if (trial.more_samples == 0 || !is_better(trial, result_.best, options_.objective)) continue;
      if (lacking == nullptr || is_better(trial, *lacking, options_.objective)) lacking = &trial;
    }
    if (lacking == nullptr) return;
    result_.notes.push_back(fmt::format(
        "about {} more samples could let '{}' pass, which is {}{:.1f} % of the size", lacking->more_samples,
        lacking->name, lacking->is_timed ? fmt::format("{:.2f} × as fast and ", lacking->speed_up.ratio) : "",
        100 * lacking->ratio));
  }

  // Reports the written candidate: after an interruption the last best one may not have been written.
  void give_answer() {
    result_.passed = true;
    result_.output = output_;
    result_.best_trial = *best_.there();
    result_.best = result_.trials[*best_.there()];
    result_.best.held_out = true;
    result_.best.bytes = bytes_;
    result_.best.ratio = static_cast<double>(bytes_) / static_cast<double>(result_.bytes_before);
    result_.held_out = held_out_.at(*best_.there());
    note_missing_samples();
  }

  void give_closest() {
    const Candidate* found = closest();
    if (found == nullptr && result_.trials.empty()) {
      result_.notes.emplace_back("there was no time to make a candidate");
      return;
    }
    if (found == nullptr)
      throw Error(ErrorCode::kUnsupported, "no candidate could be made: " + result_.trials.front().problem,
                  result_.model.string());
    const TuneTrial& trial = found->trial;
    const bool is_no_use = trial.passed && !trial.is_slower && trial.held_out.value_or(true) && !gains(trial);
    if (is_no_use && !best_.there())
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("no improvement found: '{}' passes but is neither smaller nor faster than the "
                              "original; keep the original",
                              trial.name),
                  result_.model.string());
    result_.best_trial = found->number;
    result_.best = result_.trials[found->number];
    result_.samples_needed = samples_for(result_.best, split_.search.samples);
    if (const auto refused = refused_.find(found->number); refused != refused_.end()) {
      result_.best.verdict = refused->second.verdict;
      result_.samples_needed = samples_for(refused->second, split_.held_out.samples);
    }
    result_.closest = closest_name(output_);
    if (best_.there()) {  // the best turned out to be slower than the original
      std::filesystem::rename(output_, result_.closest);
    } else {
      result_.layers = layers_of(found->recipe);
      maker_->write(found->recipe, result_.closest);
    }
  }

  std::vector<LayerChoice> layers_of(const Recipe& recipe) {
    std::vector<LayerChoice> layers;
    for (const TreatedLayer& treated : maker_->layers(recipe)) {
      const Format format = recipe.is_half() ? recipe.format : treated.format;
      layers.push_back({treated.layer.name, treated.layer.op_type, format});
    }
    return layers;
  }

  // The total number of samples needed, if `trial` was judged on a part of them.
  std::uint64_t samples_for(const TuneTrial& trial, std::uint64_t part) const {
    const bool is_part = !split_.is_same && trial.samples <= part;
    return is_part ? 2 * trial.samples_needed : trial.samples_needed;
  }

  // The failed candidate that misses its gate by the least; of equals the one with the highest SQNR.
  const Candidate* closest() const {
    if (best_.there()) return &search_.candidates()[*best_.there()];
    const auto quality = [&](const TuneTrial& trial) {
      double missing = 0;
      if (options_.gates.max_drop && trial.metric) {
        missing = trial.metric->drop - *options_.gates.max_drop;
      } else if (options_.gates.min_agreement && trial.agreement) {
        missing = *options_.gates.min_agreement - *trial.agreement;
      }
      return std::pair(-std::max(missing, 0.0), sqnr_rank(trial));
    };
    const Candidate* found = nullptr;
    for (const Candidate& candidate : search_.candidates()) {
      if (!candidate.trial.problem.empty()) continue;
      if (found == nullptr || quality(candidate.trial) > quality(found->trial)) found = &candidate;
    }
    return found;
  }

  TuneResult result_;
  TuneOptions options_;
  Clock clock_;
  Split split_;
  std::unique_ptr<CandidateMaker> maker_;
  std::string identity_;
  Journal journal_;
  MeasuringEvaluator evaluator_;
  Search search_;
  ValidationAttempts tries_;
  std::filesystem::path output_;
  BestOnDisk best_{[this](std::size_t number) { write(search_.candidates()[number]); }};
  std::map<std::size_t, TuneTrial> held_out_, refused_;  // results on the holdout set, by candidate
  std::map<std::size_t, std::string> unwritten_;         // errors, by candidate
  std::uint64_t bytes_ = 0;                              // size of the written model
};

// Answers the questions of another process's Tuning.
class TuneSession final : public Session {
 public:
  TuneSession(const std::filesystem::path& model, const TuneOptions& given)
      : options_(with_gates(given, notes_)),
        split_(split_data(model, options_.runtime, options_.data)),
        maker_(make_candidate_maker(model, maker_options(options_, split_))),
        meter_(options_, split_, *maker_, ounce::search::identity(model, options_)) {}

  const std::string& identity() const override { return meter_.identity(); }
  std::string answer(const std::string& question) override { return meter_.answer(question); }

 private:
  std::vector<std::string> notes_;  // the other process reports them
  TuneOptions options_;
  Split split_;
  std::unique_ptr<CandidateMaker> maker_;
  TuneMeter meter_;
};

}  // namespace

std::filesystem::path closest_name(std::filesystem::path output) {
  return output.replace_extension(".closest" + output.extension().string());
}

TuneResult find_best(const std::filesystem::path& model, const std::filesystem::path& output,
                     const TuneOptions& options) {
  return Tuning(model, output, options).run();
}

}  // namespace ounce::search

namespace ounce {

std::unique_ptr<Session> open_session(const std::filesystem::path& model, const TuneOptions& options) {
  model::require_support(model, "tune");
  return std::make_unique<search::TuneSession>(model, options);
}

namespace {

// True if Ounce wrote this file.
bool is_ours(const std::filesystem::path& file) {
  try {
    return !quantization::why_written_by_ounce(*formats::open_model(file)).empty();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    return false;  // not a model
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
  if (target::has_exact_dot(
          target::parse_target(options.target)))  // 8-bit weights saturate on the other CPUs
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
  const CancellationScope scope(options.progress);
  model::require_support(model, "tune");
  if (options.data.is_generated())
    throw Error(ErrorCode::kUsage, "tune needs real data: give `data`", model.string());
  if (options.budget.models == 0 && !(options.budget.seconds > 0))
    throw Error(ErrorCode::kUsage, "`budget` must be greater than zero");
  evaluate::require_confidence(options.gates);
  evaluate::require_outputs(options.outputs, model);
  const model::ModelFilePtr original = formats::open_model(model);
  original->validate();
  quantization::require_original(*original, "Tune");
  quantization::Inputs inputs;
  inputs.add(*original).add(options.data).add(options.runtime);
  add_journals(options, inputs);
  inputs.require_apart(output);
  const std::filesystem::path closest = search::closest_name(output);
  inputs.require_apart(closest, "the closest model");
  if (std::filesystem::exists(closest) && !is_ours(closest))
    throw Error(ErrorCode::kUsage, "exists and was not written by Ounce; choose another `output`",
                closest.string());
  io::require_place(output);
  data::require_files(options.data);
  evaluate::require_program(options.metric_command);
  TuneResult result = search::find_best(model, output, options);
  // LiteRT's INT8 kernels are exact on every CPU.
  const bool may_saturate = original->kind() == model::ModelKind::kOnnx;
  if (may_saturate && result.passed && computes_on_integers(result.layers))
    result.cpus = compare_on_cpus(result, options);
  return result;
}

}  // namespace ounce
