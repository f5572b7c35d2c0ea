// One run of tune(): searches, and keeps the best so far in its place.
#pragma once

#include <ounce/tune.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "io/mapped_file.h"

namespace ounce::search {

// Beside the output, for what nearly passed.
std::filesystem::path closest_name(std::filesystem::path output);

// The names of the output and of what comes closest are free to be written.
TuneResult find_best(const std::filesystem::path& model, const std::filesystem::path& output,
                     const TuneOptions& options);

// The best candidate so far, in its place on the disk.
//
// What could be written in an earlier run need not be written at once: a better one may follow that is known
// as well. It is written before something has to be measured, and in the end.

class BestOnDisk {
 public:
  // `write` puts a candidate, given by its number, into the place; the one before goes away.
  explicit BestOnDisk(std::function<void(std::size_t)> write) : write_(std::move(write)) {}

  // It is the best from now on: it gets written …
  void write(std::size_t candidate) {
    write_(candidate);
    there_ = candidate;
    waiting_.reset();
  }
  // … later, unless it is there already.
  void expect(std::size_t candidate) {
    waiting_.reset();
    if (there_ != candidate) waiting_ = candidate;
  }
  void put_in_place() {
    if (waiting_) write(*waiting_);
  }

  std::optional<std::size_t> there() const { return there_; }

 private:
  std::function<void(std::size_t)> write_;
  std::optional<std::size_t> waiting_, there_;
};

// Models that were made for measuring go away with their external data.

// The file, and all beside it whose names begin with its name.
inline void remove_model(const std::filesystem::path& file) {
  std::error_code ignored;
  for (const std::string& name : io::names_in(file.parent_path(), ignored)) {
    if (name.starts_with(file.filename().string()))
      std::filesystem::remove(file.parent_path() / name, ignored);
  }
}

}  // namespace ounce::search
