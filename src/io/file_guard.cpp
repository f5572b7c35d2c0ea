#include <fcntl.h>
#include <ounce/error.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

#include "io/mapped_file.h"

namespace ounce::io {

// A line of /proc/self/maps: "7f0-7f8 r--p 00000000 fd:01 1234 /path".
struct FileGuard::Mapping {
  std::uintptr_t begin = 0, end = 0;
  std::uint64_t device = 0, inode = 0;  // as in that line; stat() may return others
};

namespace {

std::atomic<bool> is_guard_on{true};

// Parses such lines one character at a time. Safe in signal handlers.
class MapsReader {
 public:
  MapsReader() : file_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~MapsReader() {
    if (file_ >= 0) ::close(file_);
  }
  MapsReader(const MapsReader&) = delete;
  MapsReader& operator=(const MapsReader&) = delete;

  bool next(FileGuard::Mapping& mapping) {
    mapping.begin = number(16, '-');
    mapping.end = number(16, ' ');
    number(10, ' ');  // permissions
    number(16, ' ');  // offset
    mapping.device = number(16, ':') << 32U;
    mapping.device |= number(16, ' ');
    mapping.inode = number(10, ' ');
    while (last_ >= 0 && last_ != '\n') last_ = character();
    return last_ >= 0;
  }

 private:
  // Reads up to `end`, or to the end of the line.
  std::uint64_t number(std::uint64_t base, char end) {
    std::uint64_t value = 0;
    for (last_ = character(); last_ >= 0 && last_ != end && last_ != '\n'; last_ = character())
      value = value * base + static_cast<std::uint64_t>(last_ <= '9' ? last_ - '0' : last_ - 'a' + 10);
    return value;
  }

  int character() {
    if (at_ == size_) {
      const ssize_t got = file_ < 0 ? -1 : ::read(file_, buffer_.data(), buffer_.size());
      if (got <= 0) return -1;
      at_ = 0;
      size_ = static_cast<std::size_t>(got);
    }
    return static_cast<unsigned char>(buffer_[at_++]);
  }

  int file_;
  std::array<char, 512> buffer_;  // small, because a handler's stack may be small
  std::size_t at_ = 0, size_ = 0;
  int last_ = 0;
};

// The mapping of an address; its inode is 0 if there is none, or if it is not a file.
FileGuard::Mapping mapping_at(std::uintptr_t address) noexcept {
  MapsReader maps;
  FileGuard::Mapping mapping;
  while (maps.next(mapping)) {
    if (mapping.begin <= address && address < mapping.end) return mapping;
  }
  return {};
}

bool put_zeros(std::uintptr_t begin, std::uintptr_t end) noexcept {
  return ::mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

}  // namespace

// The handler reads slots while other threads change them (a seqlock): if the version is odd, or differs
// after reading, the handler must not use the data. The slot of a mapping that is in use does not change.
struct FileGuard::Slot {
  std::atomic<std::uint32_t> version{0};
  std::atomic<bool> is_taken{false};
  std::atomic<std::uintptr_t> begin{0}, end{0};    // of one mapping, or
  std::atomic<std::uint64_t> device{0}, inode{0};  // of all mappings of a file
  std::atomic<const char*> path{nullptr};
  std::atomic<FileFault*> fault{nullptr};
  std::atomic<bool> was_cut{false};

  bool holds(std::uintptr_t address) const { return begin <= address && address < end; }
  bool is_of(const Mapping& mapping) const {
    return inode != 0 && inode == mapping.inode && device == mapping.device;
  }
};

// Blocks of slots. They are never freed, because a handler may be reading them.
struct FileGuard::Slots {
  static constexpr std::size_t kBlock = 64;
  struct Block {
    std::array<Slot, kBlock> slots;
    std::atomic<Block*> next{nullptr};
  };

  static Slots& all() {
    static auto* const slots = new Slots;
    return *slots;
  }

  Slot& take(const Mapping& mapping, const char* path, FileFault* fault) {
    const std::lock_guard lock(mutex);
    install_handler();
    for (Block* block = &first;; block = block->next) {
      for (Slot& slot : block->slots) {
        if (slot.is_taken) continue;
        set(slot, true, mapping, path, fault);
        return slot;
      }
      if (block->next == nullptr) block->next = new Block;
    }
  }

  void free(Slot& slot) {
    const std::lock_guard lock(mutex);
    set(slot, false, {}, nullptr, nullptr);
  }

