// CandidateMaker of ONNX models.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "quantize/prepared_model.h"
#include "search/tune/candidate_maker.h"

namespace ounce::search {

class OnnxCandidates final : public CandidateMaker {
 public:
  using CandidateMaker::CandidateMaker;

  // Null when there is nothing to equalize.
  std::shared_ptr<const quantization::PreparedModel> prepared(const Recipe& recipe);

  std::string extension() const override { return ".onnx"; }
  bool can_make(const Recipe& recipe) const override;
  void prepare(const Recipe& recipe) override { prepared(recipe); }
  const calibration::Ranges* ranges(const Recipe& recipe) override { return prepared(recipe)->ranges(); }
  Survey survey(const Recipe& recipe) override;
  std::vector<TreatedLayer> layers(const Recipe& recipe) override;
  std::uint64_t make(const Recipe& recipe, const std::filesystem::path& file) override;

 private:
  void keep(quantization::Quantization& q) override;
  void lend(quantization::Quantization& q) override;
  // Adapts a recipe to the limits of the target.
  Recipe fitted(const Recipe& resolved, const quantization::PreparedModel& prepared) const;

  std::mutex mutex_;
  // The key: format, 16-bit activations (which need a newer opset), equalized, calibrated on every second
  // sample only.
  std::map<std::tuple<Format, bool, bool, bool>, std::shared_ptr<const quantization::PreparedModel>>
      prepared_models_;
};

}  // namespace ounce::search
