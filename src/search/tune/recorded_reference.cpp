#include "search/tune/recorded_reference.h"

#include <algorithm>

#include "base/machine.h"
#include "evaluate/compare/comparison.h"
#include "evaluate/compare/gates.h"
#include "evaluate/models/feeds.h"
#include "evaluate/models/open.h"

namespace ounce::search {

RecordedReference::RecordedReference(const std::filesystem::path& original, const VerifyOptions& how,
                                     std::uint64_t most_bytes, std::uint64_t most_samples)
    : original_(original), how_(how) {
  how_.progress = nullptr;
  how_.worst = 0;
  evaluate::StatefulExecutor stepper(evaluate::load_as_floats(original, executor_options()), how.data.carry);
  version_ = stepper.model().library_version();
  const evaluate::OpenFeed open = evaluate::open_feed(original, stepper.model().inputs(), how.data);
  available_ = open.feed->samples();
  kept_.emplace(stepper, *open.feed, choose(open.feed->batches(), available_, most_samples), most_bytes,
                ReferenceOutputs::Inputs::kKept);
  if (open.data != nullptr) open.data->require_agreement();
  seconds_ = stepper.seconds();
  notes_ = open.feed->notes();
}

runtime::ExecutorOptions RecordedReference::executor_options() const {
  runtime::ExecutorOptions options = evaluate::executor_options(how_.runtime);
  options.runners = runners_;
  return options;
}

std::vector<std::uint64_t> RecordedReference::choose(std::uint64_t batches, std::uint64_t samples,
                                                     std::uint64_t most_samples) const {
  std::uint64_t count = batches;
  if (most_samples != 0 && samples > most_samples)
    count = std::max<std::uint64_t>(1, most_samples * batches / samples);
  return evaluate::evenly_spaced(batches, count, !how_.data.carry.empty());
}

VerifyResult RecordedReference::compare(const std::filesystem::path& path, std::uint64_t most_samples,
                                        const Gates* gates) const {
  if (!how_.runtime.isolate)
    evaluate::require_loadable(path, how_.runtime);  // loaded here for the first time
  const Stopwatch time;
  VerifyResult result;
  result.reference = original_;
  result.candidate = path;
  result.runtime_version = version_;
  const std::vector<std::uint64_t> chosen = choose(kept_->runs().size(), samples(), most_samples);
  evaluate::StatefulExecutor reference(kept_->reference_of(chosen), {});
  evaluate::StatefulExecutor candidate(evaluate::load_as_floats(path, executor_options()), how_.data.carry);
  evaluate::require_same_interface(reference.model(), candidate.model(), path);
  result.load_seconds = time.seconds();
  const std::unique_ptr<data::Feed> feed = kept_->feed_of(chosen);
  VerifyOptions how = how_;
  if (most_samples != 0) how.metric_command = {};  // a quick look at the outputs does not start a program
  evaluate::Comparison comparison(reference, candidate, how);
  comparison.run(*feed, nullptr);
  comparison.fill(result);
  evaluate::judge(gates == nullptr ? how_.gates : *gates, result);
  result.seconds = time.seconds();
  return result;
}

namespace {

constexpr std::uint64_t kLeastToSplit = 4;

// Every `step`-th sample from `begin` on; for a sequence `size` consecutive samples from `begin` on.
DataPart part_of(const DataOptions& data, std::uint64_t begin, std::uint64_t step, std::uint64_t size,
                 std::uint64_t most) {
  DataPart part{data, 0};
  most = std::max<std::uint64_t>(most, 1);
  if (!data.carry.empty()) {
    part.data.first = data.first + begin;
    part.samples = part.data.samples = std::min(size, most);
    return part;
  }
  const std::uint64_t stride = size / most + (size % most != 0 ? 1 : 0);
  part.data.parts = data.parts * step * stride;
  part.data.part = data.part + begin * data.parts;
  part.samples = (size + stride - 1) / stride;
  return part;
}

}  // namespace

DataPart fit_split(const DataOptions& data, std::uint64_t samples, std::uint64_t most) {
  if (samples < 2) return {data, samples};
  return part_of(data, 0, 2, (samples + 1) / 2, most);
}

DataPart judge_split(const DataOptions& data, std::uint64_t samples, std::uint64_t most) {
  if (samples < 2) return {data, samples};
  return part_of(data, data.carry.empty() ? 1 : (samples + 1) / 2, 2, samples / 2, most);
}

DataPart evenly_spaced(const DataOptions& data, std::uint64_t samples, std::uint64_t most) {
  if (samples < 2) return {data, samples};
  return part_of(data, 0, 1, samples, most);
}

Split split_data(const std::filesystem::path& model, const RuntimeOptions& runtime, const DataOptions& data) {
  const auto loaded = evaluate::load_as_floats(model, evaluate::executor_options(runtime));
  const std::uint64_t samples = evaluate::open_feed(model, loaded->inputs(), data).feed->samples();
  const DataPart all{data, samples};
  if (samples < kLeastToSplit) return {all, all, true, loaded->library_version()};
  return {fit_split(data, samples), judge_split(data, samples), false, loaded->library_version()};
}

}  // namespace ounce::search
