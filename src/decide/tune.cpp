#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/tune.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <optional>
#include <utility>

#include "api/another_file.h"
#include "base/cancel.h"
#include "base/digest.h"
#include "decide/identity.h"
#include "decide/measurement_json.h"
#include "decide/objective.h"
#include "decide/recipe_json.h"
#include "decide/search.h"
#include "graph/verify.h"
#include "onnx/reader.h"
#include "plan/node_wishes.h"
#include "runtime/machine.h"

namespace ounce {
namespace {

using nlohmann::json;

bool has_any(const Gates& gates) {
  return gates.max_abs_diff || gates.mean_abs_diff || gates.min_sqnr || gates.min_agreement || gates.max_drop;
}

// What passes has to be the same model to whoever looks at its outputs; without labels a drop cannot be seen.
TuneOptions with_gates(TuneOptions options, std::vector<std::string>& notes) {
  const std::string instead = fmt::format("every output must come within {} dB instead", kDefaultTuneSqnr);
  if (options.gates.max_drop && options.data.labels.empty()) {
    notes.push_back("there are no labels, so --max-drop has nothing to look at; " + instead);
    options.gates.max_drop.reset();
  }
  if (!has_any(options.gates)) options.gates.min_sqnr = kDefaultTuneSqnr;
  return options;
}

QuantizeOptions workshop_options(const TuneOptions& options, const decide::Split& split) {
  QuantizeOptions made;
  made.recipe.target = options.target;
  made.trial.runtime.library = options.runtime.library;
  made.trial.data = split.search;
  made.trial.data.labels.clear();
  made.threads = options.threads;
  return made;
}

// Everything that changes a measurement.
std::string identity(const std::filesystem::path& model, const TuneOptions& options) {
  const Gates& gates = options.gates;
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "-";
  };
  return decide::identity_of(
      model, options.data, options.runtime,
      fmt::format("tune {} {} {} {} {} metric {} {} {} target {}", text(gates.max_abs_diff),
                  text(gates.mean_abs_diff), text(gates.min_sqnr), text(gates.min_agreement),
                  text(gates.max_drop), static_cast<int>(options.metric), options.output,
                  text(options.threshold), options.target));
}

// One run: what is the best so far is in its place.
class Tuning {
 public:
  Tuning(const std::filesystem::path& model, const std::filesystem::path& output, const TuneOptions& given)
      : options_(with_gates(given, result_.notes)),
        clock_(options_.budget),
        split_(decide::split_data(model, options_.runtime, options_.data)),
        workshop_(model, workshop_options(options_, split_)),
        journal_(options_.keep ? decide::journal_file(options_.cache, identity(model, options_))
                               : std::filesystem::path()),
        laboratory_(options_, split_, workshop_, journal_, clock_),
        search_(options_, laboratory_, clock_, [this](const decide::Candidate& best) { return adopt(best); }),
        output_(output) {
    result_.model = model;
    result_.bytes_before = laboratory_.original_bytes();
    result_.search_samples = split_.search_samples;
    result_.held_out_samples = split_.held_out_samples;
    if (split_.is_same)
      result_.notes.push_back(
          fmt::format("{} samples are too few to hold some out: the final word is spoken on the same ones; "
                      "give 100 or more",
                      split_.search_samples));
    laboratory_.before_measuring = [this] { put_in_place(); };
  }

  TuneResult run() {
    try {
      search_.run();
      put_in_place();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCancelled || !is_cancelled()) throw;
      if (!on_disk_) throw;  // nothing to give
      result_.is_interrupted = true;
    }
    return finish();
  }

 private:
  // The part that was held out decides.
  bool adopt(const decide::Candidate& candidate) {
    const json known = laboratory_.once("held out " + hex(digest_of(to_json(candidate.mix).dump())), [&] {
      const VerifyResult verified = laboratory_.hold_out(candidate.mix);
      TuneTrial trial;
      trial.sqnr_db = decide::worst_sqnr(verified);
      trial.agreement = decide::least_agreement(verified);
      if (!verified.metrics.empty()) trial.metric = verified.metrics.front();
      trial.passed = verified.passed;
      trial.verdict = verified.verdict;
      return decide::trial_json(trial);
    });
    const TuneTrial held_out = decide::trial_of(known);
    if (!held_out.passed) {
      result_.notes.push_back(
          fmt::format("{} passed on the data that was searched on, but not on the data "
                      "that was held out: {}",
                      candidate.trial.name, held_out.verdict));
      return false;
    }
    waiting_ = Answer{candidate, held_out, {}};
    return true;
  }

