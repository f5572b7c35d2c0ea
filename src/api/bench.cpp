#include <fmt/format.h>
#include <ounce/bench.h>
#include <ounce/error.h>

#include <algorithm>
#include <chrono>

#include "api/runtime.h"
#include "base/cancel.h"
#include "io/file_cache.h"
#include "measure/rounds.h"
#include "runtime/bound_run.h"
#include "runtime/isolated.h"

namespace ounce {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void begin_stage(Progress* progress, const char* stage) {
  if (progress == nullptr) return;
  progress->done = 0;
  progress->total = 0;
  progress->stage = stage;
}

// One model, loaded and bound to inputs of one batch size at a time.
class Contestant {
 public:
  Contestant(const std::filesystem::path& path, const runtime::ExecutorOptions& options) {
    const auto start = Clock::now();
    if (options.isolate) {
      isolated_ = std::make_unique<runtime::Isolated>(path, options);
      load_seconds = isolated_->load_seconds();
    } else {
      session_ = std::make_unique<runtime::Session>(
          runtime::Library::open(runtime::Library::find(options.library)), path, options.session);
      load_seconds = seconds_since(start);
      bound_ = std::make_unique<runtime::BoundRun>(*session_);
    }
  }

  const std::vector<data::ValueDescription>& inputs() const {
    return isolated_ ? isolated_->inputs() : session_->inputs();
  }
  const std::string& library_version() const {
    return isolated_ ? isolated_->library_version() : session_->library().version();
  }

  void bind(data::Batch batch) {
    batch_ = std::move(batch);
    views_.assign(batch_.inputs.begin(), batch_.inputs.end());
    if (bound_) bound_->bind(views_);
  }
  const data::Batch& batch() const { return batch_; }

  double run() {
    if (isolated_) {
      isolated_->run(views_);
      return isolated_->last_run_seconds();
    }
    const auto start = Clock::now();
    bound_->run();
    return seconds_since(start);
  }

  double load_seconds = 0;

 private:
  std::unique_ptr<runtime::Isolated> isolated_;
  std::unique_ptr<runtime::Session> session_;
  std::unique_ptr<runtime::BoundRun> bound_;
  data::Batch batch_;
  std::vector<data::TensorView> views_;
};

// From the start of a process to its first result.
void start_cold(const std::filesystem::path& path, const api::ModelFiles& files,
                runtime::ExecutorOptions options, std::span<const data::TensorView> inputs,
                BenchResult& result) {
  bool is_dropped = true;
  for (const auto& file : files.paths) is_dropped = io::drop_from_cache(file) && is_dropped;
  if (!options.isolate) options.isolate = runtime::Limits{};
  const auto start = Clock::now();
  runtime::Isolated process(path, options);
  process.run(inputs);
  const double seconds = seconds_since(start);
  const bool is_first = result.cold_start_seconds == 0;
  result.cold_start_seconds = is_first ? seconds : std::min(result.cold_start_seconds, seconds);
  result.is_cache_dropped = is_first ? is_dropped : result.is_cache_dropped && is_dropped;
  result.peak_memory = std::max(result.peak_memory, process.peak_memory());
}

}  // namespace

BenchReport bench(const std::vector<std::filesystem::path>& paths, const BenchOptions& options) {
  if (paths.empty()) throw Error(ErrorCode::kUsage, "there is no model to time");
  const runtime::ExecutorOptions how = api::executor_options(options.runtime);
  BenchReport report;
  report.threads = options.runtime.threads;
  report.is_generated = options.data.is_generated();

  // Load each model; the first run of each is told apart from the others.
  begin_stage(options.progress, "loading");
  std::vector<Contestant> contestants;
  std::vector<api::ModelFiles> files;
  contestants.reserve(paths.size());
  for (const std::filesystem::path& path : paths) {
    BenchResult result;
    result.model = path;
    files.push_back(api::check_model(path));
    result.bytes = files.back().bytes;
    contestants.emplace_back(path, how);
    result.load_seconds = contestants.back().load_seconds;
    report.models.push_back(std::move(result));
  }
  report.runtime_version = contestants.front().library_version();

  std::vector<measure::Call> calls;
  for (Contestant& contestant : contestants) calls.emplace_back([&contestant] { return contestant.run(); });
  bool is_first_batch = true;
  for (const std::uint64_t batch : options.batches) {
    DataOptions data = options.data;
    data.batch = batch;
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const api::OpenFeed open = api::open_feed(paths[i], contestants[i].inputs(), data);
      data::Batch inputs;
      open.feed->read(0, inputs);
      contestants[i].bind(std::move(inputs));
      const double first = contestants[i].run();
      if (is_first_batch) report.models[i].first_seconds = first;
      if (is_first_batch && i == 0) report.notes = open.feed->notes();
    }
    // Cold starts take turns too.
    if (is_first_batch) {
      begin_stage(options.progress, "cold starts");
      for (unsigned round = 0; round < options.cold_starts; ++round) {
        for (std::size_t i = 0; i < paths.size(); ++i) {
          throw_if_cancelled();
          const auto& tensors = contestants[i].batch().inputs;
          start_cold(paths[i], files[i], how, std::vector<data::TensorView>(tensors.begin(), tensors.end()),
                     report.models[i]);
        }
      }
      begin_stage(options.progress, "timing");
    }
    measure::RoundOptions rounds_options;
    rounds_options.seconds = options.seconds;
    rounds_options.calls = options.repeats;
    rounds_options.progress = [&](double share) {
      if (options.progress == nullptr) return;
      options.progress->total = 1000;
      options.progress->done = static_cast<std::uint64_t>(1000 * share);
    };
    const measure::Rounds rounds = measure::run_rounds(calls, rounds_options);
    report.rounds += rounds.count;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      BatchResult result;
      result.batch = contestants[i].batch().names.size();
      result.latency = measure::latency_of(rounds.seconds[i]);
      result.samples_per_second = static_cast<double>(result.batch) / result.latency.mean;
      if (i != 0) result.speed_up = measure::speed_up(rounds.medians[0], rounds.medians[i]);
      report.models[i].batches.push_back(result);
    }
    is_first_batch = false;
  }
  return report;
}

}  // namespace ounce
