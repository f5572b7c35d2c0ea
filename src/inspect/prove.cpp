// Reproduces the provenance record of a model (`Statement`), cheap steps first: the file's digest, its
// source, its recipe, its trial run, its gates. An attacker who changes the model can change the record, too.
// So no step passes just because the record says so: the model is compared with the result of its recipe on
// the caller's own original, and the trial run and the gates run the model itself.
#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/verify.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/cancel.h"
#include "base/digest.h"
#include "data/source/open_source.h"
#include "formats/open.h"
#include "io/mapped_file.h"
#include "io/temporary_files.h"
#include "model/model_file.h"
#include "quantize/digests.h"
#include "quantize/statement.h"
#include "quantize/target_fit.h"
#include "quantize/trial.h"
#include "runtime/ort/library.h"
#include "runtime/places.h"

namespace ounce {
namespace {

constexpr double kDecibelSlack = 1;    // differences between CPUs and releases of the runtime
constexpr double kFigureSlack = 1e-5;  // recorded figures have six digits

class Replay {
 public:
  Replay(const std::filesystem::path& path, const ProveOptions& options)
      : path_(path), options_(options), file_(formats::open_model(path)), pool_(options.threads) {
    file_->validate();
    std::optional<Statement> found = quantization::read_statement(file_->metadata(), path);
    if (!found)
      throw Error(
          ErrorCode::kBadInput,
          "the model has no provenance record: it was not written by Ounce, or by a version without records",
          path.string());
    proof_.model = path;
    proof_.statement = *std::move(found);
  }

  Proof run() {
    check_content();
    check_releases();
    const bool is_that_source = check_source();
    check_recipe(is_that_source);
    check_trial(is_that_source);
    check_gate(is_that_source);
    return std::move(proof_);
  }

 private:
  const Statement& statement() const { return proof_.statement; }

  void add(const char* name, ProofFinding finding, std::string what) {
    proof_.steps.push_back({name, finding, std::move(what)});
  }
  void judge(const char* name, bool holds, std::string what) {
    add(name, holds ? ProofFinding::kHolds : ProofFinding::kFails, std::move(what));
  }

  void check_content() {
    content_ = quantization::content_digest(*file_, pool_);
    const bool is_strong = statement().has_strong_digests();
    const bool is_same =
        (is_strong ? content_ : quantization::weak_content_digest(*file_, pool_)) == statement().content;
    if (!is_same)
      return judge("content", false,
                   "the model's graph, weights or external data were changed after it was written");
    if (is_strong) return judge("content", true, "the model is unchanged");
    add("content", ProofFinding::kNotChecked,
        fmt::format(
            "the model matches, but Ounce {} recorded only a checksum that can be forged, no SHA-256: "
            "quantize the model again",
            statement().version));
  }

  void check_releases() {
    const std::map<std::string, std::string> found = quantization::oldest_releases(*file_);
    for (const auto& [machine, version] : statement().releases) {
      const auto there = found.find(machine);
      const auto stated = runtime::parse_version(version);
      const auto now = there == found.end() ? std::nullopt : runtime::parse_version(there->second);
      if (stated && now && !(*stated < *now)) continue;
      judge("releases", false,
            fmt::format("the record claims ONNX Runtime {} and later on {}, which contradicts measurements",
                        version, machine));
      return;
    }
    if (statement().releases.empty()) {
      add("releases", ProofFinding::kNotChecked, "the record names no releases of ONNX Runtime");
      proof_.steps.back().is_stated = false;
    } else {
      judge("releases", true, "measurements confirm that the recorded releases run the model's ops");
    }
  }

