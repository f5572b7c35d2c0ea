// Preloaded into the program (LD_PRELOAD), makes chosen system calls fail or the process die at an exact
// moment.
//
//   FAULT_CALL=pwrite FAULT_AT=3 FAULT_DO=ENOSPC   the third pwrite fails
//   FAULT_REFUSE=open_tmpfile,fallocate            every call of these fails with EOPNOTSUPP, as on file
//   systems without them FAULT_COUNTS=FILE                              at the end, a line "CALL COUNT" for
//   each call that was made and not refused
//
// Calls: open_tmpfile, fallocate, ftruncate, pwrite, fsync, linkat, rename, unlink (remove counts as unlink).
// What is done: the name of an error (EIO, ENOSPC, EINTR, EACCES), short (half of the bytes are written),
// kill-before and kill-after (SIGKILL), term, int (that signal, then the call), truncate (empties FAULT_FILE,
// then the call).
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace {

enum class Call { kOpenTmpfile, kFallocate, kFtruncate, kPwrite, kFsync, kLinkat, kRename, kUnlink };
constexpr std::array kNames = {"open_tmpfile", "fallocate", "ftruncate", "pwrite",
                               "fsync",        "linkat",    "rename",    "unlink"};
std::array<std::atomic<int>, kNames.size()> counts;

std::string_view setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

bool is_refused(std::string_view name) {
  std::string_view list = setting("FAULT_REFUSE");
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == name) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

int error_number(std::string_view name) {
  if (name == "EIO") return EIO;
  if (name == "ENOSPC") return ENOSPC;
  if (name == "EINTR") return EINTR;
  if (name == "EACCES") return EACCES;
  return 0;
}

void send(int signal) { ::kill(::getpid(), signal); }

void empty_the_file() {
  if (::truncate(std::getenv("FAULT_FILE"), 0) != 0) std::abort();
}

// Counts the call and does what is asked for in front of it. The calls themselves run through `run`.
template <class Run>
auto with_fault(Call call, const Run& run, const Run& run_short) -> decltype(run()) {
  const auto index = static_cast<std::size_t>(call);
  if (is_refused(kNames[index])) return errno = EOPNOTSUPP, -1;
  const int count = ++counts[index];
  if (setting("FAULT_CALL") != kNames[index] || std::atoi(std::getenv("FAULT_AT")) != count) return run();
  const std::string_view what = setting("FAULT_DO");
  if (const int error = error_number(what); error != 0) return errno = error, -1;
  if (what == "short") return run_short();
  if (what == "kill-before") send(SIGKILL);
  if (what == "term") send(SIGTERM);
  if (what == "int") send(SIGINT);
  if (what == "truncate") empty_the_file();
  const auto result = run();
  if (what == "kill-after") send(SIGKILL);
  return result;
}

template <class Run>
auto with_fault(Call call, const Run& run) -> decltype(run()) {
  return with_fault(call, run, run);
}

// The real function of the same name.
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

ssize_t faulty_pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  static auto* const next = real<decltype(::pwrite)>("pwrite");
  struct Write {
    int descriptor;
    const void* bytes;
    size_t size;
    off_t offset;
    ssize_t operator()() const { return next(descriptor, bytes, size, offset); }
  };
  return with_fault(Call::kPwrite, Write{descriptor, bytes, size, offset},
                    Write{descriptor, bytes, (size + 1) / 2, offset});
}

int faulty_open(const char* name, const char* path, int flags, mode_t mode) {
  auto* const next = real<int(const char*, int, ...)>(name);
  const auto run = [&] { return next(path, flags, mode); };
  return (flags & O_TMPFILE) == O_TMPFILE ? with_fault(Call::kOpenTmpfile, run) : run();
}

[[gnu::destructor]] void write_counts() {
  const char* path = std::getenv("FAULT_COUNTS");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) return;
  for (std::size_t i = 0; i < kNames.size(); ++i) std::fprintf(file, "%s %d\n", kNames[i], counts[i].load());
  std::fclose(file);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);  // read even when it was not given: it is unused then
  va_end(more);
  return faulty_open("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  return faulty_open("open64", path, flags, mode);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  return faulty_pwrite(descriptor, bytes, size, offset);
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
  return faulty_pwrite(descriptor, bytes, size, offset);
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  static auto* const next = real<decltype(::fallocate)>("fallocate");
  return with_fault(Call::kFallocate, [=] { return next(descriptor, mode, offset, size); });
}

int ftruncate(int descriptor, off_t size) noexcept {
  static auto* const next = real<decltype(::ftruncate)>("ftruncate");
  return with_fault(Call::kFtruncate, [=] { return next(descriptor, size); });
}

int fsync(int descriptor) {
  static auto* const next = real<decltype(::fsync)>("fsync");
  return with_fault(Call::kFsync, [=] { return next(descriptor); });
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  static auto* const next = real<decltype(::linkat)>("linkat");
  return with_fault(Call::kLinkat, [=] { return next(from_folder, from, to_folder, to, flags); });
}

int rename(const char* from, const char* to) noexcept {
  static auto* const next = real<decltype(::rename)>("rename");
  return with_fault(Call::kRename, [=] { return next(from, to); });
}

int unlink(const char* path) noexcept {
  static auto* const next = real<decltype(::unlink)>("unlink");
  return with_fault(Call::kUnlink, [=] { return next(path); });
}

int remove(const char* path) noexcept {
  static auto* const next = real<decltype(::remove)>("remove");
  return with_fault(Call::kUnlink, [=] { return next(path); });
}

}  // extern "C"
