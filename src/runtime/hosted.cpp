#include "runtime/hosted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/machine.h"
#include "runtime/places.h"
#include "runtime/wire.h"

namespace ounce::runtime {
namespace {

constexpr double kClosingPatience = 5;  // seconds until a process that has closed its socket must have exited

}  // namespace

Hosted::Hosted(Launch launch) : launch_(std::move(launch)) {
  if (launch_.runners) process_ = launch_.runners->take(purpose());
  if (!process_) {
    restart();
    return;
  }
  try {
    load();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kTimeout) throw;
    restart();  // a reused runner may have failed because of an earlier model: try a new one
  }
}

Hosted::~Hosted() {
  if (!process_ || !launch_.runners || is_waiting_) return;
  try {
    ask(Kind::kUnload, {}, Kind::kUnloaded, "closing the model");
    launch_.runners->give_back(purpose(), std::move(process_));
  } catch (const std::exception&) {  // the runner is killed instead of reused
  }
}

// A runner can be reused for the same library and the same limits (part of the command).
std::string Hosted::purpose() const {
  return fmt::format("{}\n{}", fmt::join(launch_.command, "\n"), launch_.load.library);
}

void Hosted::restart() {
  process_.reset();  // frees its memory before the next one starts
  process_ = std::make_unique<ChildProcess>(launch_.command, launch_.errors);
  load();
}

void Hosted::load() {
  try {
    loaded_ = unpack_loaded(ask(Kind::kLoad, pack(launch_.load), Kind::kLoaded, "loading the model"));
  } catch (...) {
    process_.reset();
    throw;
  }
}

const std::string& Hosted::ask(Kind kind, const std::string& body, Kind expected, const char* doing) {
  const Channel channel(process_->socket(), process_->socket());
  const double seconds =
      kind == Kind::kRun || kind == Kind::kTime ? launch_.run_seconds : launch_.load_seconds;
  const Deadline deadline = deadline_in(seconds);
  is_waiting_ = true;
  Outcome outcome = channel.send(kind, body, deadline);
  if (outcome == Outcome::kDone) outcome = channel.receive(answer_, deadline);
  is_waiting_ = false;
  if (outcome == Outcome::kLate) {
    process_.reset();
    throw Error(ErrorCode::kTimeout, fmt::format("timeout: {} took longer than {:.3g} s", doing, seconds),
                launch_.model);
  }
  if (outcome == Outcome::kClosed) explain_end(doing);
  if (answer_.kind == Kind::kFailed) throw_failure(answer_.body);
  if (answer_.kind != expected) {
    process_.reset();
    throw Error(ErrorCode::kBadInput, "ounce-runner sent an unexpected answer", launch_.model);
  }
  return answer_.body;
}

void Hosted::explain_end(const char* doing) {
  const ChildProcess::End end = process_->end(kClosingPatience);
  const std::string said = process_->said();
  process_.reset();
  if (end.code == kRefusedExit)
    throw Error(ErrorCode::kMemory,
                fmt::format("{} ran out of memory or threads while {}", launch_.runtime, doing),
                launch_.model);
  if (end.was_killed_from_outside()) {
    throw Error(
        ErrorCode::kIo,
        fmt::format("{} {} while {}, perhaps because memory ran out", launch_.runtime, end.how(), doing),
        launch_.model);
  }
  // SIGBUS comes from memory-mapped files, not from the model.
  if (end.signal == SIGBUS) {
    throw Error(ErrorCode::kIo,
                fmt::format("{} {} while {}: a file was truncated in the meantime, or could not be read",
                            launch_.runtime, end.how(), doing),
                launch_.model);
  }
  throw Error(
      end.was_killed ? ErrorCode::kIo : ErrorCode::kBadInput,
      fmt::format("{} {} while {}{}{}", launch_.runtime, end.how(), doing, said.empty() ? "" : ": ", said),
      launch_.model);
}

