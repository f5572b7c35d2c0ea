// Builds a quantized model for a recipe, runs it on some of the data, and tells how far its outputs are from
// the original's. Nothing is left behind.
#pragma once

#include <ounce/quantize.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "make/prepared_model.h"
#include "measure/open.h"
#include "measure/stepper.h"

namespace ounce::make {

class VariantMeter {
 public:
  // Runs the original on `samples` samples, evenly spaced over the data (the first ones when a state is
  // carried), and keeps its outputs.
  VariantMeter(const std::filesystem::path& original, const QuantizeOptions& options, std::uint64_t samples);

  // Noise over signal at the output where it is largest; infinite when the outputs are not finite.
  double error(const PreparedModel& prepared, const Recipe& recipe);
  std::uint64_t samples() const { return batches_.size(); }
  std::size_t measured() const { return measured_; }  // variants so far

 private:
  double run(const std::filesystem::path& model);

  const QuantizeOptions& options_;
  measure::OpenFeed open_;
  std::vector<std::uint64_t> batches_;
  std::vector<std::vector<data::Tensor>> expected_;  // by batch, by output
  std::vector<data::ValueDescription> outputs_;
  ThreadPool pool_;
  TemporaryFolder folder_{"variant"};
  std::size_t measured_ = 0;
};

double decibels(double error);

}  // namespace ounce::make
