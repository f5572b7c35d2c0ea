// One run of tune(): searches, and keeps the best model so far at the output path.
#pragma once

#include <ounce/search.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "io/mapped_file.h"

namespace ounce::search {

// The file next to `output` for the best candidate that did not pass.
std::filesystem::path closest_name(std::filesystem::path output);

// `output` and closest_name(output) must be writable.
TuneResult find_best(const std::filesystem::path& model, const std::filesystem::path& output,
                     const TuneOptions& options);

// Writes the best candidate so far to the output path.
//
// A candidate that an earlier run has written is not written at once, because a better candidate may follow
// from the journal. It is written before the next measurement or at the end.

class BestOnDisk {
 public:
  // `write` writes the candidate with a number to the output path, over the previous one.
  explicit BestOnDisk(std::function<void(std::size_t)> write) : write_(std::move(write)) {}

  // Writes a new best candidate now.
  void write(std::size_t candidate) {
    write_(candidate);
    there_ = candidate;
    waiting_.reset();
  }
  // Writes a new best candidate with the next put_in_place(), unless it is the written one.
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

// Removes a candidate with its external data: the file, and all files in its folder whose names begin with
// its name.
inline void remove_model(const std::filesystem::path& file) {
  std::error_code ignored;
  for (const std::string& name : io::names_in(file.parent_path(), ignored)) {
    if (name.starts_with(file.filename().string()))
      std::filesystem::remove(file.parent_path() / name, ignored);
  }
}

}  // namespace ounce::search