std::span<const TensorView> Hosted::run(std::span<const TensorView> inputs) {
  if (!process_) restart();  // the last process has ended; a new one may succeed with these inputs
  pack(question_, inputs);
  Ran ran = unpack_ran(ask(Kind::kRun, question_, Kind::kRan, "running the model"));
  if (ran.outputs.views.size() != outputs().size()) {
    process_.reset();
    throw Error(ErrorCode::kBadInput, "ounce-runner sent a wrong number of outputs", launch_.model);
  }
  last_run_seconds_ = ran.seconds;
  peak_memory_ = ran.peak_memory;
  outputs_ = std::move(ran.outputs);
  return outputs_.views;
}

SlotTimes Hosted::time(std::span<const TensorView> inputs, std::uint64_t runs) {
  if (!process_) restart();
  pack(question_, runs, inputs);
  SlotTimes times = unpack_times(ask(Kind::kTime, question_, Kind::kTimed, "timing the model"));
  if (times.calls.size() == runs) return times;
  process_.reset();
  throw Error(ErrorCode::kBadInput, "ounce-runner sent a wrong number of times", launch_.model);
}

std::optional<LoadMemory> Hosted::load_memory() const {
  if (loaded_.memory.peak == 0) return std::nullopt;
  return loaded_.memory;
}

namespace {

namespace fs = std::filesystem;

constexpr double kSlowestLoad = 10e6;                           // bytes per second
constexpr std::uint64_t kLeastMemory = std::uint64_t{8} << 30;  // bytes of address space

std::uint64_t bytes_of(const fs::path& model, const ExecutorOptions& options) {
  std::error_code ignored;
  const auto file = fs::file_size(model, ignored);
  return std::max<std::uint64_t>(options.bytes, ignored ? 0 : file);
}

Launch isolated_launch(const fs::path& model, const ExecutorOptions& options) {
  const Limits limits = options.isolate.value_or(Limits{});
  Launch launch;
  const std::uint64_t memory =
      limits.memory != 0 ? limits.memory : std::max(kLeastMemory, installed_memory());
  launch.command = {Isolated::find_runner().string(), std::to_string(memory)};
  if (options.masked) launch.command.push_back(name_of(*options.masked));
  // Find the library in this process, so that the runner needs no settings and errors can be explained.
  launch.load = request_for(model, options);
  launch.load_seconds = launch.run_seconds = limits.seconds;
  // Give large models more time to load.
  if (limits.seconds > 0) launch.load_seconds += static_cast<double>(bytes_of(model, options)) / kSlowestLoad;
  launch.runners = options.runners;
  launch.model = model.string();
  launch.runtime = runtime_of(launch.load.kind);
  return launch;
}

}  // namespace

// Searches the folders of this program and of the library with this code, the bin/ folders next to them, and
// the folders where this build was installed or made.
fs::path find_runner_named(const std::string& name) {
  std::vector<fs::path> folders;
  for (const fs::path& own : own_folders()) {
    folders.push_back(own);
    folders.push_back(own.parent_path() / "bin");  // for a library in lib/
  }
  for (const char* const known : {OUNCE_RUNNER_INSTALLED, OUNCE_RUNNER_BUILT}) {
    if (*known != '\0') folders.push_back(fs::path(known).parent_path());
  }
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    fs::path runner = folder / name;
    if (fs::is_regular_file(runner, ignored)) return runner;
  }
  return {};
}

fs::path Isolated::find_runner() {
  if (const char* named = std::getenv("OUNCE_RUNNER"); named != nullptr && *named != '\0') {
    if (fs::is_regular_file(named)) return fs::absolute(named);
    throw Error(ErrorCode::kIo, "no such program", fmt::format("OUNCE_RUNNER={}", named));
  }
  fs::path found = find_runner_named("ounce-runner");
  if (!found.empty()) return found;
  throw Error(ErrorCode::kIo,
              "cannot run a model in a separate process: the program ounce-runner was not found next to this "
              "program; set OUNCE_RUNNER to its path");
}

Isolated::Isolated(const fs::path& model, const ExecutorOptions& options)
    : Hosted(isolated_launch(model, options)) {}

}  // namespace ounce::runtime
