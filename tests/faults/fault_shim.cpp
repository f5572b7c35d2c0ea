// A library for LD_PRELOAD that makes chosen calls fail, or ends the process at an exact call.
//
//   FAULT_CALL=pwrite FAULT_AT=3 FAULT_DO=ENOSPC   the third pwrite fails
//   FAULT_LASTING=1                                all later calls fail, too
//   FAULT_WHO=runner                               not in ounce but in the ounce-runner processes that it
//                                                  starts; both: in any of them
//   FAULT_REFUSE=open_tmpfile,fallocate            every call of these fails with EOPNOTSUPP, as on file
//                                                  systems without them
//   FAULT_COUNTS=FILE                              file of the counts, shared by all processes; see shim.py
//   FAULT_TRACE=FILE                               receives the stack of the failed call
//
// Calls are counted from main() on, separately for ounce and for all runners together. Other programs are not
// affected. The calls:
//
//   open_tmpfile, fallocate, ftruncate, pwrite, fsync (fdatasync), linkat, rename, unlink (remove),
//   open (and all else that gives a file or folder: openat, openat2, fopen, opendir, mkdtemp, mkdir,
//   memfd_create), write (writev), send, socketpair (pipe), mmap, spawn (posix_spawn, fork, vfork, clone),
//   thread (pthread_create), malloc (calloc, realloc, aligned_alloc, memalign, posix_memalign, and so
//   operator new)
//
// FAULT_DO is the name of an error (EIO, ENOSPC, EINTR, EACCES, ENOMEM, EAGAIN, EMFILE, EPIPE), short (write
// half of the bytes), kill-before or kill-after (SIGKILL), term or int (raise that signal, then call), or
// truncate (empty FAULT_FILE, then call).
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace {

enum Call {
  kOpenTmpfile,
  kFallocate,
  kFtruncate,
  kPwrite,
  kFsync,
  kLinkat,
  kRename,
  kUnlink,
  kOpen,
  kWrite,
  kSend,
  kSocketpair,
  kMmap,
  kSpawn,
  kThread,
  kMalloc,
  kCalls
};
constexpr std::array<std::string_view, kCalls> kNames = {
    "open_tmpfile", "fallocate", "ftruncate", "pwrite",     "fsync", "linkat", "rename", "unlink",
    "open",         "write",     "send",      "socketpair", "mmap",  "spawn",  "thread", "malloc"};

enum Who { kProgram, kRunner, kProcesses };

struct Counts {
  std::atomic<std::int64_t> failed;  // number of injected faults
  std::array<std::array<std::atomic<std::int64_t>, kCalls>, kProcesses> calls;
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

enum class Do { kNothing, kError, kShort, kKillBefore, kKillAfter, kTerm, kInt, kTruncate };

// Read once, when main() begins, because reading the environment for each malloc would be slow.
struct Settings {
  bool is_on = false;
  Who who = kProgram;
  std::array<bool, kCalls> refused{};
  int call = -1;  // the call that fails in this process
  std::int64_t at = 0;
  bool is_lasting = false;
  Do what = Do::kNothing;
  int error = 0;
  const char* file = nullptr;
  const char* trace = nullptr;
};

Counts own_counts;
Counts* counts = &own_counts;
Settings settings;
// True while the shim itself makes calls, which are not counted.
[[gnu::tls_model("initial-exec")]] thread_local bool is_inside = false;

struct Inside {
  Inside() { is_inside = true; }
  ~Inside() { is_inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

std::string_view setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool is_in_list(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == name) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

int error_number(std::string_view name) {
  constexpr std::pair<std::string_view, int> kErrors[] = {
      {"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EINTR", EINTR},   {"EACCES", EACCES},
      {"ENOMEM", ENOMEM}, {"EAGAIN", EAGAIN}, {"EMFILE", EMFILE}, {"EPIPE", EPIPE}};
  for (const auto& [known, number] : kErrors)
    if (known == name) return number;
  return 0;
}

Do what_to_do(std::string_view name) {
  constexpr std::pair<std::string_view, Do> kWays[] = {{"short", Do::kShort},
                                                       {"kill-before", Do::kKillBefore},
                                                       {"kill-after", Do::kKillAfter},
                                                       {"term", Do::kTerm},
                                                       {"int", Do::kInt},
                                                       {"truncate", Do::kTruncate}};
  for (const auto& [known, way] : kWays)
    if (known == name) return way;
  return error_number(name) != 0 ? Do::kError : Do::kNothing;
}

void share_counts(const char* path) {
  const int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(Counts)) != 0) std::abort();
  void* const mapped = ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) std::abort();
  counts = static_cast<Counts*>(mapped);
  ::close(file);
}

void begin() {
  const Inside inside;
  const std::string_view name = program_invocation_short_name;
  if (name != "ounce" && !name.starts_with("ounce-runner")) return;
  settings.who = name == "ounce" ? kProgram : kRunner;
  for (std::size_t i = 0; i < kCalls; ++i)
    settings.refused[i] = is_in_list(setting("FAULT_REFUSE"), kNames[i]);
  const std::string_view who = setting("FAULT_WHO");
  if (who == "both" || who == (settings.who == kRunner ? "runner" : "program") ||
      (who.empty() && settings.who == kProgram)) {
    const auto* const found = std::find(kNames.begin(), kNames.end(), setting("FAULT_CALL"));
    if (found != kNames.end()) settings.call = static_cast<int>(found - kNames.begin());
  }
  const char* const at = std::getenv("FAULT_AT");
  settings.at = at == nullptr ? 0 : std::atoll(at);
  settings.is_lasting = !setting("FAULT_LASTING").empty();
  settings.what = what_to_do(setting("FAULT_DO"));
  settings.error = error_number(setting("FAULT_DO"));
  settings.file = std::getenv("FAULT_FILE");
  settings.trace = std::getenv("FAULT_TRACE");
  if (const char* path = std::getenv("FAULT_COUNTS")) share_counts(path);
  settings.is_on = true;
}

void write_trace() {
  if (settings.trace == nullptr) return;
  const int file = ::open(settings.trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  std::array<void*, 40> stack;
  ::backtrace_symbols_fd(stack.data(), ::backtrace(stack.data(), stack.size()), file);
  ::close(file);
}

void send_signal(int signal) { ::kill(::getpid(), signal); }

// Counts the call, and performs the actions that precede it. The caller handles the returned kNothing, kError
// (errno is set), kShort or kKillAfter.
Do before(Call call) {
  if (!settings.is_on || is_inside) return Do::kNothing;
  const Inside inside;
  if (settings.refused[call]) return errno = EOPNOTSUPP, Do::kError;
  const std::int64_t count = ++counts->calls[settings.who][call];
  if (settings.call != call || (settings.is_lasting ? count < settings.at : count != settings.at))
    return Do::kNothing;
  ++counts->failed;
  switch (settings.what) {
    case Do::kError:
      write_trace();
      errno = settings.error;
      break;
    case Do::kKillBefore: send_signal(SIGKILL); break;
    case Do::kTerm: send_signal(SIGTERM); break;
    case Do::kInt: send_signal(SIGINT); break;
    case Do::kTruncate:
      if (::truncate(settings.file, 0) != 0) std::abort();
      break;
    default: break;
  }
  return settings.what;
}

// Calls `run` with the fault; `failed` is the return value of a failed call.
template <class Run>
auto with_fault(Call call, const Run& run, const Run& run_short, decltype(run()) failed) -> decltype(run()) {
  const Do what = before(call);
  if (what == Do::kError) return failed;
  if (what == Do::kShort) return run_short();
  const auto result = run();
  if (what == Do::kKillAfter) send_signal(SIGKILL);
  return result;
}

template <class Run>
auto with_fault(Call call, const Run& run, decltype(run()) failed) -> decltype(run()) {
  return with_fault(call, run, run, failed);
}

template <class Run>
int with_fault(Call call, const Run& run) {
  return with_fault(call, run, run, -1);
}

// For calls that return the error instead of setting errno.
template <class Run>
int giving_the_error(Call call, const Run& run) {
  const int result = with_fault(call, run, run, -1);
  return result == -1 ? errno : result;
}

// The real function of the same name.
template <class Function>
Function* real(const char* name) {
  const bool was_inside = std::exchange(is_inside, true);
  auto* const found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
  is_inside = was_inside;
  return found;
}

struct Write {
  ssize_t (*next)(int, const void*, size_t, off_t);
  int descriptor;
  const void* bytes;
  size_t size;
  off_t offset;
  ssize_t operator()() const { return next(descriptor, bytes, size, offset); }
};

ssize_t faulty_pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  static auto* const next = real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return with_fault(kPwrite, Write{next, descriptor, bytes, size, offset},
                    Write{next, descriptor, bytes, (size + 1) / 2, offset}, -1);
}

template <class Run>
int faulty_open(int flags, const Run& run) {
  return with_fault((flags & O_TMPFILE) == O_TMPFILE ? kOpenTmpfile : kOpen, run);
}

// Reads the mode even if it was not passed; it is unused then.
mode_t mode_of(va_list more) { return va_arg(more, mode_t); }

using Main = int(int, char**, char**);
Main* real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  begin();
  return real_main(argc, argv, environment);
}

}  // namespace