  bool check_source() {
    if (options_.source.empty()) {
      add("source", ProofFinding::kNotChecked, "to reproduce the model, give `source`");
      return false;
    }
    const model::ModelFilePtr source = formats::open_model(options_.source);
    source->validate();
    // Other metadata has a weak digest of the source, which may be missing.
    const bool is_strong = statement().has_strong_digests();
    const bool is_same = (is_strong && statement().source.empty()) ||
                         quantization::source_digest(*source, pool_) == statement().source;
    if (!is_same || (is_strong && quantization::source_sha256(*source, pool_) != statement().source_sha256)) {
      judge("source", false, "the source differs from the recorded one");
      return false;
    }
    if (is_strong) {
      judge("source", true, "the source is the recorded one");
    } else {
      add("source", ProofFinding::kNotChecked,
          "the source matches, but the record has only a checksum that can be forged, no SHA-256");
    }
    return true;
  }

  bool was_made_with_data() const {
    const Recipe& recipe = statement().recipe;
    const bool is_fitted = recipe.rounding == Rounding::kAdaptive ||
                           (is_nbits(recipe.format) && recipe.nbits.method != WeightMethod::kRtn);
    if (is_storage(recipe.format) && !is_fitted) return false;
    const StatedRun* run = statement().gate    ? &statement().gate->run
                           : statement().trial ? &*statement().trial
                                               : nullptr;
    return run != nullptr && !run->is_generated;
  }

  std::string digest_of_ranges() const {
    const io::MappedFile file = io::MappedFile::open(options_.ranges);
    return statement().has_strong_digests() ? sha256_of(file.bytes()) : hex(digest_of(file.bytes()));
  }

  // Why the model cannot be reproduced; empty if it can.
  std::string why_not_made() const {
    if (!statement().ranges.empty() && options_.ranges.empty())
      return "the model was quantized with a calibration cache: give `ranges`";
    if (!statement().ranges.empty() && digest_of_ranges() != statement().ranges)
      return "the calibration cache in `ranges` is not the recorded one";
    if (statement().ranges.empty() && was_made_with_data() && options_.data.is_generated())
      return "the model was quantized with data: give `data`";
    return {};
  }

  void check_recipe(bool is_that_source) {
    if (!is_that_source)
      return add("recipe", ProofFinding::kNotChecked, "not reproduced without the recorded source");
    if (std::string why = why_not_made(); !why.empty())
      return add("recipe", ProofFinding::kNotChecked, std::move(why));
    const TemporaryFolder folder("prove");
    const std::filesystem::path again = folder.path() / path_.filename();
    QuantizeOptions how;
    how.recipe = statement().recipe;
    how.ranges = options_.ranges;
    how.threads = options_.threads;
    how.progress = options_.progress;
    how.trial.is_wanted = false;  // check_trial() runs the model itself instead
    how.trial.is_timed = false;
    how.trial.runtime = options_.runtime;
    how.trial.data = stated_data();
    std::string difference;
    try {
      quantize(options_.source, again, how);
      if (quantization::content_digest(*formats::open_model(again), pool_) != content_)
        difference = "a different model";
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      difference = fmt::format("no model ({})", error.what());
    }
    if (difference.empty())
      return judge("recipe", true, "quantizing the source again gives the same model, byte for byte");
    if (statement().version == version())
      return judge("recipe", false, fmt::format("quantizing the source again gives {}", difference));
    add("recipe", ProofFinding::kNotChecked,
        fmt::format("Ounce {} produces {} from the source. The model was written by Ounce {}: run prove with "
                    "that version",
                    version(), difference,
                    statement().version.empty() ? "in an unknown version" : statement().version));
  }

  // The samples of the caller's data that calibration and the trial run used.
  DataOptions stated_data() const {
    DataOptions data = quantization::selected(options_.data, statement().calibration);
    data.labels.clear();
    return data;
  }

