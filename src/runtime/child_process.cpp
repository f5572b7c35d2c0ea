#include "runtime/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ounce/error.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/cancel.h"
#include "base/text.h"

namespace ounce::runtime {
namespace {

constexpr off_t kMostErrors = off_t{64} << 10;
constexpr std::size_t kMostSaid = 400;
constexpr int kShellSignal =
    128;  // a shell's exit code for a program killed by a signal is this plus the signal

// Names of the signals that end programs. sigabbrev_np() is too new for the supported systems.
std::string signal_name(int signal) {
  switch (signal) {
    case SIGABRT: return "SIGABRT";
    case SIGALRM: return "SIGALRM";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGHUP: return "SIGHUP";
    case SIGILL: return "SIGILL";
    case SIGINT: return "SIGINT";
    case SIGKILL: return "SIGKILL";
    case SIGPIPE: return "SIGPIPE";
    case SIGQUIT: return "SIGQUIT";
    case SIGSEGV: return "SIGSEGV";
    case SIGSYS: return "SIGSYS";
    case SIGTERM: return "SIGTERM";
    case SIGTRAP: return "SIGTRAP";
    case SIGXCPU: return "SIGXCPU";
    case SIGXFSZ: return "SIGXFSZ";
    default: return fmt::format("signal {}", signal);
  }
}

[[noreturn]] void cannot_start(int error, const std::string& program) {
  throw Error(ErrorCode::kIo, fmt::format("cannot start the program: {}", std::strerror(error)), program);
}

struct FileActions {
  FileActions() { ::posix_spawn_file_actions_init(&actions); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t actions;
};

// Starts the child in its own process group, so that Ctrl-C in the terminal does not look like a crash of the
// child.
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

// A memory file of fixed size for standard error. Unlike a pipe it needs no reader, and writing more gives an
// error.
io::Descriptor make_room_for_errors() {
  io::Descriptor room(::memfd_create("errors", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!room || ::ftruncate(room.get(), kMostErrors) != 0 ||
      ::fcntl(room.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0)
    return io::Descriptor();
  return room;
}

}  // namespace

bool ChildProcess::End::was_killed_from_outside() const {
  return !was_killed && (signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP);
}

std::string ChildProcess::End::how() const {
  if (was_killed) return "did not answer";
  if (was_killed_from_outside()) return fmt::format("was killed ({})", signal_name(signal));
  return signal != 0 ? "crashed with " + signal_name(signal) : fmt::format("ended with {}", code);
}

ChildProcess::ChildProcess(std::vector<std::string> command, Errors errors) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(ErrorCode::kIo, fmt::format("cannot communicate with a program: {}", std::strerror(errno)));
  socket_ = io::Descriptor(ends[0]);
  const io::Descriptor theirs(ends[1]);
  if (errors == Errors::kKept) errors_ = make_room_for_errors();
  FileActions files;
  const Attributes attributes;
  // Without these actions the child would share the standard streams of this process.
  const auto add = [&](int error) {
    if (error != 0) cannot_start(error, command[0]);
  };
  add(::posix_spawn_file_actions_adddup2(&files.actions, theirs.get(), 0));
  add(::posix_spawn_file_actions_adddup2(&files.actions, theirs.get(), 1));
  add(errors_ ? ::posix_spawn_file_actions_adddup2(&files.actions, errors_.get(), 2)
              : ::posix_spawn_file_actions_addopen(&files.actions, 2, "/dev/null", O_WRONLY, 0));
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int error = ::posix_spawnp(&process_, arguments[0], &files.actions, &attributes.attributes,
                                   arguments.data(), environ);
  if (error == 0) return;
  process_ = -1;
  cannot_start(error, command[0]);
}

ChildProcess::~ChildProcess() { end(0); }

void ChildProcess::end_input() { ::shutdown(socket_.get(), SHUT_WR); }

ChildProcess::End ChildProcess::end(double patience) {
  using std::chrono::steady_clock;
  if (process_ < 0) return {};
  const auto until = steady_clock::now() + std::chrono::duration<double>(patience);
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0 && steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const bool went_on = info.si_pid == 0;
  // The process is not reaped yet, so its number cannot belong to another process.
  ::kill(-process_, SIGKILL);
  ::kill(process_, SIGKILL);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status), went_on && WTERMSIG(status) == SIGKILL};
  const int code = WEXITSTATUS(status);
  if (code > kShellSignal && code < kShellSignal + SIGRTMIN) return {0, code - kShellSignal, false};
  return {code, 0, false};
}

std::string ChildProcess::said() const {
  if (!errors_) return {};
  // The file position is shared with the child, so it is the number of bytes written.
  const off_t size = std::clamp<off_t>(::lseek(errors_.get(), 0, SEEK_CUR), 0, kMostErrors);
  std::string text(static_cast<std::size_t>(size), '\0');
  const ssize_t got = ::pread(errors_.get(), text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  std::string line = on_one_line(text);
  return line.size() <= kMostSaid ? line : "…" + line.substr(line.size() - kMostSaid);
}

namespace {

// Waits in short intervals, so that a canceled call returns soon.
Outcome wait_for(int descriptor, short events, Deadline deadline) {
  using std::chrono::milliseconds, std::chrono::steady_clock;
  constexpr milliseconds kTurn(100);
  for (;;) {
    throw_if_cancelled();
    milliseconds turn = kTurn;
    if (deadline) {
      const auto left = std::chrono::ceil<milliseconds>(*deadline - steady_clock::now());
      if (left <= milliseconds(0)) return Outcome::kLate;
      turn = std::min(turn, left);
    }
    pollfd state{descriptor, events, 0};
    const int ready = ::poll(&state, 1, static_cast<int>(turn.count()));
    if (ready > 0) return Outcome::kDone;  // also at the end and on errors, which the next call reports
    if (ready < 0 && errno != EINTR) return Outcome::kClosed;
  }
}

// Reads some bytes. Returns kClosed at the end.
Outcome read_some(int descriptor, char* to, std::size_t size, std::size_t& got, Deadline deadline) {
  for (;;) {
    if (const Outcome outcome = wait_for(descriptor, POLLIN, deadline); outcome != Outcome::kDone)
      return outcome;
    const ssize_t read = ::read(descriptor, to, size);
    if (read < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (read <= 0) return Outcome::kClosed;
    got = static_cast<std::size_t>(read);
    return Outcome::kDone;
  }
}

}  // namespace

Deadline deadline_in(double seconds) {
  using std::chrono::steady_clock;
  if (seconds <= 0) return std::nullopt;
  return steady_clock::now() +
         std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(seconds));
}

Outcome read_exactly(int descriptor, char* to, std::size_t size, Deadline deadline) {
  while (size > 0) {
    std::size_t got = 0;
    if (const Outcome outcome = read_some(descriptor, to, size, got, deadline); outcome != Outcome::kDone)
      return outcome;
    to += got;
    size -= got;
  }
  return Outcome::kDone;
}

Outcome read_to_end(int descriptor, std::string& bytes, std::size_t most, Deadline deadline) {
  std::array<char, 4096> piece;
  for (;;) {
    std::size_t got = 0;
    const Outcome outcome = read_some(descriptor, piece.data(), piece.size(), got, deadline);
    if (outcome == Outcome::kClosed) return Outcome::kDone;
    if (outcome != Outcome::kDone) return outcome;
    bytes.append(piece.data(), std::min(got, most - std::min(most, bytes.size())));
  }
}

// Uses MSG_NOSIGNAL, so that a closed socket does not end this process with SIGPIPE; falls back to write()
// for pipes, such as those of ssh.
Outcome write_all(int descriptor, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (const Outcome outcome = wait_for(descriptor, POLLOUT, deadline); outcome != Outcome::kDone)
      return outcome;
    ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == ENOTSOCK) sent = ::write(descriptor, bytes.data(), bytes.size());
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) return Outcome::kClosed;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return Outcome::kDone;
}

namespace {

constexpr std::size_t kMostWaiting = 16;

}  // namespace

std::unique_ptr<ChildProcess> Runners::take(const std::string& purpose) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const auto& runner) { return runner.first == purpose; });
  if (found == waiting_.end()) return nullptr;
  std::unique_ptr<ChildProcess> runner = std::move(found->second);
  waiting_.erase(found);
  return runner;
}

void Runners::give_back(const std::string& purpose, std::unique_ptr<ChildProcess> runner) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() < kMostWaiting) waiting_.emplace_back(purpose, std::move(runner));
}

}  // namespace ounce::runtime
