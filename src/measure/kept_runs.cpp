#include "measure/kept_runs.h"

#include <numeric>
#include <utility>

#include "base/cancel.h"

namespace ounce::measure {
namespace {

std::uint64_t bytes_of(const std::vector<data::Tensor>& tensors) {
  std::uint64_t bytes = 0;
  for (const data::Tensor& tensor : tensors) bytes += tensor.bytes.size();
  return bytes;
}

}  // namespace

KeptRuns::KeptRuns(Stepper& original, data::Feed& feed, const std::vector<std::uint64_t>& batches,
                   std::uint64_t most_bytes, Inputs inputs) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t number : batches) {
    throw_if_cancelled();
    KeptRun run;
    run.number = number;
    feed.read(number, run.batch);
    for (const data::TensorView& view : original.run(run.batch)) run.outputs.push_back(data::copy_of(view));
    if (inputs == Inputs::kReadAgain) run.batch.inputs = {};
    bytes += bytes_of(run.batch.inputs) + bytes_of(run.outputs);
    is_cut_ = bytes > most_bytes && !runs_.empty();
    if (is_cut_) return;
    samples_ += run.batch.names.size();
    runs_.push_back(std::move(run));
  }
}

void KeptRuns::replay(Stepper& other, data::Feed& feed, const Take& take) const {
  std::vector<std::size_t> all(runs_.size());
  std::iota(all.begin(), all.end(), 0);
  replay(other, feed, all, take);
}

void KeptRuns::replay(Stepper& other, data::Feed& feed, std::span<const std::size_t> which,
                      const Take& take) const {
  data::Batch batch;
  for (const std::size_t i : which) {
    throw_if_cancelled();
    const KeptRun& run = runs_[i];
    const bool is_kept = !run.batch.inputs.empty();
    if (!is_kept) feed.read(run.number, batch);
    if (!take(run, other.run(is_kept ? run.batch : batch))) return;
  }
}

}  // namespace ounce::measure
