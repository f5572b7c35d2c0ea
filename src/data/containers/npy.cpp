#include "data/containers/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/numbers.h"
#include "data/containers/byte_stream.h"
#include "data/tensor.h"

namespace ounce::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = std::size_t{64} << 10;
constexpr std::size_t kHighestRank = 64;
constexpr std::uint64_t kWidestString = std::uint64_t{1} << 20;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::kBadInput, what, where);
}

// The content of the header's dictionary.
struct Description {
  std::optional<std::string_view> type;
  std::optional<bool> is_fortran_order;
  std::optional<Dims> shape;
};

// Parses {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } and refuses everything else.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  Description read() {
    Description description;
    expect('{');
    while (!take('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !description.type) {
        description.type = type();
      } else if (key == "fortran_order" && !description.is_fortran_order) {
        description.is_fortran_order = boolean();
      } else if (key == "shape" && !description.shape) {
        description.shape = shape();
      } else {
        broken();
      }
      if (take(',')) continue;
      expect('}');
      break;
    }
    skip_spaces();
    const bool is_complete = description.type && description.is_fortran_order && description.shape;
    if (!rest_.empty() || !is_complete) broken();
    return description;
  }

 private:
  [[noreturn]] void broken() const {
    fail(where_, "is not a .npy file, or it is damaged: its header is broken");
  }

  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool take(char c) {
    skip_spaces();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) broken();
  }
  bool take_word(std::string_view word) {
    skip_spaces();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string_view string() {
    const char quote = take('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) broken();
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::string_view type() {
    if (take('[') || take('('))
      fail(where_, "has columns with names (a structured array); save each column as an array of its own");
    return string();
  }

  bool boolean() {
    if (take_word("True")) return true;
    if (!take_word("False")) broken();
    return false;
  }

  std::int64_t integer() {
    skip_spaces();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) broken();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // suffix of Python 2's long integers
    return value;
  }

  Dims shape() {
    Dims dims;
    expect('(');
    while (!take(')')) {
      if (dims.size() == kHighestRank) fail(where_, fmt::format("has more than {} axes", kHighestRank));
      dims.push_back(integer());
      if (take(',')) continue;
      expect(')');
      break;
    }
    return dims;
  }

  std::string_view rest_;
  const std::string& where_;
};

struct NumberType {
  char kind;
  std::uint64_t bytes;
  ElementType type;
};

constexpr std::array<NumberType, 12> kNumberTypes = {{
    {'b', 1, ElementType::kBool},
    {'i', 1, ElementType::kInt8},
    {'i', 2, ElementType::kInt16},
    {'i', 4, ElementType::kInt32},
    {'i', 8, ElementType::kInt64},
    {'u', 1, ElementType::kUint8},
    {'u', 2, ElementType::kUint16},
    {'u', 4, ElementType::kUint32},
    {'u', 8, ElementType::kUint64},
    {'f', 2, ElementType::kFloat16},
    {'f', 4, ElementType::kFloat},
    {'f', 8, ElementType::kDouble},
}};

[[noreturn]] void refuse_type(std::string_view text, const std::string& where) {
  const bool is_printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }) && text.size() <= 32;
  fail(where, fmt::format("has elements of the type '{}', which is not supported; convert them with astype",
                          is_printable ? text : "?"));
}

void set_string_type(NpyHeader& header, char kind, std::uint64_t width, const std::string& where) {
  if (width == 0 || width > kWidestString) {
    fail(where,
         fmt::format("has strings of {} characters each; the width must be 1 to {}", width, kWidestString));
  }
  header.type = ElementType::kString;
  header.text = kind == 'U' ? NpyHeader::Text::kUtf32 : NpyHeader::Text::kBytes;
  header.element_bytes = kind == 'U' ? width * 4 : width;
}

void set_number_type(NpyHeader& header, char kind, std::uint64_t width, std::string_view text,
                     const std::string& where) {
  const auto* found = std::find_if(
      kNumberTypes.begin(), kNumberTypes.end(),
      [&](const NumberType& candidate) { return candidate.kind == kind && candidate.bytes == width; });
  if (found == kNumberTypes.end()) refuse_type(text, where);
  header.type = found->type;
  header.element_bytes = width;
}

