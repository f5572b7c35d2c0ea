// Conversion of measurements to and from the JSON of the journal, and the journal itself.
#pragma once

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <ounce/bench.h>
#include <ounce/data.h>
#include <ounce/runtime.h>
#include <ounce/search.h>
#include <ounce/verify.h>

#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/descriptor.h"

namespace ounce::search {

// JSON has neither infinity nor NaN: they are written as text.
nlohmann::json number(double value);
double number_or(const nlohmann::json& value, double otherwise);

// Leaves out the name and the derived fields.
nlohmann::json trial_json(const TuneTrial& trial);
TuneTrial trial_of(const nlohmann::json& made);
nlohmann::json speed_json(const SpeedUp& speed);
SpeedUp speed_of(const nlohmann::json& made);

// Measurements on disk. A second run finds them, and a run that was killed resumes where it ended.
//
//   Journal journal(journal_file(options.cache, identity, result.notes));
//   if (const Journal::Entry* known = journal.find(key)) …
//   journal.add(key, value, seconds);
//
// Each process appends to a file of its own (NAME.HOST.jsonl, NAME.HOST.2.jsonl, …) and reads the files of
// all. Each measurement is a line of JSON with a checksum, appended by one write; the reader skips incomplete
// lines. The writer holds a lock on its file, which only shows that the file is taken: a file system without
// locks gives every process a new file.

class Journal {
 public:
  struct Entry {
    nlohmann::json value;
    double seconds = 0;  // duration of the measurement
  };

  // An empty name: nothing is written to a file. Throws Error{kIo} when no file can be written.
  explicit Journal(std::filesystem::path file);

  // Null for an unknown key. Thread-safe; entries never change.
  const Entry* find(const std::string& key) const;
  // Replaces the value of a known key, here and in the file: a caller adds a new value if it cannot read the
  // old one.
  const Entry& add(const std::string& key, nlohmann::json value, double seconds);

  // Reads what other processes have added meanwhile.
  void refresh();
  // Tells other processes, if there are any, that this one measures `key` now. Returns false if a living
  // process does; its measurement follows, unless the process ends.
  bool claim(const std::string& key);

  const std::filesystem::path& file() const { return file_; }  // of this process

 private:
  // A file of another process.
  struct Other {
    std::uint64_t read = 0;  // bytes up to the last complete line
    bool lives = false;
    std::set<std::string> claims;
  };

  bool open_own(const std::filesystem::path& file);
  void read_own();
  void read_others();
  bool take_line(std::string_view text, std::set<std::string>* claims);
  void append(const nlohmann::json& line) const;

  std::filesystem::path file_;
  io::Descriptor out_;
  std::deque<Entry> all_;                        // a deque keeps the addresses of entries valid
  std::map<std::string, const Entry*> entries_;  // the last of each key
  std::set<std::string> own_;                    // keys of this process, which other files do not replace
  std::map<std::string, Other> others_;          // by name
  mutable std::mutex mutex_;
};

// The first journal file of this machine for this identity (models, data and options that change
// measurements): in `folder`, else in OUNCE_CACHE, else in the folder `ounce` of XDG_CACHE_HOME or ~/.cache,
// which must belong to this user. Throws Error{kIo} when the first or second cannot be created. Without a
// usable cache folder the path is empty and a note says why.
std::filesystem::path journal_file(const std::filesystem::path& folder, const std::string& identity,
                                   std::vector<std::string>& notes);

// The inputs of a measurement as text: runs with the same identity share their measurements.

// Digest of the content of all data files and of the options that map them to the model. Folders are read
// recursively, lists with the files that they name. Throws Error{kIo}.
std::string digest_of_data(const DataOptions& data);

// Covers the version of this program, the model with its external data, the data, the runtime with its
// options, and the arithmetic of this CPU; `more` adds a verb's own options. Runs nothing.
std::string identity_of(const std::filesystem::path& model, const DataOptions& data,
                        const RuntimeOptions& runtime, const std::string& more);

}  // namespace ounce::search
