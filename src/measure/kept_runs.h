// What the original makes of some batches, kept in memory: others are held against it without running it
// again.
//
//   const KeptRuns kept(original, feed, spread(feed.batches(), 32, false), kMostKeptBytes);
//   kept.replay(candidate, feed, [&](const auto& run, auto given) { … run.outputs … given … });
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/feed.h"
#include "data/tensor.h"
#include "measure/stepper.h"

namespace ounce::measure {

struct KeptRun {
  std::uint64_t number = 0;           // of the batch in its feed
  data::Batch batch;                  // without its inputs, unless they are kept too
  std::vector<data::Tensor> outputs;  // that the original gave
};

inline constexpr std::uint64_t kMostKeptBytes = std::uint64_t{256} << 20;  // what is usual

class KeptRuns {
 public:
  enum class Inputs { kReadAgain, kKept };

  // Runs the original over these batches in their order, as far as what is kept fits into `most_bytes`; the
  // first one always does.
  KeptRuns(Stepper& original, data::Feed& feed, const std::vector<std::uint64_t>& batches,
           std::uint64_t most_bytes, Inputs inputs = Inputs::kReadAgain);

  // Runs another model over the same batches. `take` gets each run of the original, and what the other gave;
  // once it says false, that is enough.
  using Take = std::function<bool(const KeptRun&, std::span<const data::TensorView> given)>;
  void replay(Stepper& other, data::Feed& feed, const Take& take) const;
  // … or over these of them, in this order.
  void replay(Stepper& other, data::Feed& feed, std::span<const std::size_t> which, const Take& take) const;

  const std::vector<KeptRun>& runs() const { return runs_; }
  std::uint64_t samples() const { return samples_; }
  bool is_cut() const { return is_cut_; }  // more was asked for

 private:
  std::vector<KeptRun> runs_;
  std::uint64_t samples_ = 0;
  bool is_cut_ = false;
};

}  // namespace ounce::measure
