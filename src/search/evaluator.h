// Measures mixes: how far their outputs are off, whether they pass the gate, how fast they are. Each
// measurement stands in the journal and is made once.
#pragma once

#include <ounce/tune.h>

#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "search/candidate_maker.h"
#include "search/clock.h"
#include "search/journal.h"
#include "search/recording.h"
#include "search/split.h"

namespace ounce::search {

class Evaluator {
 public:
  Evaluator(const TuneOptions& options, const Split& split, CandidateMaker& maker, Journal& journal,
            Clock& clock);

  // Noise over signal at the worst output, of each on a few samples; infinite when it cannot be made.
  std::vector<double> noises(const std::vector<ResolvedRecipe>& mixes);
  // Bytes and quality on all samples that are for searching; without a time. When it cannot be made, the
  // trial says why.
  TuneTrial judge(const ResolvedRecipe& mix, const std::string& name);
  // How much faster each is than the original, all in one contest; so many seconds for each. All of them
  // can be made.
  std::vector<SpeedUp> contest(const std::vector<ResolvedRecipe>& mixes, double seconds, int repetition = 0);
  // The same, but who comes out a little slower than the original is timed twice more, each time loaded anew,
  // and the middle one counts: where a session happens to lie in memory is worth some percent.
  std::vector<SpeedUp> time(const std::vector<ResolvedRecipe>& mixes, double seconds);
  // The final word.
  VerifyResult hold_out(const ResolvedRecipe& mix);

  // Called before anything is measured that is not known from before.
  std::function<void()> before_measuring = [] {};

  // Measurements are stopped, with Error{kCancelled}, when no more than this is left of the budget.
  void keep_back(double seconds) { kept_back_ = seconds; }
  // A run that goes on ends at the measurement at which the time was up at first.
  void note_time_is_up();
  // Seconds so far, as if nothing were known from before.
  double elapsed() const { return clock_.elapsed(); }

  // Whatever else is worth keeping: `find` is called when it is not known. `read` makes something of what is
  // known, and throws nlohmann::json::exception when it is not what it should be: then it is found anew.
  template <class Read>
  auto once(const std::string& key, const std::function<nlohmann::json()>& find, const Read& read) {
    if (const nlohmann::json* known = recall(key)) {
      try {
        return read(*known);
      } catch (const nlohmann::json::exception&) {
        journal_.forget(key);
      }
    }
    return read(find_out(key, find));
  }

  std::uint64_t original_bytes() const { return original_bytes_; }
  std::uint64_t recalled() const { return recalled_; }
  const std::vector<std::string>& notes() const { return notes_; }
  CandidateMaker& maker() { return maker_; }

 private:
  const nlohmann::json* recall(const std::string& key);
  nlohmann::json find_out(const std::string& key, const std::function<nlohmann::json()>& find);
  VerifyOptions verify_options(const DataOptions& data) const;
  void begin_step();
  std::string end_key() const;
  std::filesystem::path file_of(const ResolvedRecipe& mix);
  const Recording& recording();

  const TuneOptions& options_;
  const Split& split_;
  CandidateMaker& maker_;
  Journal& journal_;
  Clock& clock_;
  TemporaryFolder folder_{"tune"};
  std::list<std::string> files_;  // that are there, the last used one first
  std::unique_ptr<Recording> recording_;
  std::vector<std::string> notes_;
  std::uint64_t original_bytes_ = 0, recalled_ = 0, steps_ = 0;
  double kept_back_ = 0;
};

}  // namespace ounce::search
