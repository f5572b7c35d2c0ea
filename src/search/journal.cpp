#include "search/journal.h"

#include <ounce/error.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "base/digest.h"

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
  read();
  out_.open(file_, std::ios::app);
  if (is_cut_) out_ << "\n" << std::flush;
  if (!out_)
    throw Error(ErrorCode::kIo, "cannot keep measurements here; give `cache` or `keep=false`",
                file_.string());
}

void Journal::read() {
  std::ifstream in(file_);
  for (std::string line; std::getline(in, line);) {
    is_cut_ = in.eof();
    const auto parsed = nlohmann::json::parse(line, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("key") || !parsed["key"].is_string() ||
        !parsed.contains("value") || !parsed.contains("seconds") || !parsed["seconds"].is_number())
      continue;
    const double seconds = std::max(0.0, parsed["seconds"].get<double>());
    entries_[parsed["key"].get<std::string>()] = &all_.emplace_back(Entry{parsed["value"], seconds});
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
  if (out_.is_open()) {
    const nlohmann::json line = {{"key", key}, {"value", added.value}, {"seconds", seconds}};
    out_ << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n" << std::flush;
    if (!out_)
      throw Error(ErrorCode::kIo,
                  "cannot keep measurements here: is the disk full? give `cache` or `keep=false`",
                  file_.string());
  }
  return added;
}

}  // namespace ounce::search