// A byte order, a kind and a width: "<f4", "|b1", ">i8", "<U12".
void set_type(NpyHeader& header, std::string_view text, const std::string& where) {
  if (text.find('O') != std::string_view::npos && text.size() <= 3)
    fail(where, "contains Python objects, which only Python can read; save plain arrays");
  if (text.size() < 3 || std::string_view("<>|=").find(text[0]) == std::string_view::npos)
    refuse_type(text, where);
  header.is_big_endian = text[0] == '>';
  const char kind = text[1];
  if (kind == 'c') fail(where, "has complex numbers; save their real and imaginary parts as numbers");
  std::uint64_t width = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), width);
  if (error != std::errc() || end != text.data() + text.size()) refuse_type(text, where);
  if (kind == 'U' || kind == 'S') {
    set_string_type(header, kind, width, where);
  } else {
    set_number_type(header, kind, width, text, where);
  }
}

// Reads the text between the first bytes and the values.
std::string read_dictionary(ByteStream& stream, const std::string& where) {
  std::array<char, 8> first{};
  if (stream.size() < first.size() + 2) fail(where, "is not a .npy file: it is too short");
  stream.seek(0);
  stream.read(first);
  const std::string_view start(first.data(), first.size());
  if (!start.starts_with(kMagic)) fail(where, "is not a .npy file: its first bytes are wrong");
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3)
    fail(where, fmt::format("is a .npy file of version {}; only versions 1 to 3 are supported", version));
  const std::string length = stream.read(version == 1 ? 2U : 4U);
  const std::uint64_t size = version == 1 ? std::uint64_t{load_little_endian<std::uint16_t>(length, 0)}
                                          : std::uint64_t{load_little_endian<std::uint32_t>(length, 0)};
  if (size > kLongestHeader)
    fail(where, fmt::format("has a header of {} bytes; at most {} are allowed", size, kLongestHeader));
  return stream.read(size);
}

std::uint64_t data_bytes(const NpyHeader& header, const std::string& where) {
  const auto bytes = checked_multiply(element_count(header.dims, where), header.element_bytes);
  if (!bytes) fail(where, fmt::format("is too large for memory: {}", describe(header.type, header.dims)));
  return *bytes;
}

void swap_bytes(std::string& bytes, std::size_t width) {
  if (width < 2) return;
  for (std::size_t i = 0; i + width <= bytes.size(); i += width) {
    const auto element = bytes.begin() + static_cast<std::ptrdiff_t>(i);
    std::reverse(element, element + static_cast<std::ptrdiff_t>(width));
  }
}

bool append_utf8(std::string& text, std::uint32_t c) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto add_rest = [&](std::uint32_t shift) { add(0x80U | ((c >> shift) & 0x3fU)); };
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return false;
  if (c < 0x80) return add(c), true;
  if (c < 0x800) return add(0xc0U | (c >> 6U)), add_rest(0), true;
  if (c < 0x10000) return add(0xe0U | (c >> 12U)), add_rest(6), add_rest(0), true;
  return add(0xf0U | (c >> 18U)), add_rest(12), add_rest(6), add_rest(0), true;
}

std::string utf8_of(std::string_view utf32, const std::string& where) {
  std::string text;
  for (std::size_t i = 0; i < utf32.size(); i += 4) {
    if (!append_utf8(text, load_little_endian<std::uint32_t>(utf32, i)))
      fail(where, "has a string that is not Unicode");
  }
  return text;
}

// Removes the zeros that NumPy pads strings with.
void drop_filling(std::string& text) { text.resize(text.find_last_not_of('\0') + 1); }

std::vector<std::string> decode_strings(const NpyHeader& header, std::string_view bytes,
                                        const std::string& where) {
  std::vector<std::string> strings;
  for (std::size_t i = 0; i < bytes.size(); i += header.element_bytes) {
    const std::string_view element = bytes.substr(i, header.element_bytes);
    strings.push_back(header.text == NpyHeader::Text::kUtf32 ? utf8_of(element, where)
                                                             : std::string(element));
    drop_filling(strings.back());
  }
  return strings;
}

}  // namespace

NpyHeader read_npy_header(ByteStream& stream, const std::string& where) {
  const std::string dictionary = read_dictionary(stream, where);
  Description description = DictionaryReader(dictionary, where).read();
  NpyHeader header;
  set_type(header, *description.type, where);
  header.dims = std::move(*description.shape);
  if (*description.is_fortran_order && header.dims.size() > 1)
    fail(where, "is in Fortran order; save it again after numpy.ascontiguousarray");
  header.data_offset = stream.position();
  header.data_bytes = data_bytes(header, where);
  if (stream.size() - header.data_offset != header.data_bytes) {
    fail(where, fmt::format("has {} bytes of values, but {} needs {}", stream.size() - header.data_offset,
                            describe(header.type, header.dims), header.data_bytes));
  }
  return header;
}

