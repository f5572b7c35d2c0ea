// What a reference model gave, kept in memory: many candidates are compared with it, and it is run once.
//
// By run, where the batches are known before:
//   const ReferenceOutputs kept(reference, feed, evenly_spaced(feed.batches(), 32, false), kMostKeptBytes);
//   kept.replay(candidate, feed, [&](const ReferenceRun& run, auto given) { … run.outputs … given … });
//
// By inputs, where a reference answers inputs that come again, bit for bit, without being run:
//   const auto kept = std::make_shared<ReferenceOutputs>(kMostKeptBytes);
//   StatefulExecutor reference(answer_from(kept, load(…)), carry);
#pragma once

#include <ounce/verify.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/digest.h"
#include "data/source/data_feed.h"
#include "data/tensor.h"
#include "evaluate/models/open.h"
#include "runtime/executor.h"

namespace ounce {

struct ReferenceRun {
  std::uint64_t number = 0;           // of the batch in its feed
  data::Batch batch;                  // without its inputs, unless they are kept too
  std::vector<data::Tensor> outputs;  // of the reference
};

class ReferenceOutputs {
 public:
  enum class Inputs { kReadAgain, kKept };

  explicit ReferenceOutputs(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  // Runs the reference over these batches in their order, as far as what is kept fits into `most_bytes`; the
  // first one always does.
  ReferenceOutputs(evaluate::StatefulExecutor& reference, data::Feed& feed,
                   const std::vector<std::uint64_t>& batches, std::uint64_t most_bytes,
                   Inputs inputs = Inputs::kReadAgain);

  // Runs another model over the same batches. `take` gets each run of the reference, and what the other gave;
  // once it says false, that is enough.
  using Take = std::function<bool(const ReferenceRun&, std::span<const data::TensorView> given)>;
  void replay(evaluate::StatefulExecutor& other, data::Feed& feed, const Take& take) const;
  // … or over these of them, in this order.
  void replay(evaluate::StatefulExecutor& other, data::Feed& feed, std::span<const std::size_t> which,
              const Take& take) const;
  // These runs as a feed and as the reference, which gives what is kept, in this order. Inputs must be kept;
  // both live no longer than this.
  std::unique_ptr<data::Feed> feed_of(std::vector<std::uint64_t> which) const;
  std::unique_ptr<runtime::Executor> reference_of(std::vector<std::uint64_t> which) const;

  const std::vector<ReferenceRun>& runs() const { return runs_; }
  std::uint64_t samples() const { return samples_; }
  bool is_cut() const { return is_cut_; }  // more was asked for

  // Null when these inputs have not been seen, or their outputs did not fit.
  const std::vector<data::Tensor>* find(const Digest& inputs) const;
  void keep(const Digest& inputs, std::span<const data::TensorView> outputs);
  // Forgets what is kept by inputs, unless it is of the same model: a name for all that decides the outputs.
  void use_for(const std::string& model);

 private:
  class Replay;
  class Subset;

  std::uint64_t most_bytes_, bytes_ = 0;
  std::vector<ReferenceRun> runs_;
  std::uint64_t samples_ = 0;
  bool is_cut_ = false;
  std::vector<data::ValueDescription> takes_, gives_;
  std::string version_, model_;
  std::map<Digest, std::vector<data::Tensor>> by_inputs_;
};

namespace evaluate {

inline constexpr std::uint64_t kMostKeptBytes = std::uint64_t{256} << 20;  // what is usual

// `model` itself when `kept` is null.
std::unique_ptr<runtime::Executor> answer_from(std::shared_ptr<ReferenceOutputs> kept,
                                               std::unique_ptr<runtime::Executor> model);

}  // namespace evaluate
}  // namespace ounce
