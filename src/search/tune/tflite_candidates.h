// CandidateMaker of TFLite models.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "quantize/tflite_stages.h"
#include "search/tune/candidate_maker.h"

namespace ounce::search {

class TfliteCandidates final : public CandidateMaker {
 public:
  using CandidateMaker::CandidateMaker;

  std::string extension() const override { return ".tflite"; }
  bool can_make(const Recipe& recipe) const override;
  void prepare(const Recipe& recipe) override { prepared(recipe); }
  const calibration::Ranges* ranges(const Recipe& recipe) override;
  Survey survey(const Recipe& recipe) override;
  std::vector<TreatedLayer> layers(const Recipe& recipe) override;
  std::uint64_t make(const Recipe& recipe, const std::filesystem::path& file) override;

 private:
  using Prepared = std::shared_ptr<const quantization::TfliteWork>;

  void keep(quantization::Quantization& q) override;
  void lend(quantization::Quantization& q) override;
  Prepared prepared(const Recipe& recipe);
  // The prepared model with the plan of a recipe.
  quantization::TfliteWork planned(const Recipe& recipe, ThreadPool& pool);

  std::mutex mutex_;
  std::map<std::pair<bool, bool>, Prepared> prepared_;  // by: static, calibrated on every second sample only
};

}  // namespace ounce::search
