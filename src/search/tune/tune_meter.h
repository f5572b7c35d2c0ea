// Makes and runs candidates to answer the questions of tune():
//
//   {"measure": "noise", "recipe": …}       noise-to-signal ratio on a few samples
//   {"measure": "quality", "recipe": …}     size and quality on the search samples
//   {"measure": "held out", "recipe": …, "confidence": …}     quality on the holdout set
//   {"measure": "time", "recipes": […], "seconds": …, "repetition": …}   speeds relative to the original
//   {"measure": "memory", "recipe": …}      memory use after loading; without a recipe: the original's
//   {"measure": "resolve static", "budget": …, "within": {…}} the recipe that quantize() would choose
#pragma once

#include <nlohmann/json.hpp>
#include <ounce/search.h>
#include <ounce/verify.h>
#include <ounce/work.h>

#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "io/temporary_files.h"
#include "search/tune/candidate_maker.h"
#include "search/tune/questions.h"
#include "search/tune/recorded_reference.h"

namespace ounce::search {

class TuneMeter final : public Session {
 public:
  // `options` have their default gates. All arguments must outlive this object.
  TuneMeter(const TuneOptions& options, const Split& split, CandidateMaker& maker, std::string identity);

  const std::string& identity() const override { return identity_; }
  std::string answer(const std::string& question) override;

  std::uint64_t original_bytes() const { return original_bytes_; }
  // A candidate's file, which is made if it does not exist or was removed.
  std::filesystem::path file_of(const Recipe& recipe);

 private:
  nlohmann::json noise(const Recipe& recipe, Answer& answer);
  nlohmann::json quality(const Recipe& recipe);
  nlohmann::json held_out(const Recipe& recipe, double confidence);
  nlohmann::json times(const nlohmann::json& question, Answer& answer);
  nlohmann::json memory(const std::filesystem::path& file) const;
  nlohmann::json resolved(const nlohmann::json& within, Answer& answer);
  VerifyOptions verify_options(const DataOptions& data) const;
  Gates gates_with(double confidence) const;
  const RecordedReference& recording();

  const TuneOptions& options_;
  const Split& split_;
  CandidateMaker& maker_;
  std::string identity_;
  const double
      search_confidence_;  // of candidates that depend on the data: they must also pass on the holdout set
  TemporaryFolder folder_{"tune"};
  std::mutex mutex_;              // of the members below
  std::list<std::string> files_;  // existing candidate files, most recently used first
  std::unique_ptr<RecordedReference> recording_;
  std::shared_ptr<ReferenceOutputs> reference_outputs_ = keep_reference_outputs();  // on the holdout set
  std::uint64_t original_bytes_ = 0;
};

}  // namespace ounce::search
