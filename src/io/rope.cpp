#include "io/rope.h"

#include <ounce/error.h>

#include <utility>

namespace ounce::io {
namespace {

constexpr std::size_t kCopyBelow = 4096;
constexpr std::uint64_t kCopyChunk = std::uint64_t{8} << 20;  // bytes copied per step
constexpr std::size_t kGatherBelow = std::size_t{64} << 10;   // smaller pieces are written together
constexpr std::size_t kGatherBuffer = std::size_t{1} << 20;

}  // namespace

void Rope::append(std::string_view bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  if (bytes.size() >= kCopyBelow) {
    pieces_.emplace_back(bytes);
  } else if (auto* text = pieces_.empty() ? nullptr : std::get_if<std::string>(&pieces_.back())) {
    text->append(bytes);
  } else {
    pieces_.emplace_back(std::string(bytes));
  }
}

void Rope::append(std::string&& bytes) {
  if (bytes.size() < kCopyBelow) return append(std::string_view(bytes));
  size_ += bytes.size();
  pieces_.emplace_back(std::move(bytes));
}

void Rope::append(Computed computed) {
  size_ += computed.size;
  pieces_.emplace_back(std::move(computed));
}

void Rope::append(Rope&& other) {
  for (Piece& piece : other.pieces_) {
    if (const auto* text = std::get_if<std::string>(&piece); text != nullptr && text->size() < kCopyBelow) {
      append(std::string_view(*text));
    } else {
      size_ += size_of(piece);
      pieces_.push_back(std::move(piece));
    }
  }
}

std::string_view Rope::bytes_of(const Piece& piece) {
  const auto* text = std::get_if<std::string>(&piece);
  return text != nullptr ? std::string_view(*text) : std::get<std::string_view>(piece);
}

std::uint64_t Rope::size_of(const Piece& piece) {
  const auto* computed = std::get_if<Computed>(&piece);
  return computed != nullptr ? computed->size : bytes_of(piece).size();
}

void RopeWriter::add(std::string_view bytes, const OutputFile& file, std::uint64_t offset) {
  for (std::uint64_t done = 0; done < bytes.size(); done += kCopyChunk)
    copies_.push_back({&file, offset + done, bytes.substr(done, kCopyChunk)});
}

void RopeWriter::add(const Rope& rope, const OutputFile& file) {
  std::string gathered;
  std::uint64_t offset = 0, gathered_at = 0;
  const auto flush = [&] {
    if (!gathered.empty()) file.write(gathered_at, gathered);
    gathered.clear();
  };
  for (const Rope::Piece& piece : rope.pieces()) {
    const std::uint64_t size = Rope::size_of(piece);
    const auto* computed = std::get_if<Computed>(&piece);
    if (computed == nullptr && size < kGatherBelow) {
      if (gathered.size() + size > kGatherBuffer) flush();
      if (gathered.empty()) gathered_at = offset;
      gathered.append(Rope::bytes_of(piece));
    } else {
      flush();
      if (computed != nullptr) {
        auto& parts = parts_[computed->by.get()];
        if (parts.empty()) order_.push_back(computed->by.get());
        if (parts.size() <= computed->part) parts.resize(computed->part + 1);
        parts[computed->part].write = [&file, offset, size](std::uint64_t at, std::string_view bytes) {
          if (at > size || bytes.size() > size - at)
            throw Error(ErrorCode::kInternal, "a tensor is larger than its reserved space");
          file.write(offset + at, bytes);
        };
      } else {
        add(Rope::bytes_of(piece), file, offset);
      }
    }
    offset += size;
  }
  flush();
}

void RopeWriter::run(ThreadPool& pool, const std::function<void(std::string_view)>& release,
                     std::atomic<std::uint64_t>* done) const {
  pool.for_each(copies_.size(), [&](std::size_t i) {
    const Copy& copy = copies_[i];
    copy.file->write(copy.offset, copy.bytes);
    release(copy.bytes);
  });
  run_jobs(
      pool, order_.size(), [&](std::size_t i) { return order_[i]->source_bytes(); },
      [&](std::size_t i, const ForEach& for_each) {
        order_[i]->run(parts_.at(order_[i]), for_each);
        if (done != nullptr) *done += order_[i]->source_bytes();
      });
}

}  // namespace ounce::io
