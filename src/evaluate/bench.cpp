#include <fmt/format.h>
#include <ounce/bench.h>
#include <ounce/error.h>
#include <ounce/runtime.h>

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <thread>

#include "base/cancel.h"
#include "base/machine.h"
#include "data/source/open_source.h"
#include "evaluate/models/matched_interface.h"
#include "evaluate/models/open.h"
#include "evaluate/timing/rounds.h"
#include "io/mapped_file.h"
#include "io/temporary_files.h"
#include "runtime/executor.h"
#include "runtime/hosted.h"
#include "runtime/masked_cpu.h"
#include "runtime/places.h"

namespace ounce {
namespace {

constexpr double kColdStartSeconds = 600;  // timeout of the process
constexpr std::uint64_t kProfiledRuns = 50, kLeastProfiledRuns = 3;

bool are_equal_files(const std::filesystem::path& a, const std::filesystem::path& b) {
  const io::MappedFile first = io::MappedFile::open(a), second = io::MappedFile::open(b);
  return first.is_same_file(second) || first.bytes() == second.bytes();
}

// One model, loaded and bound to inputs of one batch size at a time.
class TimedModel {
 public:
  TimedModel(const std::filesystem::path& path, const runtime::ExecutorOptions& options)
      : path_(path), options_(options) {
    if (options.isolate || options.remote) {
      hosted_ = runtime::load_hosted(path, options);
      load_seconds = hosted_->load_seconds();
    } else {
      load_here();
    }
  }

  const std::vector<data::ValueDescription>& inputs() const {
    return hosted_ ? hosted_->inputs() : local_->inputs();
  }
  const std::string& library_version() const {
    return hosted_ ? hosted_->library_version() : local_->library_version();
  }

  void bind(data::Batch batch) {
    batch_ = std::move(batch);
    views_.assign(batch_.inputs.begin(), batch_.inputs.end());
    if (local_) local_->bind(views_);
  }
  // Moves a model that ran without crashing in its own process into this one, to time it without
  // communication.
  void come_here() {
    if (!hosted_ || options_.remote) return;
    hosted_->run(views_);
    hosted_.reset();
    load_here();
    local_->bind(views_);
  }
  // The first model of this process pays for common initialization, so it is loaded and run twice.
  void warm_up() {
    if (hosted_) return;
    run_here();
    local_.reset();
    load_here();
    local_->bind(views_);
  }
  void stop() noexcept {
    if (local_) local_->stop();
  }
  const data::Batch& batch() const { return batch_; }

  // The first run after bind().
  double run_first() {
    if (!hosted_) return time(1).wall_seconds();
    hosted_->run(views_);
    return hosted_->last_run_seconds();
  }

  runtime::SlotTimes time(std::uint64_t runs) {
    if (hosted_) return hosted_->time(views_, runs);
    return runtime::time_slot(runs, local_->is_single_threaded(), [this] { run_here(); });
  }

  // Starts a new process and returns its own measurement of the seconds until its first result. On a remote
  // machine the connection would take longer than the start itself.
  double start_elsewhere() {
    hosted_->restart();
    hosted_->run(views_);
    return hosted_->library_seconds() + hosted_->load_seconds() + hosted_->last_run_seconds();
  }
  std::uint64_t peak_memory() const { return hosted_->peak_memory(); }
  std::optional<LoadMemory> load_memory() const { return hosted_->load_memory(); }

  // Profiles the model in a separate session, because profiling slows it down. Returns nothing for models
  // that run in another process.
  std::optional<Profile> profile(double seconds) const {
    if (hosted_) return std::nullopt;
    const TemporaryFolder folder("profile");
    runtime::LoadRequest request = runtime::request_for(path_, options_);
    request.settings.profile = folder.path() / "nodes";
    const auto model = runtime::load_here(request);
    model->bind(views_);
    const Stopwatch time;
    for (std::uint64_t runs = 0;
         runs < kProfiledRuns && (runs < kLeastProfiledRuns || time.seconds() < seconds); ++runs) {
      throw_if_cancelled();
      model->run_bound();
    }
    return evaluate::read_profile(model->end_profile());
  }

  double load_seconds = 0;

 private:
  void run_here() {
    try {
      local_->run_bound();
    } catch (const Error&) {
      throw_if_cancelled();  // Watch stops the run when the call is canceled
      throw;
    }
  }

  void load_here() {
    const runtime::LoadRequest request = runtime::request_for(path_, options_);
    runtime::open_library(request.kind, request.library);
    const Stopwatch time;
    local_ = runtime::load_here(request);
    load_seconds = time.seconds();
  }

