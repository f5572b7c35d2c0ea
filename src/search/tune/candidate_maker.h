// Makes models out of recipes, for measuring. The prepared model that each format works on (with
// the statistics of its activations) is made once, when it is first wanted.
#pragma once

#include <ounce/prove.h>
#include <ounce/quantize.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

#include "quantize/prepared_model.h"
#include "quantize/static_search.h"
#include "search/tune/evaluator.h"

namespace ounce::search {

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

}  // namespace ounce::search
