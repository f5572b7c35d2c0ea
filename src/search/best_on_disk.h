// The best candidate so far, in its place on the disk.
//
// What could be written in an earlier run need not be written at once: a better one may follow that is known
// as well. It is written before something has to be measured, and in the end.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

namespace ounce::search {

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

}  // namespace ounce::search