  std::filesystem::path path_;
  runtime::ExecutorOptions options_;
  std::unique_ptr<runtime::Hosted> hosted_;
  std::unique_ptr<runtime::LocalExecutor> local_;
  data::Batch batch_;
  std::vector<data::TensorView> views_;
};

struct ColdStart {
  double seconds = 0;
  std::uint64_t peak_memory = 0;
  std::optional<LoadMemory> load_memory;
  bool is_cache_dropped = false;
};

// Measures the time from the start of a process to its first result.
ColdStart start_cold(const std::filesystem::path& path, const evaluate::ModelFiles& files,
                     runtime::ExecutorOptions options, TimedModel& model) {
  if (options.remote) {
    const double seconds = model.start_elsewhere();
    return {seconds, model.peak_memory(), model.load_memory(), false};
  }
  bool is_dropped = true;
  for (const auto& file : files.paths) is_dropped = io::drop_from_cache(file) && is_dropped;
  if (!options.isolate) options.isolate = runtime::Limits{0, kColdStartSeconds};
  const auto& tensors = model.batch().inputs;
  const Stopwatch time;
  runtime::Isolated process(path, options);
  process.run(std::vector<data::TensorView>(tensors.begin(), tensors.end()));
  return {time.seconds(), process.peak_memory(), process.load_memory(), is_dropped};
}

// Keeps the fastest start.
void add(const ColdStart& start, BenchResult& result) {
  const bool is_first = result.cold_start_seconds == 0;
  result.cold_start_seconds = is_first ? start.seconds : std::min(result.cold_start_seconds, start.seconds);
  result.is_cache_dropped = start.is_cache_dropped && (is_first || result.is_cache_dropped);
  result.peak_memory = std::max(result.peak_memory, start.peak_memory);
  if (start.load_memory && (!result.load_memory || start.load_memory->peak > result.load_memory->peak))
    result.load_memory = start.load_memory;
}

// Ends runs in this process when the call is canceled or its deadline has passed.
class Watch {
 public:
  explicit Watch(std::vector<TimedModel>& models)
      : thread_([&models, current = CurrentScope()](const std::stop_token& end) {
          const CurrentScope::Scope scope(current);
          while (!end.stop_requested()) {
            try {
              throw_if_cancelled();
            } catch (const Error&) {
              for (TimedModel& model : models) model.stop();
              return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          }
        }) {}

 private:
  std::jthread thread_;
};

// The models of one bench run and their measurements.
class TimedComparison {
 public:
  TimedComparison(const std::vector<std::filesystem::path>& paths, const BenchOptions& options)
      : paths_(paths), options_(options), how_(evaluate::executor_options(options.runtime)) {
    report_.threads = options.runtime.threads;
    report_.is_generated = options.data.is_generated();
  }

  void load() {
    begin_stage(options_.progress, "loading");
    models_.reserve(paths_.size());
    for (const std::filesystem::path& path : paths_) {
      files_.push_back(evaluate::check_model(path));
      models_.emplace_back(path, how_);
      BenchResult& result = report_.models.emplace_back();
      result.model = path;
      result.bytes = files_.back().bytes;
      result.load_seconds = models_.back().load_seconds;
    }
    report_.runtime_version = models_.front().library_version();
    std::vector<std::pair<std::filesystem::path, std::string>> versions;
    for (std::size_t i = 0; i < paths_.size(); ++i)
      versions.emplace_back(paths_[i], models_[i].library_version());
    report_.runtime = evaluate::runtimes_of(versions);
    if (!options_.runtime.remote) report_.cpu = this_cpu();
    if (how_.remote && !runtime::emulated_machine(how_.remote->launcher).empty())
      report_.notes.emplace_back("the models ran in an emulator: its times do not predict those of a device");
    for (const auto& path : paths_) {
      if (!runtime::is_evaluated(runtime::kind_to_run(path))) continue;
      report_.notes.emplace_back(
          "the models ran in Ounce's evaluator: its times do not predict those of Core ML; measure speed on "
          "a "
          "device");
      break;
    }
  }

  // Binds inputs of this batch size to each model and runs it once. The lengths of dynamic axes for which the
  // first model runs are used for all.
  void bind(std::uint64_t batch, bool is_first) {
    DataOptions data = options_.data;
    data.batch = batch;
    data.shape = evaluate::find_lengths(models_[0].inputs(), data, [&](const DataOptions& tried) {
                   start(0, tried, is_first);
                 }).shape;
    for (std::size_t i = 1; i < models_.size(); ++i) {
      // Models of other file formats have other names.
      if (!evaluate::are_of_one_kind(paths_[0], paths_[i])) data.shape = options_.data.shape;
      start(i, data, is_first);
    }
  }

  // Binds inputs to a model and runs it for the first time.
  void start(std::size_t i, const DataOptions& data, bool is_first) {
    std::vector<std::string> notes;
    models_[i].bind(inputs_of(i, data, notes));
    models_[i].come_here();
    const Watch watch(models_);
    if (is_first && i == 0) models_[i].warm_up();
    report_.models[i].load_seconds = models_[i].load_seconds;
    const double seconds = models_[i].run_first();
    if (is_first) report_.models[i].first_seconds = seconds;
    for (std::string& note : notes) {
      if (std::find(report_.notes.begin(), report_.notes.end(), note) == report_.notes.end())
        report_.notes.push_back(std::move(note));
    }
  }