  static void set(Slot& slot, bool is_taken, const Mapping& mapping, const char* path, FileFault* fault) {
    ++slot.version;
    slot.is_taken = is_taken;
    slot.begin = mapping.begin;
    slot.end = mapping.end;
    slot.device = mapping.device;
    slot.inode = mapping.inode;
    slot.path = path;
    slot.fault = fault;
    slot.was_cut = false;
    ++slot.version;
  }

  template <class Wanted>
  Slot* find(const Wanted& is_wanted) noexcept {
    for (Block* block = &first; block != nullptr; block = block->next) {
      for (Slot& slot : block->slots) {
        const std::uint32_t version = slot.version;
        if (version % 2 == 0 && is_wanted(slot) && version == slot.version) return &slot;
      }
    }
    return nullptr;
  }

  // Maps zeros from the page of an address to the end of its mapping, because a truncated file has usually
  // lost more than one page.
  bool rescue(std::uintptr_t address) noexcept {
    std::uintptr_t end = 0;
    Slot* slot = find([&](const Slot& each) { return each.holds(address); });
    if (slot != nullptr) {
      end = slot->end;
    } else {
      const Mapping mapping = mapping_at(address);
      end = mapping.end;
      if (mapping.inode != 0) slot = find([&](const Slot& each) { return each.is_of(mapping); });
    }
    if (slot == nullptr || !put_zeros(address - address % page_size, end)) return false;
    slot->was_cut = true;
    if (FileFault* const fault = slot->fault) fault->record(slot->path);
    return true;
  }

  void install_handler() {
    if (is_installed) return;
    is_installed = true;
    page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    ::sigemptyset(&action.sa_mask);
    action.sa_flags = static_cast<int>(SA_SIGINFO) | SA_ONSTACK | SA_RESTART;
    ::sigaction(SIGBUS, nullptr, &before);  // first, because the new handler may be called at once
    ::sigaction(SIGBUS, &action, nullptr);
  }

  static void on_bus_error(int signal, siginfo_t* info, void* context) {
    const int kept = errno;
    if (info->si_code != BUS_ADRERR || !all().rescue(reinterpret_cast<std::uintptr_t>(info->si_addr)))
      pass_on(all().before, signal, info, context);
    errno = kept;
  }

  static void pass_on(const struct sigaction& before, int signal, siginfo_t* info, void* context) {
    if ((static_cast<unsigned>(before.sa_flags) & static_cast<unsigned>(SA_SIGINFO)) != 0) {
      before.sa_sigaction(signal, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
      before.sa_handler(signal);
    } else {
      // Default effect. A fault occurs again after return; a signal sent by a process does not.
      if (before.sa_handler == SIG_IGN && info->si_code <= 0) return;
      ::signal(signal, SIG_DFL);
      if (info->si_code <= 0) ::raise(signal);
    }
  }

  std::mutex mutex;
  Block first;
  bool is_installed = false;
  std::uintptr_t page_size = 4096;
  struct sigaction before {};
};

FileGuard::FileGuard(std::string_view mapping, const std::filesystem::path& path) {
  if (mapping.empty() || !is_wanted()) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
  take({begin, begin + mapping.size(), 0, 0}, path);
}

FileGuard FileGuard::of_all(const MappedFile& file) {
  FileGuard guard;
  if (file.bytes().empty() || !is_wanted()) return guard;
  const Mapping ours = mapping_at(reinterpret_cast<std::uintptr_t>(file.bytes().data()));
  if (ours.inode != 0) guard.take({0, 0, ours.device, ours.inode}, file.path());
  return guard;
}

bool FileGuard::is_wanted() noexcept { return is_guard_on && fault_of_scope() != nullptr; }

void FileGuard::take(const Mapping& mapping, const std::filesystem::path& path) {
  fault_ = fault_of_scope();
  path_ = std::make_unique<const std::string>(path.string());
  slot_ = &Slots::all().take(mapping, path_->c_str(), fault_.get());
}

FileGuard::FileGuard(FileGuard&& other) noexcept
    : slot_(std::exchange(other.slot_, nullptr)),
      path_(std::move(other.path_)),
      fault_(std::move(other.fault_)) {}

FileGuard& FileGuard::operator=(FileGuard&& other) noexcept {
  std::swap(slot_, other.slot_);
  std::swap(path_, other.path_);
  std::swap(fault_, other.fault_);
  return *this;
}

FileGuard::~FileGuard() {
  if (slot_ != nullptr) Slots::all().free(*slot_);
}

bool FileGuard::was_cut() const noexcept { return slot_ != nullptr && slot_->was_cut; }

}  // namespace ounce::io

namespace ounce {

void set_file_guard(bool is_on) noexcept { io::is_guard_on = is_on; }

}  // namespace ounce
