#include "runtime/isolated.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ounce/error.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;

std::string signal_name(int signal) {
  const char* abbreviation = ::sigabbrev_np(signal);
  return abbreviation == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", abbreviation);
}

struct FileActions {
  FileActions() { ::posix_spawn_file_actions_init(&actions); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t actions;
};

// In a process group of its own, a Ctrl-C in the terminal is ours to answer, and not taken for a crash.
struct Attributes {
  Attributes() {
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    ::posix_spawnattr_setpgroup(&attributes, 0);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t attributes;
};

}  // namespace

fs::path Isolated::find_runner() {
  if (const char* named = std::getenv("OUNCE_RUNNER"); named != nullptr && *named != '\0') {
    if (fs::is_regular_file(named)) return named;
    throw Error(ErrorCode::kIo, "no such program", fmt::format("OUNCE_RUNNER={}", named));
  }
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  for (const fs::path& place : {self.parent_path() / "ounce-runner", fs::path(OUNCE_RUNNER_INSTALLED),
                                fs::path(OUNCE_RUNNER_BUILT)}) {
    if (fs::is_regular_file(place, ignored)) return place;
  }
  throw Error(ErrorCode::kIo,
              "cannot run a model in a process of its own: the program ounce-runner is not beside this one; "
              "OUNCE_RUNNER can name it");
}

Isolated::Isolated(const fs::path& model, const ExecutorOptions& options)
    : model_(model.string()), options_(options) {
  // Found here, so that the process needs no settings of its own and a mistake in them is ours to explain.
  options_.library = Library::find(options.library).string();
  load();
}

void Isolated::load() {
  start(options_.isolate.value_or(Limits{}));
  try {
    const Load load{options_.library, model_, options_.session};
    Loaded loaded = unpack_loaded(ask(Kind::kLoad, pack(load), Kind::kLoaded, "loading the model"));
    library_version_ = std::move(loaded.library_version);
    inputs_ = std::move(loaded.inputs);
    outputs_ = std::move(loaded.outputs);
    load_seconds_ = loaded.seconds;
  } catch (...) {
    stop();
    throw;
  }
}

Isolated::~Isolated() { stop(); }

void Isolated::start(const Limits& limits) {
  const fs::path runner = find_runner();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(ErrorCode::kIo, fmt::format("cannot talk to a runner: {}", std::strerror(errno)));
  socket_ = io::Descriptor(ends[0]);
  const io::Descriptor theirs(ends[1]);
  FileActions files;
  Attributes attributes;
  ::posix_spawn_file_actions_adddup2(&files.actions, theirs.get(), 0);
  ::posix_spawn_file_actions_adddup2(&files.actions, theirs.get(), 1);
  ::posix_spawn_file_actions_addopen(&files.actions, 2, "/dev/null", O_WRONLY, 0);
  std::string program = runner.string(), memory = std::to_string(limits.memory);
  char* arguments[] = {program.data(), memory.data(), nullptr};
  const int error =
      ::posix_spawn(&process_, program.c_str(), &files.actions, &attributes.attributes, arguments, environ);
  if (error != 0) {
    process_ = -1;
    throw Error(ErrorCode::kIo, fmt::format("cannot start it: {}", std::strerror(error)), program);
  }
}

std::string Isolated::ask(Kind kind, const std::string& body, Kind expected, const char* doing) {
  const Channel channel(socket_.get(), socket_.get());
  Channel::Deadline deadline;
  const double seconds_limit = options_.isolate ? options_.isolate->seconds : 0;
  if (seconds_limit > 0) {
    deadline =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                               std::chrono::duration<double>(seconds_limit));
  }
  Message answer;
  Channel::Outcome outcome = channel.send(kind, body, deadline);
  if (outcome == Channel::Outcome::kDone) outcome = channel.receive(answer, deadline);
  if (outcome == Channel::Outcome::kLate) {
    stop();
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} took longer than {} s and was stopped", doing, seconds_limit), model_);
  }
  if (outcome == Channel::Outcome::kClosed) explain_end(doing);
  if (answer.kind == Kind::kFailed) throw_failure(answer.body);
  if (answer.kind != expected)
    throw Error(ErrorCode::kBadInput, "the runner gave another answer than was asked for", model_);
  return std::move(answer.body);
}

void Isolated::explain_end(const char* doing) {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  const std::string how = WIFSIGNALED(status) ? "crashed with " + signal_name(WTERMSIG(status))
                                              : fmt::format("ended with {}", WEXITSTATUS(status));
  throw Error(ErrorCode::kBadInput, fmt::format("ONNX Runtime {} while {}", how, doing), model_);
}

void Isolated::stop() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

std::span<const TensorView> Isolated::run(std::span<const TensorView> inputs) {
  if (process_ < 0) load();  // the one before it has ended, and a new one may do better with these inputs
  const std::vector<TensorView> tensors(inputs.begin(), inputs.end());
  Ran ran = unpack_ran(ask(Kind::kRun, pack(tensors), Kind::kRan, "running the model"));
  if (ran.outputs.size() != outputs_.size())
    throw Error(ErrorCode::kBadInput, "the runner gave another number of outputs than the model has", model_);
  last_run_seconds_ = ran.seconds;
  peak_memory_ = ran.peak_memory;
  tensors_ = std::move(ran.outputs);
  views_.assign(tensors_.begin(), tensors_.end());
  return views_;
}

}  // namespace ounce::runtime