  // Random inputs are generated for each model. Data is read for the first model and converted to the layout
  // of models in other file formats.
  data::Batch inputs_of(std::size_t i, const DataOptions& data, std::vector<std::string>& notes) {
    data::Batch inputs;
    if (data.is_generated() || evaluate::are_of_one_kind(paths_[0], paths_[i])) {
      const evaluate::OpenFeed open = evaluate::open_feed(paths_[i], models_[i].inputs(), data);
      open.feed->read(0, inputs);
      if (open.data != nullptr) open.data->require_agreement();
      notes = open.feed->notes();
    } else {
      inputs = evaluate::inputs_in_form_of(models_[0].inputs(), models_[i].inputs(), paths_[0], paths_[i],
                                           data, notes);
    }
    return inputs;
  }

  // Cold starts of the models are interleaved, as the calls are.
  void start_cold() {
    begin_stage(options_.progress, "cold starts");
    for (unsigned round = 0; round < options_.cold_starts; ++round) {
      for (std::size_t i = 0; i < paths_.size(); ++i) {
        throw_if_cancelled();
        add(ounce::start_cold(paths_[i], files_[i], how_, models_[i]), report_.models[i]);
      }
    }
  }

  void time() {
    begin_stage(options_.progress, "timing");
    evaluate::RoundOptions rounds_options;
    rounds_options.seconds = options_.seconds;
    rounds_options.calls = options_.repeats;
    // Keep it above 0, which means no limit. After the deadline, one round still runs.
    if (options_.deadline > 0) rounds_options.deadline = std::max(options_.deadline - timing_seconds_, 1e-9);
    const Stopwatch time;
    rounds_options.progress = [this](double share) {
      if (options_.progress == nullptr) return;
      options_.progress->total = 1000;
      options_.progress->done = static_cast<std::uint64_t>(1000 * share);
    };
    std::vector<evaluate::Slot> slots;
    for (TimedModel& model : models_)
      slots.emplace_back([&model](std::uint64_t runs) { return model.time(runs); });
    const Watch watch(models_);
    const evaluate::Rounds rounds = evaluate::run_rounds(slots, rounds_options);
    timing_seconds_ += time.seconds();
    report_.rounds += rounds.count;
    report_.load = std::max(report_.load, rounds.load());
    for (std::size_t i = 0; i < models_.size(); ++i) {
      BatchResult result;
      result.batch = models_[i].batch().names.size();
      result.latency = rounds.models[i].latency();
      result.samples_per_second = static_cast<double>(result.batch) / result.latency.mean;
      if (i != 0) result.speed_up = evaluate::speed_up(rounds, 0, i);
      if (i != 0 && is_same_as_first(i)) result.speed_up.is_measurable = false;
      report_.models[i].batches.push_back(result);
    }
  }

  void profile() {
    begin_stage(options_.progress, "profiling");
    if (options_.runtime.remote) {
      report_.notes.emplace_back("`profile` needs models that run in this process: no profile was taken");
      return;
    }
    for (std::size_t i = 0; i < models_.size(); ++i)
      report_.models[i].profile = models_[i].profile(options_.seconds);
  }

  BenchReport take_report() { return std::move(report_); }

 private:
  // True for copies of the first model: any difference is measurement noise.
  bool is_same_as_first(std::size_t i) {
    const auto& first = files_[0].paths;
    const auto& other = files_[i].paths;
    const bool is_same = first.size() == other.size() &&
                         std::equal(first.begin(), first.end(), other.begin(), are_equal_files);
    if (is_same) {
      std::string note = fmt::format("'{}' is the same model as '{}': any difference is measurement noise",
                                     paths_[i].string(), paths_[0].string());
      if (std::find(report_.notes.begin(), report_.notes.end(), note) == report_.notes.end())
        report_.notes.push_back(std::move(note));
    }
    return is_same;
  }

  const std::vector<std::filesystem::path>& paths_;
  const BenchOptions& options_;
  runtime::ExecutorOptions how_;
  std::vector<TimedModel> models_;
  std::vector<evaluate::ModelFiles> files_;
  BenchReport report_;
  double timing_seconds_ = 0;  // spent on the batch sizes so far
};

}  // namespace

BenchReport bench(const std::vector<std::filesystem::path>& paths, const BenchOptions& options) {
  const CancellationScope scope(options.progress);
  if (paths.empty()) throw Error(ErrorCode::kUsage, "no models to time");
  for (const std::filesystem::path& path : paths) io::require_readable(path);
  data::require_files(options.data);
  TimedComparison comparison(paths, options);
  comparison.load();
  bool is_first = true;
  for (const std::uint64_t batch : options.batches) {
    comparison.bind(batch, is_first);
    if (is_first) comparison.start_cold();
    comparison.time();
    if (is_first && options.profile) comparison.profile();
    is_first = false;
  }
  return comparison.take_report();
}

}  // namespace ounce
