#include "data/source/sources.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "data/containers/rows.h"

namespace ounce::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::array<std::string_view, 5> kFileColumns = {"file", "path", "image", "audio", "filename"};

bool is_blank(std::string_view text) { return text.find_first_not_of(kBlanks) == std::string_view::npos; }
std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_json_file(const std::filesystem::path& path, std::string_view text) {
  const std::string ending = in_lower_case(path.extension().string());
  if (ending == ".jsonl" || ending == ".ndjson" || ending == ".json") return true;
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first != std::string_view::npos && text[first] == '{';
}

std::optional<std::string> find_file_column(const std::vector<std::string>& columns) {
  for (const std::string_view wanted : kFileColumns) {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const std::string& name) { return in_lower_case(name) == wanted; });
    if (found != columns.end()) return *found;
  }
  return std::nullopt;
}

template <class T>
std::optional<T> number_in(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T>
Tensor scalar(ElementType type, T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return {type, {}, std::move(bytes), {}};
}

Tensor text_value(std::string text) { return {ElementType::kString, {}, {}, {std::move(text)}}; }

// Converts a cell to an integer or a decimal number if possible; other text and numbers out of range remain
// strings.
Tensor cell_value(std::string text) {
  std::string_view digits = text;
  digits.remove_prefix(std::min(digits.find_first_not_of(" \t"), digits.size()));
  digits = digits.substr(0, digits.find_last_not_of(" \t") + 1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.find_first_not_of("0123456789.-+eE") != std::string_view::npos)
    return text_value(std::move(text));
  if (digits.find_first_not_of("0123456789-") == std::string_view::npos) {
    const auto integer = number_in<std::int64_t>(digits);
    return integer ? scalar(ElementType::kInt64, *integer) : text_value(std::move(text));
  }
  const auto number = number_in<double>(digits);
  if (!number || std::abs(*number) > double{FLT_MAX}) return text_value(std::move(text));
  return scalar(ElementType::kFloat, static_cast<float>(*number));
}

// Names columns with an empty name, such as the index column of pandas.
void name_the_nameless(std::vector<std::string>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].empty()) columns[i] = fmt::format("column_{}", i + 1);
  }
}

void check_columns(std::vector<std::string> columns) {
  for (const std::string& name : columns) {
    if (has_control_characters(name)) {
      throw Error(ErrorCode::kBadInput,
                  "a column name has control characters; the first line must have the column names");
    }
  }
  std::sort(columns.begin(), columns.end());
  const auto twice = std::adjacent_find(columns.begin(), columns.end());
  if (twice != columns.end())
    throw Error(ErrorCode::kBadInput, fmt::format("two columns are named '{}'", *twice));
}

}  // namespace

Manifest::Manifest(const std::filesystem::path& path) : file_(io::MappedFile::open(path)) {
  const std::size_t start = file_.bytes().starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  is_json_ = is_json_file(path, file_.bytes().substr(start));
  index_rows(start);
  file_.release(file_.bytes());
  if (rows_.empty()) throw Error(ErrorCode::kBadInput, "the list is empty", path.string());
  if (is_json_) {
    take_json_columns();
  } else {
    take_csv_header();
  }
}

void Manifest::index_rows(std::size_t at) {
  const std::string_view bytes = file_.bytes();
  while (at < bytes.size()) {
    const std::size_t end = end_of_row(at);
    if (!is_blank(bytes.substr(at, end - at))) rows_.push_back(at);
    at = end + 1;
  }
}

void Manifest::take_csv_header() {
  try {
    columns_ = split_csv_row(row_text(0));
    name_the_nameless(columns_);
    check_columns(columns_);
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), place_of(0));
  }
  file_column_ = find_file_column(columns_);
  rows_.erase(rows_.begin());
}

void Manifest::take_json_columns() {
  std::vector<std::string> strings;
  for (const auto& [name, tensor] : read(0)) {
    columns_.push_back(name);
    if (tensor.type == ElementType::kString && tensor.dims.empty()) strings.push_back(name);
  }
  file_column_ = find_file_column(strings);
}

std::size_t Manifest::end_of_row(std::size_t begin) const {
  const std::string_view bytes = file_.bytes();
  if (is_json_) return std::min(bytes.find('\n', begin), bytes.size());
  const auto end = csv_row_end(bytes, begin);
  if (!end) throw Error(ErrorCode::kBadInput, "a quoted cell has no closing quote", place_at(begin));
  return *end;
}

std::string_view Manifest::row_text(std::uint64_t row) const {
  const std::size_t begin = rows_[row];
  return file_.bytes().substr(begin, end_of_row(begin) - begin);
}

std::vector<NamedTensor> Manifest::read(std::uint64_t row) const {
  if (row >= rows_.size()) {
    throw Error(ErrorCode::kInternal, fmt::format("row {} of {} was requested", row, rows_.size()),
                file_.path().string());
  }
  const std::string_view text = row_text(row);
  file_.release(text);
  try {
    return is_json_ ? read_json_row(text) : read_csv_row(text);
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), place_of(row));
  }
}

std::vector<NamedTensor> Manifest::read_csv_row(std::string_view text) const {
  std::vector<std::string> cells = split_csv_row(text);
  if (cells.size() != columns_.size()) {
    throw Error(ErrorCode::kBadInput, fmt::format("has {} cells, but the first line has {} column names",
                                                  cells.size(), columns_.size()));
  }
  std::vector<NamedTensor> values;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Tensor value =
        columns_[i] == file_column_ ? text_value(std::move(cells[i])) : cell_value(std::move(cells[i]));
    values.push_back({columns_[i], std::move(value)});
  }
  return values;
}

std::string Manifest::place_of(std::uint64_t row) const { return place_at(rows_[row]); }

std::string Manifest::place_at(std::size_t offset) const {
  const std::string_view before = file_.bytes().substr(0, offset);
  return fmt::format("{}, line {}", file_.path().string(),
                     std::count(before.begin(), before.end(), '\n') + 1);
}

ListSource::ListSource(const std::filesystem::path& path)
    : folder_(path.parent_path()), name_(path.filename().string()), list_(path) {
  for (const std::string& column : list_.columns()) fields_.push_back({column, ElementType::kUndefined, {}});
}

Sample ListSource::read(std::uint64_t index) {
  Sample sample;
  sample.fields = list_.read(index);
  sample.name = fmt::format("{}[{}]", name_, index);
  if (!list_.file_column()) return sample;
  for (NamedTensor& field : sample.fields) {
    if (field.name != *list_.file_column()) continue;
    if (field.tensor.strings.size() != 1)
      throw Error(ErrorCode::kBadInput, "does not name a file", list_.place_of(index));
    sample.name = field.tensor.strings[0];
    Media media = read_media(folder_ / sample.name, sample.name);
    field.tensor = std::move(media.tensor);
    sample.sampling_rate = media.rate;
  }
  return sample;
}

}  // namespace ounce::data