  void check_trial(bool is_that_source) {
    if (!statement().trial) return;
    const StatedRun& stated = *statement().trial;
    if (!is_that_source)
      return add("trial", ProofFinding::kNotChecked, "not compared without the recorded source");
    if (stated.is_generated != options_.data.is_generated())
      return add("trial", ProofFinding::kNotChecked,
                 stated.is_generated ? "the recorded trial run used random inputs: leave out `data`"
                                     : "the recorded trial run used data: give `data`");
    TrialOptions how;
    how.runtime = options_.runtime;
    how.data = stated_data();
    try {
      judge_trial(stated, quantization::try_file(*formats::open_model(options_.source), path_,
                                                 statement().recipe, how));
    } catch (const quantization::NotFinite&) {
      judge("trial", false, "the model gives NaN or infinite values where the original's are finite");
    } catch (const quantization::FailsInRuntime& error) {
      if (error.code() == ErrorCode::kIo || error.code() == ErrorCode::kMemory) throw;
      if (error.runtime_version() == stated.runtime_version)
        return judge("trial", false, "the model fails in the runtime: " + error.why());
      add("trial", ProofFinding::kNotChecked,
          fmt::format("the model fails in {} {} ({}). The recorded trial run used {}: use that version",
                      runtime_name(), error.runtime_version(), error.why(), stated.runtime_version));
    }
  }

  void judge_trial(const StatedRun& stated, const TrialResult& found) {
    if (found.samples == 0) return add("trial", ProofFinding::kNotChecked, found.why_not);
    const std::optional<double> decibels = quantization::stated_decibels(found.sqnr_db);
    const std::string text = run_text(stated, decibels, found.runtime_version);
    if (!statement().has_strong_digests())
      return add("trial", ProofFinding::kNotChecked, "the record has no SHA-256 of the data; " + text);
    if (found.data_digest != stated.data || found.samples != stated.samples) {
      if (stated.is_generated && statement().version != version())
        return add("trial", ProofFinding::kNotChecked,
                   fmt::format("Ounce {} generates other random inputs than the recorded ones; {}", version(),
                               text));
      return judge("trial", false, "the data is not the data of the recorded trial run");
    }
    judge("trial", is_close(stated, decibels), text);
  }

  static bool is_close(const StatedRun& stated, const std::optional<double>& found) {
    return !found || (stated.sqnr_db && *found >= *stated.sqnr_db - kDecibelSlack);
  }

  const char* runtime_name() const { return runtime::runtime_of(file_->kind()); }

  std::string run_text(const StatedRun& stated, const std::optional<double>& found,
                       const std::string& version) const {
    const auto text = [](const std::optional<double>& decibels) {
      return decibels ? fmt::format("{:.0f} dB", *decibels) : std::string("exact");
    };
    return fmt::format("outputs on {} sample{}: recorded {} ({} {}), measured {} ({} {})", stated.samples,
                       stated.samples == 1 ? "" : "s", text(stated.sqnr_db), runtime_name(),
                       stated.runtime_version, text(found), runtime_name(), version);
  }

  // Why the gates cannot be checked again; empty if they can.
  std::string why_not_judged(const StatedGate& gate) const {
    if (!gate.run.is_generated && options_.data.is_generated())
      return "the recorded thresholds were checked on data: give `data`";
    if (gate.run.is_generated && !options_.data.is_generated())
      return "the recorded thresholds were checked on random inputs: leave out `data`";
    if (!gate.run.labels.empty() && options_.data.labels.empty())
      return "the recorded thresholds were checked with labels: name the field of the labels with `labels`";
    if (gate.has_command && options_.metric_command.command.empty())
      return "the recorded thresholds were checked with a custom metric: give `metric_command`";
    return {};
  }