Tensor decode_npy_values(const NpyHeader& header, Dims dims, std::string bytes, const std::string& where) {
  Tensor tensor{header.type, std::move(dims), {}, {}};
  const bool is_utf32 = header.text == NpyHeader::Text::kUtf32;
  if (header.is_big_endian && header.text != NpyHeader::Text::kBytes)
    swap_bytes(bytes, is_utf32 ? 4 : header.element_bytes);
  if (header.type == ElementType::kString) {
    tensor.strings = decode_strings(header, bytes, where);
    return tensor;
  }
  if (header.type == ElementType::kBool) make_bools_valid(bytes);
  tensor.bytes = std::move(bytes);
  return tensor;
}

Tensor read_npy(std::string_view bytes, const std::string& where) {
  MemoryStream stream(bytes, where);
  const NpyHeader header = read_npy_header(stream, where);
  stream.seek(header.data_offset);
  return decode_npy_values(header, header.dims, stream.read(header.data_bytes), where);
}

namespace {

constexpr std::uint64_t kMostArchive = 0xffff0000;  // offsets have 32 bits
constexpr std::size_t kNpyAlignment = 64;

// The NumPy name, such as "<f4"; empty for types that NumPy does not have.
std::string numpy_name(ElementType type) {
  const auto* found = std::find_if(kNumberTypes.begin(), kNumberTypes.end(),
                                   [&](const NumberType& candidate) { return candidate.type == type; });
  if (found == kNumberTypes.end()) return {};
  return fmt::format("{}{}{}", found->bytes == 1 ? '|' : '<', found->kind, found->bytes);
}

std::string little(std::uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

std::string npy_header(ElementType type, const Dims& dims) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 numpy_name(type), fmt::join(dims, ", "), dims.size() == 1 ? "," : "");
  constexpr std::size_t kBefore = 10;  // bytes of the magic string, the version and the length
  text.append(kNpyAlignment - 1 - (kBefore + text.size()) % kNpyAlignment, ' ');
  text += '\n';
  return std::string("\x93NUMPY\x01\0", 8) + little(text.size(), 2) + text;
}

}  // namespace

bool is_numpy_type(ElementType type) { return !numpy_name(type).empty(); }

NpzWriter::NpzWriter(const std::filesystem::path& path)
    : path_(path), file_(path, std::ios::in | std::ios::out | std::ios::binary | std::ios::trunc) {
  if (!file_) throw Error(ErrorCode::kIo, "cannot write", path_.string());
}

void NpzWriter::put(std::string_view bytes) {
  if (at_ + bytes.size() > kMostArchive)
    throw Error(ErrorCode::kUnsupported, "more than 4 GB of values: give fewer `samples`", path_.string());
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file_) throw Error(ErrorCode::kIo, "cannot write: is the disk full?", path_.string());
  at_ += bytes.size();
}

// The header before an entry, most of which is repeated in the directory.
std::string NpzWriter::header_of(const Entry& entry) const {
  return little(20, 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(0x21, 2) +  // stored, 1980
         little(entry.checksum, 4) + little(entry.size, 4) + little(entry.size, 4) +
         little(entry.name.size(), 2) + little(0, 2);
}

void NpzWriter::begin(const std::string& name, ElementType type, const Dims& dims) {
  end();
  entries_.push_back({name + ".npy", at_, 0, 0});
  put("PK\x03\x04" + header_of(entries_.back()) + entries_.back().name);
  is_open_ = true;
  write(npy_header(type, dims));
}

void NpzWriter::write(std::string_view bytes) {
  put(bytes);
  Entry& entry = entries_.back();
  entry.size += bytes.size();
  entry.checksum = static_cast<std::uint32_t>(
      crc32_z(entry.checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void NpzWriter::end() {
  if (!is_open_) return;
  is_open_ = false;
  const std::uint64_t here = at_;
  file_.seekp(static_cast<std::streamoff>(entries_.back().offset));
  put("PK\x03\x04" + header_of(entries_.back()));
  at_ = here;
  file_.seekp(static_cast<std::streamoff>(here));
}

void NpzWriter::finish() {
  end();
  const std::uint64_t begin = at_;
  for (const Entry& entry : entries_)
    put("PK\x01\x02" + little(20, 2) + header_of(entry) + little(0, 2) + little(0, 2) + little(0, 2) +
        little(0, 4) + little(entry.offset, 4) + entry.name);
  const std::uint64_t size = at_ - begin;
  put("PK\x05\x06" + little(0, 4) + little(entries_.size(), 2) + little(entries_.size(), 2) +
      little(size, 4) + little(begin, 4) + little(0, 2));
  file_.close();
  if (!file_) throw Error(ErrorCode::kIo, "cannot write: is the disk full?", path_.string());
}

}  // namespace ounce::data
