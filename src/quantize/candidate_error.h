// Writes candidates (quantized models for measuring only, without the checks of a result) and measures their
// output error on data.
#pragma once

#include <ounce/quantize.h>
#include <ounce/recipe.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>

#include "base/thread_pool.h"
#include "formats/onnx/plan/plan.h"
#include "quantize/prepared_model.h"

namespace ounce::quantization {

// Changes a plan by data before it is carried out.
using AdaptPlan = std::function<void(plan::Plan& plan, ThreadPool& pool)>;

// Writes a candidate and returns its bytes. The default is StaticModel::write_candidate().
using WriteCandidate =
    std::function<std::uint64_t(const Recipe& recipe, const std::filesystem::path& file, ThreadPool& pool)>;

// Writes the model of a recipe. Returns the bytes of the model and its external data.
std::uint64_t write_candidate(const PreparedModel& prepared, const Recipe& recipe,
                              const std::filesystem::path& file, ThreadPool& pool,
                              const AdaptPlan& adapt = {});

// Measures the output error of candidates. measure_candidates() returns the implementation that writes and
// runs each candidate; tests use a script.
class CandidateError {
 public:
  CandidateError() = default;
  virtual ~CandidateError() = default;
  CandidateError(const CandidateError&) = delete;
  CandidateError& operator=(const CandidateError&) = delete;

  // Returns the noise-to-signal ratio of the worst output or output part; infinite if outputs are not finite.
  virtual double error(const StaticModel& prepared, const Recipe& recipe) = 0;
  // Estimates error() from few samples at a fraction of the cost. Call choose_few() first.
  virtual double estimate(const StaticModel& prepared, const Recipe& recipe) {
    return error(prepared, recipe);
  }
  // Chooses the samples of estimate(): half of them are those with the largest error of the last candidate,
  // half are evenly spaced. Estimates are scaled by the ratio of that candidate's error on all samples to its
  // error on these.
  virtual void choose_few(std::uint64_t /*samples*/) {}
  // Standard deviation of the noise of a sample relative to its mean, in the worst output of the last
  // error(); 0 if it is unknown.
  virtual double spread() const { return 0; }
  virtual std::uint64_t samples() const = 0;  // of error()
  virtual std::size_t measured() const = 0;   // candidates so far
};

// The data that candidates are measured on: all of it, or the batches that PreparedModel::fit_split() does
// not use.
enum class MeasuredOn { kAll, kOtherHalf };

// Returns a CandidateError that uses `samples` samples, evenly spaced over the data, or the first ones if a
// recurrent state is carried.
std::unique_ptr<CandidateError> measure_candidates(const std::filesystem::path& original,
                                                   const QuantizeOptions& options, std::uint64_t samples,
                                                   MeasuredOn which, WriteCandidate write = {});

// Returns a CandidateError that uses this number of samples.
using MakeCandidateError = std::function<std::unique_ptr<CandidateError>(std::uint64_t samples)>;

inline double decibels(double error) {
  return error > 0 ? -10 * std::log10(error) : std::numeric_limits<double>::infinity();
}

}  // namespace ounce::quantization
