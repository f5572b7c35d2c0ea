// CandidateMaker of Core ML packages.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "quantize/coreml_stages.h"
#include "search/tune/candidate_maker.h"

namespace ounce::search {

class CoremlCandidates final : public CandidateMaker {
 public:
  using CandidateMaker::CandidateMaker;

  std::string extension() const override { return ".mlpackage"; }
  bool can_make(const Recipe& recipe) const override;
  void prepare(const Recipe& recipe) override { source(recipe); }
  const calibration::Ranges* ranges(const Recipe&) override { return nullptr; }
  Survey survey(const Recipe& recipe) override;
  std::vector<TreatedLayer> layers(const Recipe& recipe) override;
  std::uint64_t make(const Recipe& recipe, const std::filesystem::path& file) override;

 private:
  using Source = std::shared_ptr<const coreml::CoremlFile>;

  void keep(quantization::Quantization& q) override;
  void lend(quantization::Quantization& q) override;
  Source source(const Recipe& recipe);
  coreml::Plan planned(const Recipe& recipe, ThreadPool& pool);

  std::mutex mutex_;
  Source source_;
};

}  // namespace ounce::search
