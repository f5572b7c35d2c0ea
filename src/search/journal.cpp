#include "search/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ounce/error.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "base/digest.h"
#include "base/json_text.h"
#include "io/mapped_file.h"

namespace ounce::search {
namespace {

std::filesystem::path cache_folder() {
  const auto from = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  if (const auto ours = from("OUNCE_CACHE"); !ours.empty()) return ours;
  if (const auto all = from("XDG_CACHE_HOME"); !all.empty()) return all / "ounce";
  if (const auto home = from("HOME"); !home.empty()) return home / ".cache" / "ounce";
  return std::filesystem::temp_directory_path() / "ounce";
}

constexpr JsonLimits kLine = {.depth = 32, .bytes = std::size_t{64} << 20};

// Of everything else in a line: two processes may have written into one, or somebody else.
std::string check_of(const nlohmann::json& line) {
  const std::string text = line["key"].dump() + line["value"].dump() + line["seconds"].dump();
  return hex(digest_of(text)).substr(0, 16);
}

// Nothing if it is no line of ours.
nlohmann::json read_line(std::string_view text) {
  nlohmann::json line = parse_json_or_nothing(text, kLine);
  if (!line.is_object() || !line.contains("key") || !line["key"].is_string() || !line.contains("value") ||
      !line.contains("seconds") || !line["seconds"].is_number() || !line.contains("check"))
    return nullptr;
  return line["check"] == check_of(line) ? line : nullptr;
}

// Whoever holds it is the only one that appends.
class FileLock {
 public:
  explicit FileLock(int file) : file_(file) { ::flock(file_, LOCK_EX); }
  ~FileLock() { ::flock(file_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_;
};

bool ends_in_a_line(int file) {
  struct stat status {};
  char last = '\n';
  if (::fstat(file, &status) != 0 || status.st_size == 0) return true;
  return ::pread(file, &last, 1, status.st_size - 1) != 1 || last == '\n';
}

}  // namespace

std::filesystem::path journal_file(const std::filesystem::path& folder, const std::string& identity) {
  const std::filesystem::path where = folder.empty() ? cache_folder() : folder;
  std::error_code failure;
  std::filesystem::create_directories(where, failure);
  if (failure)
    throw Error(ErrorCode::kIo,
                "cannot keep measurements here: " + failure.message() + "; give `cache` or `keep=false`",
                where.string());
  return where / (hex(digest_of(identity)) + ".jsonl");
}

Journal::Journal(std::filesystem::path file) : file_(std::move(file)) {
  if (file_.empty()) return;
  out_ = io::Descriptor(::open(file_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
  struct stat status {};
  if (!out_ || ::fstat(out_.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(ErrorCode::kIo, "cannot keep measurements here; give `cache` or `keep=false`",
                file_.string());
  read();
}

void Journal::read() {
  const io::MappedFile file = io::MappedFile::open(file_);
  for (std::string_view rest = file.bytes(); !rest.empty();) {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    nlohmann::json line = read_line(text);
    if (line.is_null()) continue;
    const double seconds = std::max(0.0, line["seconds"].get<double>());
    entries_[line["key"].get<std::string>()] = &all_.emplace_back(Entry{std::move(line["value"]), seconds});
  }
}

const Journal::Entry* Journal::find(const std::string& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second;
}

const Journal::Entry& Journal::add(const std::string& key, nlohmann::json value, double seconds) {
  const std::scoped_lock lock(mutex_);
  const Entry& added = all_.emplace_back(Entry{std::move(value), seconds});
  entries_[key] = &added;
  if (out_) write(key, added);
  return added;
}

// In one call, after whatever another process has left: a line is there, or it is not.
void Journal::write(const std::string& key, const Entry& entry) const {
  // As it will be read: what is no UTF-8 is replaced before the check is made.
  const auto exact = [](const nlohmann::json& json) {
    return parse_json(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), kLine);
  };
  nlohmann::json line = {{"key", exact(key)}, {"value", exact(entry.value)}, {"seconds", entry.seconds}};
  line["check"] = check_of(line);
  const FileLock lock(out_.get());
  const std::string text = (ends_in_a_line(out_.get()) ? "" : "\n") + line.dump() + "\n";
  if (::write(out_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw Error(ErrorCode::kIo,
                "cannot keep measurements here: is the disk full? give `cache` or `keep=false`",
                file_.string());
}

}  // namespace ounce::search
