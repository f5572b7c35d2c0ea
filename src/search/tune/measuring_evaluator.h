// Answers a search by making models and running them. Each measurement stands in the journal and is made
// once.
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

// Makes models out of recipes, for measuring. The prepared model that each format works on (with
// the statistics of its activations) is made once, when it is first wanted.

class CandidateMaker {
 public:
  // `options` say what models are calibrated on and for which target. Throws what quantize() throws.
  CandidateMaker(std::filesystem::path model, const QuantizeOptions& options);

  // Null when there is nothing to equalize.
  std::shared_ptr<const quantization::PreparedModel> prepared(const Recipe& recipe);
  // What quantize() would choose for this recipe, by measuring.
  Recipe resolve(const Recipe& recipe, const quantization::StaticLimits& limits,
                 std::vector<std::string>& notes);
  std::vector<TreatedLayer> layers(const Recipe& recipe);
  // Puts the model in its place, with all the checks of quantize(); it states the gate that it has passed.
  QuantizeResult write(const Recipe& recipe, const std::filesystem::path& output,
                       const std::optional<StatedGate>& gate = std::nullopt);

  // Safe in several threads once the prepared model is there. Gives the bytes of the model.
  std::uint64_t make(const Recipe& recipe, const std::filesystem::path& file);

  const std::filesystem::path& model() const { return model_; }

 private:
  // As quantize() would take them on this machine.
  QuantizeOptions options_for(const Recipe& recipe) const;
  // … and as the target lets them be.
  Recipe fitted(const Recipe& resolved, const quantization::PreparedModel& prepared) const;

  std::filesystem::path model_;
  QuantizeOptions options_;
  std::mutex mutex_;
  // By format, by whether activations have 16 bits (which needs a newer opset), whether it is equalized, and
  // whether it is known from every second sample alone.
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

  // The final word, with this confidence.
  TuneTrial hold_out(const Recipe& recipe, double confidence);

  // Called before anything is measured that is not known from before.
  std::function<void()> before_measuring = [] {};

  // Whatever else is worth keeping: `find` is called when it is not known. `read` makes something of what is
  // known, and throws nlohmann::json::exception when it is not what it should be: then it is found anew.
  template <class Read>
  auto once(const std::string& key, const std::function<nlohmann::json()>& find, const Read& read) {
    if (const nlohmann::json* known = recall(key)) {
      try {
        return read(*known);
      } catch (const nlohmann::json::exception&) {  // what is found now takes its place
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
  const double search_confidence_;  // of what is fitted to the data: it has to pass on held-out data as well
  CandidateMaker& maker_;
  Journal& journal_;
  TemporaryFolder folder_{"tune"};
  std::list<std::string> files_;  // that are there, the last used one first
  std::unique_ptr<RecordedReference> recording_;
  std::shared_ptr<ReferenceOutputs> reference_outputs_ = keep_reference_outputs();  // on the held-out data
  std::set<std::string> counted_;                                                   // models
  std::vector<std::string> notes_;
  std::uint64_t original_bytes_ = 0, recalled_ = 0;
  double kept_back_ = 0;
  // The measurement was cut short by the clock, or the machine was too busy for it. It is not kept, because
  // it says more about the machine on that day than about the model.
  bool is_cut_short_ = false;
};

}  // namespace ounce::search
