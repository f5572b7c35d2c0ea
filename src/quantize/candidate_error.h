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

// A model as a recipe makes it, for measuring only: written without the checks and the trial that a result
// goes through.

// What data adds to a plan before it is carried out.
using AdaptPlan = std::function<void(plan::Plan& plan, ThreadPool& pool)>;

// Gives the bytes of the model and of its external data.
std::uint64_t write_candidate(const PreparedModel& prepared, const Recipe& recipe,
                              const std::filesystem::path& file, ThreadPool& pool,
                              const AdaptPlan& adapt = {});

// All that the search for a static recipe asks: how far the outputs are off that it makes.
// measure_candidates() answers by making and running the model; tests answer from a script.

class CandidateError {
 public:
  CandidateError() = default;
  virtual ~CandidateError() = default;
  CandidateError(const CandidateError&) = delete;
  CandidateError& operator=(const CandidateError&) = delete;

  // Noise over signal at the output, or the slice of one, where it is largest; infinite when the outputs are
  // not finite.
  virtual double error(const PreparedModel& prepared, const Recipe& recipe) = 0;
  // The same from few samples, for a fraction of the work: once choose_few() was called.
  virtual double estimate(const PreparedModel& prepared, const Recipe& recipe) {
    return error(prepared, recipe);
  }
  // Of the samples, those on which the last variant made the most noise, and as many evenly spaced: an error
  // that few samples make would not show on others. Estimates are scaled by what these had of the noise of
  // all.
  virtual void choose_few(std::uint64_t /*samples*/) {}
  virtual std::uint64_t samples() const = 0;  // that tell
  virtual std::size_t measured() const = 0;   // variants so far
};

// What variants are measured on: all of the data, or the batches that PreparedModel::fit_split() leaves.
enum class MeasuredOn { kAll, kOtherHalf };

// One that makes variants and runs them, on `samples` samples evenly spaced over the data (the first ones
// when a state is carried).
std::unique_ptr<CandidateError> measure_candidates(const std::filesystem::path& original,
                                                   const QuantizeOptions& options, std::uint64_t samples,
                                                   MeasuredOn which, AdaptPlan adapt = {});

// One that measures on so many samples.
using MakeCandidateError = std::function<std::unique_ptr<CandidateError>(std::uint64_t samples)>;

inline double decibels(double error) {
  return error > 0 ? -10 * std::log10(error) : std::numeric_limits<double>::infinity();
}

}  // namespace ounce::quantization
