#include "data/source/sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "data/tensor.h"
#include "formats/onnx/file/tensor_reader.h"
#include "io/mapped_file.h"

namespace ounce::data {
namespace {

// The size limit of Protobuf messages.
constexpr std::uint64_t kLargestMessage = INT32_MAX;

void refuse_external_data(const onnx::Origin& origin) {
  onnx::Cursor cursor(origin.bytes, origin, "TensorProto");
  while (cursor.next()) {
    if (cursor.field<onnx::TensorField>() != onnx::TensorField::kDataLocation) {
      cursor.skip();
    } else if (cursor.integer() == 1) {
      throw Error(ErrorCode::kBadInput, "has its values in another file; save it with its values inside");
    }
  }
}

std::vector<std::string> strings_of(const onnx::Origin& origin) {
  std::vector<std::string> strings;
  onnx::Cursor cursor(origin.bytes, origin, "TensorProto");
  while (cursor.next()) {
    if (cursor.field<onnx::TensorField>() == onnx::TensorField::kStringData) {
      strings.emplace_back(cursor.bytes());
    } else {
      cursor.skip();
    }
  }
  return strings;
}

NamedTensor read_message(const onnx::Origin& origin) {
  refuse_external_data(origin);
  onnx::Model model;  // not used: the values are inside the message
  const auto read = onnx::TensorReader(model, origin, std::nullopt).read(origin.bytes);
  NamedTensor named{std::string(read->name), {read->type, read->dims, {}, {}}};
  if (read->type == ElementType::kString) {
    named.tensor.strings = strings_of(origin);
  } else {
    named.tensor.bytes = onnx::RawValues(*read).bytes();
  }
  if (read->type == ElementType::kBool) make_bools_valid(named.tensor.bytes);
  return named;
}

}  // namespace

NamedTensor read_pb_tensor(std::string_view bytes, const std::string& where) {
  if (bytes.empty()) throw Error(ErrorCode::kBadInput, "is empty", where);
  if (bytes.size() > kLargestMessage) throw Error(ErrorCode::kBadInput, "is larger than 2 GiB", where);
  try {
    return read_message({bytes, "tensor"});
  } catch (const Error& error) {
    throw Error(error.code(), error.what(), where);  // adds the file's name
  }
}

NamedTensor read_pb_tensor(const std::filesystem::path& path) {
  return read_pb_tensor(io::MappedFile::open(path).bytes(), path.string());
}

namespace {

namespace fs = std::filesystem;

struct Numbered {
  std::uint32_t number;
  fs::path path;
};

// The number in a name such as "input_12.pb".
std::optional<std::uint32_t> number_in(std::string_view name, std::string_view before,
                                       std::string_view after) {
  if (name.size() < before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after))
    return std::nullopt;
  const std::string_view digits = name.substr(before.size(), name.size() - before.size() - after.size());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

// Lists the entries of a folder with numbered names, by number.
std::vector<Numbered> numbered(const fs::path& folder, std::string_view before, std::string_view after) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) throw Error(ErrorCode::kIo, fmt::format("cannot open: {}", error.message()), folder.string());
  std::vector<Numbered> found;
  for (const auto end = fs::directory_iterator(); entries != end; entries.increment(error)) {
    if (const auto number = number_in(entries->path().filename().string(), before, after))
      found.push_back({*number, entries->path()});
  }
  if (error) throw Error(ErrorCode::kIo, fmt::format("cannot list: {}", error.message()), folder.string());
  std::sort(found.begin(), found.end(), [](const Numbered& a, const Numbered& b) {
    return a.number != b.number ? a.number < b.number : a.path < b.path;
  });
  return found;
}

std::vector<fs::path> find_sets(const fs::path& folder) {
  std::vector<fs::path> sets;
  for (const Numbered& set : numbered(folder, "test_data_set_", "")) sets.push_back(set.path);
  if (sets.empty() && !numbered(folder, "input_", ".pb").empty()) sets.push_back(folder);
  if (sets.empty()) {
    throw Error(ErrorCode::kBadInput, "has neither test_data_set_0 … nor input_0.pb …", folder.string());
  }
  return sets;
}

std::vector<NamedTensor> read_set(const fs::path& set) {
  std::vector<NamedTensor> tensors;
  for (const Numbered& input : numbered(set, "input_", ".pb")) {
    tensors.push_back(read_pb_tensor(input.path));
    if (tensors.back().name.empty()) tensors.back().name = fmt::format("input_{}", input.number);
  }
  if (tensors.empty()) throw Error(ErrorCode::kBadInput, "has no input_0.pb …", set.string());
  for (const Numbered& output : numbered(set, "output_", ".pb")) {
    tensors.push_back({fmt::format("output_{}", output.number), read_pb_tensor(output.path).tensor});
  }
  return tensors;
}

void check_names(const std::vector<NamedTensor>& tensors, const fs::path& set) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const NamedTensor& named : tensors) names.emplace_back(named.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    throw Error(ErrorCode::kBadInput, fmt::format("has two tensors named '{}'", *twice), set.string());
}

// The fields of the first set. Shapes may differ between sets.
std::vector<Field> fields_of(const std::vector<NamedTensor>& tensors, bool is_only_set) {
  std::vector<Field> fields;
  fields.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    fields.push_back({name, tensor.type, is_only_set ? std::optional(tensor.dims) : std::nullopt});
  }
  return fields;
}

}  // namespace

TestFolderSource::TestFolderSource(const fs::path& folder) : folder_(folder), sets_(find_sets(folder)) {
  const std::vector<NamedTensor> first = read_set(sets_.front());
  check_names(first, sets_.front());
  fields_ = fields_of(first, sets_.size() == 1);
}

Sample TestFolderSource::read(std::uint64_t index) {
  require_sample(index, folder_.string());
  const fs::path& set = sets_[index];
  Sample sample{set.filename().string(), read_set(set), 0};
  const bool are_the_same = std::equal(sample.fields.begin(), sample.fields.end(), fields_.begin(),
                                       fields_.end(), [](const NamedTensor& named, const Field& field) {
                                         return named.name == field.name && named.tensor.type == field.type;
                                       });
  if (!are_the_same) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("the tensors differ in number, name or type from those of {}",
                            sets_.front().filename().string()),
                set.string());
  }
  return sample;
}

}  // namespace ounce::data
