// Makes candidate models from recipes, for tune and sensitivity. One implementation for each file format;
// OnnxCandidates and TfliteCandidates prepare the model of each format on first use and keep it, with its
// activation statistics. CoremlCandidates keep the source.
//
//   const auto maker = make_candidate_maker(model, options);
//   maker->make(recipe, folder / ("a" + maker->extension()));    // to measure
//   maker->write(recipe, output, gate);                          // the result, with all checks
#pragma once

#include <ounce/quantize.h>
#include <ounce/verify.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibration/ranges.h"
#include "quantize/static_search.h"
#include "search/tune/evaluator.h"
#include "search/tune/layers.h"

namespace ounce::quantization {
struct Quantization;
}

namespace ounce::search {

// The layers that a format can quantize.
struct Survey {
  std::vector<Layer> layers;
  std::vector<double> noise;  // estimated noise / signal at the output of each layer
  std::vector<std::string> notes;
};

class CandidateMaker {
 public:
  // `options` name the calibration data and the target. Throws what quantize() throws.
  CandidateMaker(std::filesystem::path model, const QuantizeOptions& options);
  virtual ~CandidateMaker() = default;
  CandidateMaker(const CandidateMaker&) = delete;
  CandidateMaker& operator=(const CandidateMaker&) = delete;

  const std::filesystem::path& model() const { return model_; }
  virtual std::string extension() const = 0;  // of the files of candidates
  // False for recipes that a search skips: they are not for this file format, or have no fast kernels.
  virtual bool can_make(const Recipe& recipe) const = 0;

  // Prepares what the candidates of the recipe's format share.
  virtual void prepare(const Recipe& recipe) = 0;
  // The ranges of activations that candidates of this recipe are made with. Null: the format needs none.
  virtual const calibration::Ranges* ranges(const Recipe& recipe) = 0;
  virtual Survey survey(const Recipe& recipe) = 0;
  // Makes the choices that quantize() would make by measuring.
  Recipe resolve(const Recipe& recipe, const quantization::StaticLimits& limits,
                 std::vector<std::string>& notes);
  virtual std::vector<TreatedLayer> layers(const Recipe& recipe) = 0;
  // Writes a candidate without checks and returns its size in bytes. Thread-safe after prepare().
  virtual std::uint64_t make(const Recipe& recipe, const std::filesystem::path& file) = 0;
  // Writes the model to `output` with all checks of quantize(). `gate` is recorded in the model's provenance.
  QuantizeResult write(const Recipe& recipe, const std::filesystem::path& output,
                       const std::optional<StatedGate>& gate = std::nullopt);

 protected:
  // The options that quantize() would use on this machine.
  QuantizeOptions options_for(const Recipe& recipe) const;

 private:
  // Keeps the prepared model that a resolved recipe was found with.
  virtual void keep(quantization::Quantization& q) = 0;
  // Gives the prepared model of its recipe to a call of quantize().
  virtual void lend(quantization::Quantization& q) = 0;

  std::filesystem::path model_;
  QuantizeOptions options_;
};

// Chooses the implementation by the kind of the model.
std::unique_ptr<CandidateMaker> make_candidate_maker(const std::filesystem::path& model,
                                                     const QuantizeOptions& options);

}  // namespace ounce::search
