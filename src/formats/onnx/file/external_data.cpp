#include "formats/onnx/file/external_data.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>

namespace ounce::onnx {
namespace {

std::uint64_t number(Bytes text, const char* what, const Tensor& tensor) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(tensor, fmt::format("its external data's {} is not a number", what));
  }
  return value;
}

// For messages only: a hostile location may hold anything.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 100)) {
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return result;
}

}  // namespace

ExternalReference read_external_reference(const std::vector<Bytes>& entries, const Origin& origin,
                                          const Tensor& tensor) {
  std::optional<Bytes> location, offset, length;
  const auto once = [&](std::optional<Bytes>& known, Bytes value, const char* what) {
    if (known) fail(tensor, fmt::format("names two {} for its external data", what));
    known = value;
  };
  for (const Bytes entry : entries) {
    Bytes key, value;
    Cursor cursor(entry, origin, "StringStringEntryProto");
    while (cursor.next()) {
      switch (cursor.field<EntryField>()) {
        case EntryField::kKey: cursor.once(key); break;
        case EntryField::kValue: cursor.once(value); break;
        default: cursor.skip();
      }
    }
    if (key == "location") once(location, value, "files");
    if (key == "offset") once(offset, value, "offsets");
    if (key == "length") once(length, value, "lengths");
  }
  if (!location) fail(tensor, "has external data but names no file");
  ExternalReference reference;
  reference.location = *location;
  if (offset) reference.offset = number(*offset, "offset", tensor);
  if (length) reference.length = number(*length, "length", tensor);
  return reference;
}

void check_external_location(const std::string& location, const Tensor& tensor) {
  const auto refuse = [&](const char* why) {
    fail(tensor, fmt::format("its external file '{}' {}; it must lie in the model's folder",
                             printable(location), why));
  };
  if (location.starts_with("*/_ORT_")) refuse("is a marker for memory addresses, not a file");
  if (location.empty()) refuse("has no name");
  if (std::any_of(location.begin(), location.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    refuse("contains control characters");
  }
  if (location.find('\\') != std::string::npos) refuse("contains a backslash");
  if (location.front() == '/') refuse("is an absolute path");
  if (location.size() >= 2 && location[1] == ':') refuse("names a drive");
  for (const auto& part : std::filesystem::path(location)) {
    if (part == "..") refuse("contains '..'");
  }
}

io::MappedFile open_external(const std::filesystem::path& folder, const std::string& location,
                             const Tensor& tensor) {
  try {
    return io::MappedFile::open_beneath(folder, location);
  } catch (const Error& error) {
    // A model without its data is not a whole model, whatever the reason; but data that is there and cannot
    // be opened (no memory, too many files) is the system's affair.
    std::error_code ignored;
    const bool is_there =
        error.code() == ErrorCode::kIo && std::filesystem::is_regular_file(folder / location, ignored);
    throw Error(is_there ? ErrorCode::kIo : ErrorCode::kBadInput, error.what(),
                fmt::format("tensor '{}'", tensor.name));
  }
}

}  // namespace ounce::onnx