  // Right before anything that takes time: a result that is known from before need not be written each time.
  void put_in_place() {
    if (!waiting_) return;
    workshop_.write(waiting_->candidate.mix, output_);
    waiting_->layers = layers_of(waiting_->candidate.mix);
    on_disk_ = std::exchange(waiting_, std::nullopt);
  }

  TuneResult finish() {
    result_.notes.insert(result_.notes.end(), search_.notes().begin(), search_.notes().end());
    for (const decide::Candidate& candidate : search_.candidates()) result_.trials.push_back(candidate.trial);
    decide::mark_front(result_.trials);
    result_.is_out_of_time = !search_.is_complete();
    result_.runtime_version = split_.runtime_version;
    result_.recalled = laboratory_.recalled();
    if (search_.best() != nullptr && on_disk_) {
      give_answer();
    } else if (!result_.is_interrupted) {
      give_closest();
    }
    result_.seconds = clock_.real_seconds();
    return std::move(result_);
  }

  // After an interruption the best that was found may not have been written.
  void give_answer() {
    result_.passed = true;
    result_.output = output_;
    result_.best = result_.is_interrupted ? on_disk_->candidate.trial : search_.best()->trial;
    result_.best.held_out = true;
    for (const TuneTrial& trial : result_.trials) {
      if (trial.name == result_.best.name) result_.best.is_on_front = trial.is_on_front;
    }
    result_.held_out = on_disk_->held_out;
    result_.layers = on_disk_->layers;
  }

  void give_closest() {
    if (on_disk_) std::filesystem::remove(output_);  // it turned out to be slower than the original
    const decide::Candidate* found = closest();
    if (found == nullptr) {
      const bool has_reason = !result_.trials.empty();
      throw Error(ErrorCode::kUnsupported,
                  has_reason ? "no format can be made of this model: " + result_.trials.front().problem
                             : "there was no time to make a single model; give more --budget",
                  result_.model.string());
    }
    result_.closest = output_;
    result_.closest.replace_extension(".closest" + output_.extension().string());
    workshop_.write(found->mix, result_.closest);
    result_.best = found->trial;
    result_.layers = layers_of(found->mix);
  }

  std::vector<LayerChoice> layers_of(const decide::Mix& mix) {
    std::vector<LayerChoice> layers;
    for (const decide::TreatedLayer& treated : workshop_.layers(mix)) {
      const Format format = mix.recipe.is_half() ? mix.recipe.format : treated.format;
      layers.push_back({treated.layer.name, treated.layer.op_type, std::string(plan::name_of(format))});
    }
    return layers;
  }

  // Of those that did not pass, the one with the best quality.
  const decide::Candidate* closest() const {
    const decide::Candidate* found = nullptr;
    for (const decide::Candidate& candidate : search_.candidates()) {
      if (!candidate.trial.problem.empty()) continue;
      if (found == nullptr || candidate.trial.sqnr_db > found->trial.sqnr_db) found = &candidate;
    }
    return found;
  }

  // A model that has passed everything.
  struct Answer {
    decide::Candidate candidate;
    TuneTrial held_out;
    std::vector<LayerChoice> layers;
  };

  TuneResult result_;
  TuneOptions options_;
  decide::Clock clock_;
  decide::Split split_;
  decide::Workshop workshop_;
  decide::Journal journal_;
  decide::Laboratory laboratory_;
  decide::Search search_;
  std::filesystem::path output_;
  std::optional<Answer> waiting_, on_disk_;
};

}  // namespace

TuneResult tune(const std::filesystem::path& model, const std::filesystem::path& output,
                const TuneOptions& options) {
  if (options.data.is_generated())
    throw Error(ErrorCode::kUsage, "tune needs to see real data: give --data", model.string());
  if (!(options.budget > 0)) throw Error(ErrorCode::kUsage, "--budget must be more than nothing");
  const onnx::Model original = onnx::read_model(model);
  graph::verify(original);
  api::require_another_file(original, output, "the output would replace the input; choose another -o");
  api::require_folder(output);
  return Tuning(model, output, options).run();
}

}  // namespace ounce
