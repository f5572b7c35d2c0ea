// Measurements as they stand in the journal.
#pragma once

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <ounce/bench.h>
#include <ounce/data.h>
#include <ounce/runtime.h>
#include <ounce/tune.h>
#include <ounce/verify.h>

#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "io/descriptor.h"

namespace ounce::search {

// JSON has neither infinity nor NaN: text stands for them.
nlohmann::json number(double value);
double number_or(const nlohmann::json& value, double otherwise);

// Without its name and what follows from others.
nlohmann::json trial_json(const TuneTrial& trial);
TuneTrial trial_of(const nlohmann::json& made);
nlohmann::json speed_json(const SpeedUp& speed);
SpeedUp speed_of(const nlohmann::json& made);

// Measurements that are kept: a second run finds them, and a run that was killed goes on where it was.
//
//   Journal journal(journal_file(options.cache, identity, result.notes));
//   if (const Journal::Entry* known = journal.find(key)) …
//   journal.add(key, value, seconds);
//
// A line of JSON for each, with a check, appended at once; several processes may do so. A line that was cut
// by a kill is left out when the file is read.

class Journal {
 public:
  struct Entry {
    nlohmann::json value;
    double seconds = 0;  // that it took to find out
  };

  // An empty name: nothing is kept. Throws Error{kIo} when the file cannot be written.
  explicit Journal(std::filesystem::path file);

  // Null when it is not known. Safe in several threads, as are entries: they never change.
  const Entry* find(const std::string& key) const;
  // The last value of a key counts, here as in the file: who could not read what was there adds it anew.
  const Entry& add(const std::string& key, nlohmann::json value, double seconds);

  const std::filesystem::path& file() const { return file_; }

 private:
  void read();
  void write(const std::string& key, const Entry& entry) const;

  std::filesystem::path file_;
  io::Descriptor out_;
  std::deque<Entry> all_;                        // which stay where they are
  std::map<std::string, const Entry*> entries_;  // the last of each key
  mutable std::mutex mutex_;
};

// Where measurements of this identity (models, data, options: whatever changes them) are kept: in `folder`,
// else in OUNCE_CACHE. Throws Error{kIo} when that folder cannot be made. If neither is named: in the folder
// ounce of XDG_CACHE_HOME or ~/.cache, which has to belong to this user. Where there is no such folder,
// nothing is kept: the path is empty, and a note says why.
std::filesystem::path journal_file(const std::filesystem::path& folder, const std::string& identity,
                                   std::vector<std::string>& notes);

// What a measurement depends on, as text: two runs with one identity measure the same, so that the second
// finds what the first has kept.

// Of the content of every file that is read, and of all that says how it meets the model. Folders are taken
// with everything below them, lists with the files that they name. Throws Error{kIo}.
std::string digest_of_data(const DataOptions& data);

// This program, the model with its external data, the data, the runtime and how it is used, and this CPU's
// arithmetic; `more` is what a verb's own options add. Nothing is run.
std::string identity_of(const std::filesystem::path& model, const DataOptions& data,
                        const RuntimeOptions& runtime, const std::string& more);

}  // namespace ounce::search
