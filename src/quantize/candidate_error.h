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

// Candidates: models of a recipe for measuring only, written without the checks and the trial of a result.

// What data adds to a plan before it is carried out.
using AdaptPlan = std::function<void(plan::Plan& plan, ThreadPool& pool)>;

// How a candidate gets its file; without one by StaticModel::write_candidate(). Returns its bytes.
using WriteCandidate =
    std::function<std::uint64_t(const Recipe& recipe, const std::filesystem::path& file, ThreadPool& pool)>;

// Writes the model of a recipe and returns the bytes of the model and of its external data.
std::uint64_t write_candidate(const PreparedModel& prepared, const Recipe& recipe,
                              const std::filesystem::path& file, ThreadPool& pool,
                              const AdaptPlan& adapt = {});

// Measures the output error of candidates for the search of a static recipe. measure_candidates() writes and
// runs each candidate; tests answer from a script.
class CandidateError {
 public:
  CandidateError() = default;
  virtual ~CandidateError() = default;
  CandidateError(const CandidateError&) = delete;
  CandidateError& operator=(const CandidateError&) = delete;

  // The noise-to-signal ratio of the worst output, or part of an output; infinite when outputs are not
  // finite.
  virtual double error(const StaticModel& prepared, const Recipe& recipe) = 0;
  // The same from few samples, for a fraction of the work. Call choose_few() first.
  virtual double estimate(const StaticModel& prepared, const Recipe& recipe) {
    return error(prepared, recipe);
  }
  // Chooses the samples of estimate(): those where the last candidate made the most noise, and as many evenly
  // spaced ones. Estimates are scaled by the share that these samples had of the noise of all.
  virtual void choose_few(std::uint64_t /*samples*/) {}
  virtual std::uint64_t samples() const = 0;  // of error()
  virtual std::size_t measured() const = 0;   // candidates so far
};

// The data that candidates are measured on: all of it, or the batches that PreparedModel::fit_split() leaves
// out.
enum class MeasuredOn { kAll, kOtherHalf };

// Writes candidates and runs them on `samples` samples, evenly spaced over the data, or on the first ones
// when a state is carried.
std::unique_ptr<CandidateError> measure_candidates(const std::filesystem::path& original,
                                                   const QuantizeOptions& options, std::uint64_t samples,
                                                   MeasuredOn which, WriteCandidate write = {});

// Makes one that measures on so many samples.
using MakeCandidateError = std::function<std::unique_ptr<CandidateError>(std::uint64_t samples)>;

inline double decibels(double error) {
  return error > 0 ? -10 * std::log10(error) : std::numeric_limits<double>::infinity();
}

}  // namespace ounce::quantization