  void check_gate(bool is_that_source) {
    if (!statement().gate) return;
    const StatedGate& gate = *statement().gate;
    if (!is_that_source)
      return add("gate", ProofFinding::kNotChecked, "not compared without the recorded source");
    if (std::string why = why_not_judged(gate); !why.empty())
      return add("gate", ProofFinding::kNotChecked, std::move(why));
    VerifyOptions how{gate.quality};
    how.runtime = options_.runtime;
    how.data = quantization::selected(options_.data, gate.selection);
    how.gates = gate.gates;
    how.gates.allow_unbounded = true;  // as in the recorded run
    how.metric_command = options_.metric_command;
    how.edge_cases = gate.edge_cases;
    how.progress = options_.progress;
    const VerifyResult found = verify(options_.source, path_, how);
    if (!statement().has_strong_digests()) {
      if (!found.passed) return judge("gate", false, found.verdict);
      return add("gate", ProofFinding::kNotChecked,
                 "the record has no SHA-256 of the data; " + found.verdict);
    }
    if (found.data_digest != gate.run.data)
      return judge("gate", false, "the data is not the data of the recorded check");
    if (found.labels_digest != gate.run.labels)
      return judge("gate", false, "the labels are not those of the recorded check");
    judge("gate", found.passed, found.verdict);
    if (found.passed) check_figures(gate, found);
  }

  void check_figures(const StatedGate& gate, const VerifyResult& found) {
    const std::optional<double> decibels = quantization::stated_decibels(found.worst_sqnr_db);
    const bool are_outputs_close = is_close(gate.run, decibels);
    if (!are_outputs_close || gate.metrics.empty())
      return judge("figures", are_outputs_close, run_text(gate.run, decibels, found.runtime_version));
    for (const StatedMetric& stated : gate.metrics) {
      const auto metric = std::find_if(found.metrics.begin(), found.metrics.end(),
                                       [&](const MetricResult& m) { return m.name == stated.name; });
      const double slack =
          kFigureSlack * std::max({1.0, std::abs(stated.drop_low), std::abs(stated.drop_high)});
      const bool is_inside = metric != found.metrics.end() && metric->drop >= stated.drop_low - slack &&
                             metric->drop <= stated.drop_high + slack;
      if (is_inside && &stated != &gate.metrics.back()) continue;
      return judge(
          "figures", is_inside,
          metric == found.metrics.end()
              ? stated.name + " was not measured"
              : fmt::format(
                    "{}: recorded {:.4g} with a drop of {:.4g} to {:.4g}, measured {:.4g} with {:.4g}",
                    stated.name, stated.candidate, stated.drop_low, stated.drop_high, metric->candidate,
                    metric->drop));
    }
  }

  const std::filesystem::path& path_;
  const ProveOptions& options_;
  model::ModelFilePtr file_;
  std::string content_;  // digest computed from the model, not the recorded one
  ThreadPool pool_;
  Proof proof_;
};

}  // namespace

ProofVerdict Proof::verdict() const {
  bool is_complete = true;
  for (const ProofStep& step : steps) {
    if (step.finding == ProofFinding::kFails) return ProofVerdict::kRefuted;
    if (step.finding == ProofFinding::kNotChecked && step.is_stated) is_complete = false;
  }
  return is_complete ? ProofVerdict::kProved : ProofVerdict::kUnproved;
}

std::string Proof::reason() const {
  std::string holding, unchecked;
  const auto add = [](std::string& names, const ProofStep& step) {
    names += (names.empty() ? "" : ", ") + step.name;
  };
  for (const ProofStep& step : steps) {
    if (step.finding == ProofFinding::kFails) return fmt::format("{}: {}", step.name, step.what);
    if (step.finding == ProofFinding::kHolds) add(holding, step);
    if (step.finding == ProofFinding::kNotChecked && step.is_stated) add(unchecked, step);
  }
  if (unchecked.empty()) return fmt::format("{} verified", holding);
  return fmt::format("{} not checked{}", unchecked,
                     holding.empty() ? "" : fmt::format("; {} verified", holding));
}

std::optional<Statement> statement_of(const std::filesystem::path& model) {
  return quantization::read_statement(formats::open_model(model)->metadata(), model);
}

Proof prove(const std::filesystem::path& model, const ProveOptions& options) {
  const CancellationScope scope(options.progress);
  model::require_support(model, "prove");
  for (const std::filesystem::path& file : {options.source, options.ranges}) {
    if (!file.empty()) io::require_readable(file);
  }
  data::require_files(options.data);
  return Replay(model, options).run();
}

}  // namespace ounce