extern "C" {

int __libc_start_main(Main* main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                      void* stack_end) {
  real_main = main;
  return real<decltype(__libc_start_main)>("__libc_start_main")(counted_main, argc, argv, init, fini,
                                                                rtld_fini, stack_end);
}

#define OPEN(name)                                                      \
  int name(const char* path, int flags, ...) {                          \
    static auto* const next = real<int(const char*, int, ...)>(#name);  \
    va_list more;                                                       \
    va_start(more, flags);                                              \
    const mode_t mode = mode_of(more);                                  \
    va_end(more);                                                       \
    return faulty_open(flags, [=] { return next(path, flags, mode); }); \
  }
#define OPENAT(name)                                                            \
  int name(int folder, const char* path, int flags, ...) {                      \
    static auto* const next = real<int(int, const char*, int, ...)>(#name);     \
    va_list more;                                                               \
    va_start(more, flags);                                                      \
    const mode_t mode = mode_of(more);                                          \
    va_end(more);                                                               \
    return faulty_open(flags, [=] { return next(folder, path, flags, mode); }); \
  }
#define FOPEN(name)                                                         \
  FILE* name(const char* path, const char* mode) {                          \
    static auto* const next = real<FILE*(const char*, const char*)>(#name); \
    return with_fault(                                                      \
        kOpen, [=] { return next(path, mode); }, nullptr);                  \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
FOPEN(fopen)
FOPEN(fopen64)
#undef OPEN
#undef OPENAT
#undef FOPEN

DIR* opendir(const char* path) {
  static auto* const next = real<DIR*(const char*)>("opendir");
  return with_fault(
      kOpen, [=] { return next(path); }, nullptr);
}

char* mkdtemp(char* name) noexcept {
  static auto* const next = real<char*(char*)>("mkdtemp");
  return with_fault(
      kOpen, [=] { return next(name); }, nullptr);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const next = real<int(const char*, mode_t)>("mkdir");
  return with_fault(kOpen, [=] { return next(path, mode); });
}

int memfd_create(const char* name, unsigned flags) noexcept {
  static auto* const next = real<int(const char*, unsigned)>("memfd_create");
  return with_fault(kOpen, [=] { return next(name, flags); });
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  return faulty_pwrite(descriptor, bytes, size, offset);
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
  return faulty_pwrite(descriptor, bytes, size, offset);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  static auto* const next = real<ssize_t(int, const void*, size_t)>("write");
  return with_fault(
      kWrite, [=] { return next(descriptor, bytes, size); }, ssize_t{-1});
}

ssize_t writev(int descriptor, const iovec* pieces, int number) {
  static auto* const next = real<ssize_t(int, const iovec*, int)>("writev");
  return with_fault(
      kWrite, [=] { return next(descriptor, pieces, number); }, ssize_t{-1});
}

ssize_t send(int descriptor, const void* bytes, size_t size, int flags) {
  static auto* const next = real<ssize_t(int, const void*, size_t, int)>("send");
  return with_fault(
      kSend, [=] { return next(descriptor, bytes, size, flags); }, ssize_t{-1});
}

int socketpair(int domain, int type, int protocol, int* ends) noexcept {
  static auto* const next = real<int(int, int, int, int*)>("socketpair");
  return with_fault(kSocketpair, [=] { return next(domain, type, protocol, ends); });
}

int pipe(int* ends) noexcept {
  static auto* const next = real<int(int*)>("pipe");
  return with_fault(kSocketpair, [=] { return next(ends); });
}

int pipe2(int* ends, int flags) noexcept {
  static auto* const next = real<int(int*, int)>("pipe2");
  return with_fault(kSocketpair, [=] { return next(ends, flags); });
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  static auto* const next = real<int(int, int, off_t, off_t)>("fallocate");
  return with_fault(kFallocate, [=] { return next(descriptor, mode, offset, size); });
}

int ftruncate(int descriptor, off_t size) noexcept {
  static auto* const next = real<int(int, off_t)>("ftruncate");
  return with_fault(kFtruncate, [=] { return next(descriptor, size); });
}

int fsync(int descriptor) {
  static auto* const next = real<int(int)>("fsync");
  return with_fault(kFsync, [=] { return next(descriptor); });
}

int fdatasync(int descriptor) {
  static auto* const next = real<int(int)>("fdatasync");
  return with_fault(kFsync, [=] { return next(descriptor); });
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  static auto* const next = real<int(int, const char*, int, const char*, int)>("linkat");
  return with_fault(kLinkat, [=] { return next(from_folder, from, to_folder, to, flags); });
}

int rename(const char* from, const char* to) noexcept {
  static auto* const next = real<int(const char*, const char*)>("rename");
  return with_fault(kRename, [=] { return next(from, to); });
}

int unlink(const char* path) noexcept {
  static auto* const next = real<int(const char*)>("unlink");
  return with_fault(kUnlink, [=] { return next(path); });
}

int remove(const char* path) noexcept {
  static auto* const next = real<int(const char*)>("remove");
  return with_fault(kUnlink, [=] { return next(path); });
}

// Sanitizers replace these functions and must be called first.
#ifndef FAULT_FILES_ONLY

// Only for openat2, which has no libc function.
long syscall(long number, ...) noexcept {
  static auto* const next = real<long(long, ...)>("syscall");
  va_list more;
  va_start(more, number);
  long words[6];
  for (long& word : words) word = va_arg(more, long);
  va_end(more);
  const auto run = [&] { return next(number, words[0], words[1], words[2], words[3], words[4], words[5]); };
  return number == SYS_openat2 ? with_fault(kOpen, run, -1L) : run();
}

void* mmap(void* address, size_t size, int protection, int flags, int descriptor, off_t offset) noexcept {
  static auto* const next = real<void*(void*, size_t, int, int, int, off_t)>("mmap");
  return with_fault(
      kMmap, [=] { return next(address, size, protection, flags, descriptor, offset); }, MAP_FAILED);
}
void* mmap64(void* address, size_t size, int protection, int flags, int descriptor, off64_t offset) noexcept {
  return mmap(address, size, protection, flags, descriptor, offset);
}

pid_t fork() noexcept {
  static auto* const next = real<pid_t()>("fork");
  return with_fault(kSpawn, [=] { return next(); });
}
// vfork cannot be wrapped; fork is a valid replacement.
pid_t vfork() noexcept { return fork(); }

int clone(int (*run)(void*), void* stack, int flags, void* argument, ...) noexcept {
  static auto* const next = real<int(int (*)(void*), void*, int, void*, ...)>("clone");
  va_list more;
  va_start(more, argument);
  void* words[3];
  for (void*& word : words) word = va_arg(more, void*);
  va_end(more);
  return with_fault(kSpawn, [&] { return next(run, stack, flags, argument, words[0], words[1], words[2]); });
}

#define SPAWN(name)                                                                                   \
  int name(pid_t* process, const char* program, const posix_spawn_file_actions_t* actions,            \
           const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {   \
    static auto* const next = real<decltype(::name)>(#name);                                          \
    return giving_the_error(                                                                          \
        kSpawn, [=] { return next(process, program, actions, attributes, arguments, environment); }); \
  }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)
#undef SPAWN

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) noexcept {
  static auto* const next =
      real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return giving_the_error(kThread, [=] { return next(thread, attributes, run, argument); });
}

// Declared instead of looked up, because dlsym may allocate.
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t number, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) noexcept { return before(kMalloc) == Do::kError ? nullptr : __libc_malloc(size); }
void* calloc(size_t number, size_t size) noexcept {
  return before(kMalloc) == Do::kError ? nullptr : __libc_calloc(number, size);
}
void* realloc(void* block, size_t size) noexcept {
  return before(kMalloc) == Do::kError ? nullptr : __libc_realloc(block, size);
}
void* memalign(size_t alignment, size_t size) noexcept {
  return before(kMalloc) == Do::kError ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept { return memalign(alignment, size); }
int posix_memalign(void** block, size_t alignment, size_t size) noexcept {
  const int error_before = errno;
  void* const made = memalign(alignment, size);
  errno = error_before;
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

#endif

}  // extern "C"
