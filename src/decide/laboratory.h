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
#include "decide/clock.h"
#include "decide/journal.h"
#include "decide/recording.h"
#include "decide/split.h"
#include "decide/workshop.h"

namespace ounce::decide {

class Laboratory {
 public:
  Laboratory(const TuneOptions& options, const Split& split, Workshop& workshop, Journal& journal,
             Clock& clock);

  // Noise over signal at the worst output, of each on a few samples; infinite when it cannot be made.
  std::vector<double> noises(const std::vector<Mix>& mixes);
  // Bytes and quality on all samples that are for searching; without a time. When it cannot be made, the
  // trial says why.
  TuneTrial judge(const Mix& mix, const std::string& name);
  // How much faster each is than the original, all in one contest; so many seconds for each. All of them
  // have been judged. Who comes out a little slower than the original is timed twice more, each time loaded
  // anew, and the middle one counts: where a session happens to lie in memory is worth some percent.
  std::vector<SpeedUp> time(const std::vector<Mix>& mixes, double seconds);
  // The final word.
  VerifyResult hold_out(const Mix& mix);

  // Called before anything is measured that is not known from before.
  std::function<void()> before_measuring = [] {};

  // Whatever else is worth keeping: `find` is called when it is not known.
  nlohmann::json once(const std::string& key, const std::function<nlohmann::json()>& find);

  std::uint64_t original_bytes() const { return original_bytes_; }
  std::uint64_t recalled() const { return recalled_; }
  Workshop& workshop() { return workshop_; }

 private:
  std::vector<SpeedUp> contest(const std::vector<Mix>& mixes, double seconds, int repetition);
  std::filesystem::path file_of(const Mix& mix);
  const Recording& recording();

  const TuneOptions& options_;
  const Split& split_;
  Workshop& workshop_;
  Journal& journal_;
  Clock& clock_;
  TemporaryFolder folder_{"tune"};
  std::list<std::string> files_;  // that are there, the last used one first
  std::unique_ptr<Recording> recording_;
  std::uint64_t original_bytes_ = 0, recalled_ = 0;
};

}  // namespace ounce::decide
