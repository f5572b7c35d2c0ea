#include "search/tune/recording.h"

#include <algorithm>

#include "base/stopwatch.h"
#include "evaluate/compare/comparison.h"
#include "evaluate/compare/gates.h"
#include "evaluate/models/feeds.h"
#include "evaluate/models/float_ports.h"
#include "evaluate/models/open.h"

namespace ounce::search {

// Gives what the original gave.
class Recording::Replay : public runtime::Executor {
 public:
  Replay(const Recording& recording, std::vector<std::uint64_t> batches)
      : recording_(recording), batches_(std::move(batches)) {}

  const std::vector<data::ValueDescription>& inputs() const override { return recording_.takes_; }
  const std::vector<data::ValueDescription>& outputs() const override { return recording_.gives_; }
  const std::string& library_version() const override { return recording_.version_; }
  std::span<const data::TensorView> run(std::span<const data::TensorView>) override {
    const auto& outputs = recording_.kept_->runs().at(batches_.at(next_++)).outputs;
    views_.assign(outputs.begin(), outputs.end());
    return views_;
  }

 private:
  const Recording& recording_;
  std::vector<std::uint64_t> batches_;
  std::vector<data::TensorView> views_;
  std::size_t next_ = 0;
};

class Recording::Subset : public data::Feed {
 public:
  Subset(const Recording& recording, const std::vector<std::uint64_t>& batches)
      : recording_(recording), batches_(batches) {}

  std::uint64_t batches() const override { return batches_.size(); }
  std::uint64_t samples() const override {
    std::uint64_t count = 0;
    for (const std::uint64_t i : batches_) count += recording_.kept_->runs()[i].batch.names.size();
    return count;
  }
  void read(std::uint64_t index, data::Batch& batch) override {
    batch = recording_.kept_->runs()[batches_[index]].batch;
  }

 private:
  const Recording& recording_;
  const std::vector<std::uint64_t>& batches_;
};

Recording::Recording(const std::filesystem::path& original, const VerifyOptions& how,
                     std::uint64_t most_bytes, std::uint64_t most_samples)
    : original_(original), how_(how) {
  how_.progress = nullptr;
  how_.worst = 0;
  evaluate::Stepper stepper(evaluate::load_as_floats(original, executor_options()), how.data.carry);
  takes_ = stepper.model().inputs();
  gives_ = stepper.model().outputs();
  version_ = stepper.model().library_version();
  const evaluate::OpenFeed open = evaluate::open_feed(original, takes_, how.data);
  available_ = open.feed->samples();
  kept_.emplace(stepper, *open.feed, choose(open.feed->batches(), available_, most_samples), most_bytes,
                evaluate::KeptRuns::Inputs::kKept);
  if (open.data != nullptr) open.data->require_agreement();
  seconds_ = stepper.seconds();
  notes_ = open.feed->notes();
}

runtime::ExecutorOptions Recording::executor_options() const {
  runtime::ExecutorOptions options = evaluate::executor_options(how_.runtime);
  options.runners = runners_;
  return options;
}

std::vector<std::uint64_t> Recording::choose(std::uint64_t batches, std::uint64_t samples,
                                             std::uint64_t most_samples) const {
  std::uint64_t count = batches;
  if (most_samples != 0 && samples > most_samples)
    count = std::max<std::uint64_t>(1, most_samples * batches / samples);
  return evaluate::spread(batches, count, !how_.data.carry.empty());
}

VerifyResult Recording::compare(const std::filesystem::path& path, std::uint64_t most_samples) const {
  return compare(path, most_samples, how_.gates);
}

VerifyResult Recording::compare(const std::filesystem::path& path, const Gates& gates) const {
  return compare(path, 0, gates);
}

VerifyResult Recording::compare(const std::filesystem::path& path, std::uint64_t most_samples,
                                const Gates& gates) const {
  if (!how_.runtime.isolate) evaluate::require_loadable(path, how_.runtime);  // nobody has judged it yet
  const Stopwatch time;
  VerifyResult result;
  result.reference = original_;
  result.candidate = path;
  result.runtime_version = version_;
  const std::vector<std::uint64_t> chosen = choose(kept_->runs().size(), samples(), most_samples);
  evaluate::Stepper reference(std::make_unique<Replay>(*this, chosen), {});
  evaluate::Stepper candidate(evaluate::load_as_floats(path, executor_options()), how_.data.carry);
  evaluate::require_same_interface(reference.model(), candidate.model(), path);
  result.load_seconds = time.seconds();
  Subset feed(*this, chosen);
  VerifyOptions how = how_;
  if (most_samples != 0) how.metric_command = {};  // a glance at the outputs: no reason to start a program
  evaluate::Comparison comparison(reference, candidate, how);
  comparison.run(feed, nullptr);
  comparison.fill(result);
  evaluate::judge(gates, result);
  result.seconds = time.seconds();
  return result;
}

}  // namespace ounce::search
