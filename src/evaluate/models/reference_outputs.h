// What a model gave, by what went in: inputs that come again, bit for bit, are answered without running it.
//
//   const auto remembered = std::make_shared<RememberedRuns>(kMostKeptBytes);
//   Stepper reference(remember(load(…), remembered), carry);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/digest.h"
#include "data/source/data_feed.h"
#include "data/tensor.h"
#include "evaluate/models/open.h"
#include "runtime/executor.h"

namespace ounce::evaluate {

class RememberedRuns {
 public:
  explicit RememberedRuns(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Null when these inputs have not been seen, or what they gave did not fit.
  const std::vector<data::Tensor>* find(const Digest& inputs) const;
  void keep(const Digest& inputs, std::span<const data::TensorView> outputs);
  // All is forgotten unless it was asked for the same model, as a name for all that decides what it gives.
  void use_for(const std::string& model);

 private:
  std::uint64_t most_bytes_, bytes_ = 0;
  std::string model_;
  std::map<Digest, std::vector<data::Tensor>> runs_;
};

// `model` itself when `runs` is null.
std::unique_ptr<runtime::Executor> remember(std::unique_ptr<runtime::Executor> model,
                                            std::shared_ptr<RememberedRuns> runs);

// What the original makes of some batches, kept in memory: others are held against it without running it
// again.
//
//   const KeptRuns kept(original, feed, spread(feed.batches(), 32, false), kMostKeptBytes);
//   kept.replay(candidate, feed, [&](const auto& run, auto given) { … run.outputs … given … });

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

}  // namespace ounce::evaluate
