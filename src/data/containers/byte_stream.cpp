#include "data/containers/byte_stream.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstring>

namespace ounce::data {
namespace {

constexpr std::uint64_t kFirstStep = std::uint64_t{1} << 20;

}  // namespace

std::string ByteStream::read(std::uint64_t count) {
  std::string bytes;
  while (bytes.size() < count) {
    const std::size_t start = bytes.size();
    const auto step = std::min<std::uint64_t>(count - start, std::max<std::uint64_t>(kFirstStep, start));
    bytes.resize(start + step);
    read(std::span(bytes).subspan(start));
  }
  return bytes;
}

void MemoryStream::seek(std::uint64_t position) {
  if (position > bytes_.size())
    throw Error(ErrorCode::kBadInput, fmt::format("ends before byte {}", position), where_);
  position_ = position;
}

void MemoryStream::read(std::span<char> to) {
  if (to.size() > bytes_.size() - position_) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("ends after {} bytes where {} more are needed", bytes_.size(),
                            to.size() - (bytes_.size() - position_)),
                where_);
  }
  if (to.empty()) return;
  std::memcpy(to.data(), bytes_.data() + position_, to.size());
  position_ += to.size();
}

}  // namespace ounce::data
