// The content of an output file: a sequence of pieces whose sizes are known before any weight is read.
// Structure is copied into small strings; weights are views, or are computed during the writing.
//
//   Rope rope;                             // append() the pieces
//   OutputFile file(path, rope.size());
//   RopeWriter writer;
//   writer.add(rope, file);
//   writer.run(pool, release, nullptr);    // uses all threads
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/thread_pool.h"
#include "io/output_file.h"

namespace ounce::io {

// Tensor bytes that are computed while the output file is written.
//
// A Production reads its source once and produces several tensors (such as quantized values and scales).
// Their sizes are known in advance, so the writer lays out the file first, and productions fill their places
// in any order and on any thread.

// The destination of one tensor of a production.
struct Place {
  std::function<void(std::uint64_t offset, std::string_view bytes)> write;
};

class Production {
 public:
  Production() = default;
  Production(const Production&) = delete;
  Production& operator=(const Production&) = delete;
  virtual ~Production() = default;

  virtual std::uint64_t source_bytes() const = 0;  // input size: large productions get all threads
  // Writes every byte of every part exactly once.
  virtual void run(std::span<const Place> parts, const ForEach& for_each) const = 0;
};

struct Computed {
  std::shared_ptr<const Production> by;
  std::size_t part = 0;
  std::uint64_t size = 0;
};

class Rope {
 public:
  using Piece = std::variant<std::string, std::string_view, Computed>;

  std::uint64_t size() const { return size_; }
  const std::vector<Piece>& pieces() const { return pieces_; }

  void append(std::string_view bytes);  // copies small pieces, references large ones
  void append(std::string&& bytes);
  void append(Computed computed);
  void append(Rope&& other);

  static std::uint64_t size_of(const Piece& piece);
  static std::string_view bytes_of(const Piece& piece);  // not for computed pieces

 private:
  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
};

class RopeWriter {
 public:
  // Writes the structure immediately and records the rest as work. The rope and the file must outlive run().
  void add(const Rope& rope, const OutputFile& file);
  void add(std::string_view bytes, const OutputFile& file, std::uint64_t offset = 0);

  // Fills the files. Calls `release` for bytes that have been copied. Advances `done`, if given, by the
  // source bytes that productions have processed.
  void run(ThreadPool& pool, const std::function<void(std::string_view)>& release,
           std::atomic<std::uint64_t>* done) const;

 private:
  struct Copy {
    const OutputFile* file;
    std::uint64_t offset;
    std::string_view bytes;
  };

  std::vector<Copy> copies_;
  std::unordered_map<const Production*, std::vector<Place>> parts_;
  std::vector<const Production*> order_;  // in file order
};

}  // namespace ounce::io
