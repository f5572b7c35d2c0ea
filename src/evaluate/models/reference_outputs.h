// Keeps the outputs of a reference model in memory, so that it runs only once for many candidates.
//
// By run, for known batches:
//   const ReferenceOutputs kept(reference, feed, evenly_spaced(feed.batches(), 32, false), kMostKeptBytes);
//   kept.replay(candidate, feed, [&](const auto& run, auto given) { return compare(run.outputs, given); });
//
// By inputs, to answer repeated inputs without a run:
//   const auto kept = std::make_shared<ReferenceOutputs>(kMostKeptBytes);
//   StatefulExecutor reference(answer_from(kept, load(path)), carry);
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
  data::Batch batch;                  // without its inputs, unless they are kept, too
  std::vector<data::Tensor> outputs;  // the reference's
};

class ReferenceOutputs {
 public:
  enum class Inputs { kReadAgain, kKept };

  explicit ReferenceOutputs(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  // Runs the reference on these batches in order, until the outputs exceed `most_bytes`. The first batch is
  // always kept.
  ReferenceOutputs(evaluate::StatefulExecutor& reference, data::Feed& feed,
                   const std::vector<std::uint64_t>& batches, std::uint64_t most_bytes,
                   Inputs inputs = Inputs::kReadAgain);

  // Runs another model on the same batches. `take` gets each run of the reference and the other model's
  // outputs; it returns false to stop.
  using Take = std::function<bool(const ReferenceRun&, std::span<const data::TensorView> given)>;
  void replay(evaluate::StatefulExecutor& other, data::Feed& feed, const Take& take) const;
  // The same for some of the batches, in this order.
  void replay(evaluate::StatefulExecutor& other, data::Feed& feed, std::span<const std::size_t> which,
              const Take& take) const;
  // Presents these runs, in this order, as a feed and as a reference model that returns the kept outputs. The
  // inputs must be kept. Feed and reference must not outlive this object.
  std::unique_ptr<data::Feed> feed_of(std::vector<std::uint64_t> which) const;
  std::unique_ptr<runtime::Executor> reference_of(std::vector<std::uint64_t> which) const;

  const std::vector<ReferenceRun>& runs() const { return runs_; }
  std::uint64_t samples() const { return samples_; }
  bool is_cut() const { return is_cut_; }  // true if not all requested batches fit

  // Finds outputs by the digest of their inputs. Null if they are unknown or did not fit.
  const std::vector<data::Tensor>* find(const Digest& inputs) const;
  void keep(const Digest& inputs, std::span<const data::TensorView> outputs);
  // Sets the current model and drops the outputs kept by inputs if the model changes. `model`: a text with
  // everything that affects the outputs.
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

inline constexpr std::uint64_t kMostKeptBytes = std::uint64_t{256} << 20;  // the default limit

// Wraps a model so that repeated inputs are answered from `kept`. Returns `model` itself if `kept` is null.
std::unique_ptr<runtime::Executor> answer_from(std::shared_ptr<ReferenceOutputs> kept,
                                               std::unique_ptr<runtime::Executor> model);

}  // namespace evaluate
}  // namespace ounce
