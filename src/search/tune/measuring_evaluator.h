// An evaluator that makes candidates and runs them. Each measurement is made once and kept in the journal.
#pragma once

#include <ounce/prove.h>
#include <ounce/quantize.h>
#include <ounce/tune.h>

#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "io/temporary_files.h"
#include "quantize/prepared_model.h"
#include "quantize/static_search.h"
#include "search/tune/evaluator.h"
#include "search/tune/journal.h"
#include "search/tune/recorded_reference.h"

namespace ounce::search {

// Makes candidate models from recipes. The prepared model of each format (with its activation statistics) is
// made on first use and kept.

class CandidateMaker {
 public:
  // `options` name the calibration data and the target. Throws what quantize() throws.
  CandidateMaker(std::filesystem::path model, const QuantizeOptions& options);

  // Null when there is nothing to equalize.
  std::shared_ptr<const quantization::PreparedModel> prepared(const Recipe& recipe);
  // Makes the choices that quantize() would make by measuring.
  Recipe resolve(const Recipe& recipe, const quantization::StaticLimits& limits,
                 std::vector<std::string>& notes);
  std::vector<TreatedLayer> layers(const Recipe& recipe);
  // Writes the model to `output` with all checks of quantize(). `gate` is recorded in the model's provenance.
  QuantizeResult write(const Recipe& recipe, const std::filesystem::path& output,
                       const std::optional<StatedGate>& gate = std::nullopt);

  // Writes a candidate without checks and returns its size in bytes. Thread-safe once the prepared model
  // exists.
  std::uint64_t make(const Recipe& recipe, const std::filesystem::path& file);

  const std::filesystem::path& model() const { return model_; }

 private:
  // The options that quantize() would use on this machine.
  QuantizeOptions options_for(const Recipe& recipe) const;
  // Adapts a recipe to the limits of the target.
  Recipe fitted(const Recipe& resolved, const quantization::PreparedModel& prepared) const;

  std::filesystem::path model_;
  QuantizeOptions options_;
  std::mutex mutex_;
  // The key: format, 16-bit activations (which need a newer opset), equalized, calibrated on every second
  // sample only.
  std::map<std::tuple<Format, bool, bool, bool>, std::shared_ptr<const quantization::PreparedModel>>
      prepared_models_;
};

class MeasuringEvaluator : public Evaluator {
 public:
  MeasuringEvaluator(const TuneOptions& options, const Split& split, CandidateMaker& maker, Journal& journal,
                     Clock& clock);

  std::vector<double> noises(const std::vector<Recipe>& recipes) override;
  TuneTrial judge(const Recipe& recipe, const std::string& name) override;
  std::vector<TreatedLayer> layers(const Recipe& recipe) override { return maker_.layers(recipe); }
  bool computes_on_integers(const Recipe& recipe) override;
  Resolution resolve_static(double close_enough, double most) override;
  std::optional<MeasuredMemory> memory(const Recipe& recipe) override;
  std::uint64_t original_bytes() const override { return original_bytes_; }
  void keep_back(double seconds) override { kept_back_ = seconds; }

  // Judges a candidate on the holdout set with this confidence.
  TuneTrial hold_out(const Recipe& recipe, double confidence);

  // Called before each new measurement.
  std::function<void()> before_measuring = [] {};

  // Keeps any other result in the journal: calls `find` if `key` is unknown. `read` converts the JSON and
  // throws nlohmann::json::exception for unexpected content; `find` is then called to replace it.
  template <class Read>
  auto once(const std::string& key, const std::function<nlohmann::json()>& find, const Read& read) {
    if (const nlohmann::json* known = recall(key)) {
      try {
        return read(*known);
      } catch (const nlohmann::json::exception&) {  // replaced below
      }
    }
    return read(find_out(key, find));
  }

  std::uint64_t recalled() const { return recalled_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::vector<SpeedUp> measure_times(const std::vector<Recipe>& recipes, double seconds,
                                     int repetition) override;
  const nlohmann::json* recall(const std::string& key);
  nlohmann::json find_out(const std::string& key, const std::function<nlohmann::json()>& find);
  VerifyOptions verify_options(const DataOptions& data) const;
  Gates gates_with(double confidence) const;
  void count(std::set<std::string> keys);
  double seconds_left() const;
  LoadMemory memory_of(const std::string& key, const std::function<std::filesystem::path()>& file);
  std::filesystem::path file_of(const Recipe& recipe);
  const RecordedReference& recording();

  const TuneOptions& options_;
  const Split& split_;
  const double
      search_confidence_;  // of candidates that depend on the data: they must also pass on the holdout set
  CandidateMaker& maker_;
  Journal& journal_;
  TemporaryFolder folder_{"tune"};
  std::list<std::string> files_;  // existing candidate files, most recently used first
  std::unique_ptr<RecordedReference> recording_;
  std::shared_ptr<ReferenceOutputs> reference_outputs_ = keep_reference_outputs();  // on the holdout set
  std::set<std::string> counted_;                                                   // models
  std::vector<std::string> notes_;
  std::uint64_t original_bytes_ = 0, recalled_ = 0;
  double kept_back_ = 0;
  // The clock stopped the measurement or the machine was too busy for it. It is not kept, because it says
  // more about the machine than about the model.
  bool is_cut_short_ = false;
};

}  // namespace ounce::search
