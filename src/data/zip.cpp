#include "data/zip.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace ounce::data {
namespace {

// zlib counts in 32 bits.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
constexpr std::size_t kSkipStep = std::size_t{16} << 10;
// Zip keeps deflate data without zlib's header.
constexpr int kRawDeflate = -MAX_WBITS;

}  // namespace

void ZipEntryStream::EndInflate::operator()(z_stream_s* inflater) const {
  inflateEnd(inflater);
  delete inflater;
}

ZipEntryStream::ZipEntryStream(const ZipEntry& entry, std::string where)
    : entry_(entry), where_(std::move(where)) {
  if (!entry.is_deflated) return;
  auto inflater = std::make_unique<z_stream>();
  if (inflateInit2(inflater.get(), kRawDeflate) != Z_OK) throw std::bad_alloc();
  inflater_.reset(inflater.release());
}

void ZipEntryStream::fail(const std::string& what) {
  damage_ = what;
  throw Error(ErrorCode::kBadInput, what, where_);
}

void ZipEntryStream::seek(std::uint64_t position) {
  if (position > entry_.size) fail(fmt::format("ends before byte {}", position));
  if (inflater_ == nullptr) {
    position_ = position;
    return;
  }
  if (position < position_) restart();
  skip(position - position_);
}

void ZipEntryStream::restart() {
  inflateReset(inflater_.get());
  consumed_ = 0;
  position_ = 0;
}

void ZipEntryStream::skip(std::uint64_t count) {
  std::array<char, kSkipStep> buffer;
  while (count > 0) {
    const std::size_t step = std::min<std::uint64_t>(count, buffer.size());
    read(std::span(buffer).first(step));
    count -= step;
  }
}

void ZipEntryStream::read(std::span<char> to) {
  if (!damage_.empty()) fail(damage_);
  if (to.size() > entry_.size - position_) {
    fail(fmt::format("ends after {} bytes where {} more are needed", entry_.size,
                     to.size() - (entry_.size - position_)));
  }
  if (to.empty()) return;
  if (inflater_ != nullptr) {
    inflate_into(to);
  } else {
    std::memcpy(to.data(), entry_.data.data() + position_, to.size());
  }
  add_to_checksum(to);
  position_ += to.size();
}

void ZipEntryStream::inflate_into(std::span<char> to) {
  const bool is_last = to.size() == entry_.size - position_;
  while (!to.empty()) {
    std::size_t written = 0;
    const int status = inflate_some(to, written);
    to = to.subspan(written);
    if (status == Z_STREAM_END) {
      if (!to.empty()) fail(fmt::format("is damaged: it inflates to less than its {} bytes", entry_.size));
      return;
    }
    if (status == Z_BUF_ERROR) fail("is damaged: its compressed data is cut off");
  }
  if (is_last) check_nothing_follows();
}

// One step of zlib's; gives Z_OK when it went on, Z_STREAM_END, or Z_BUF_ERROR when it could not go on.
int ZipEntryStream::inflate_some(std::span<char> to, std::size_t& written) {
  const std::string_view input = entry_.data.substr(consumed_, kMostAtOnce);
  const std::size_t room = std::min(to.size(), kMostAtOnce);
  // zlib reads through a pointer that it does not call const.
  inflater_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  inflater_->avail_in = static_cast<uInt>(input.size());
  inflater_->next_out = reinterpret_cast<Bytef*>(to.data());
  inflater_->avail_out = static_cast<uInt>(room);
  const int status = inflate(inflater_.get(), Z_NO_FLUSH);
  consumed_ += input.size() - inflater_->avail_in;
  written = room - inflater_->avail_out;
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
    fail(fmt::format("is damaged: {}",
                     inflater_->msg != nullptr ? inflater_->msg : "its compressed data is broken"));
  }
  return status;
}

// All bytes are there, but perhaps not yet the mark of the end behind them.
void ZipEntryStream::check_nothing_follows() {
  char more = 0;
  std::size_t written = 0;
  int status = Z_OK;
  while (status == Z_OK && written == 0) status = inflate_some({&more, 1}, written);
  if (written != 0) fail(fmt::format("is damaged: it inflates to more than its {} bytes", entry_.size));
  if (status != Z_STREAM_END) fail("is damaged: its compressed data is cut off");
}

// Bytes that are read again, or that leave a gap, add nothing.
void ZipEntryStream::add_to_checksum(std::span<const char> bytes) {
  if (position_ > summed_ || position_ + bytes.size() <= summed_) return;
  bytes = bytes.subspan(summed_ - position_);
  checksum_ = static_cast<std::uint32_t>(
      crc32_z(checksum_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  summed_ += bytes.size();
  if (summed_ == entry_.size && checksum_ != entry_.checksum)
    fail("is damaged: its checksum is wrong; copy or make the file again");
}

}  // namespace ounce::data
