#include "data/source/npz_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>

#include "data/containers/zip.h"

namespace ounce::data {
namespace {

constexpr std::string_view kEnding = ".npy";
constexpr std::size_t kMostListed = 12;
// Each open array inflates with a window of its own.
constexpr std::size_t kMostFields = 1024;

std::string name_of(const ZipEntry& entry) {
  return entry.name.substr(0, entry.name.size() - kEnding.size());
}

std::string where_of(const io::MappedFile& file, const ZipEntry& entry) {
  return fmt::format("{}, array '{}'", file.path().string(), name_of(entry));
}

std::vector<ZipEntry> array_entries(const io::MappedFile& file) {
  std::vector<ZipEntry> entries = read_zip_directory(file.bytes(), file.path().string());
  std::erase_if(entries, [](const ZipEntry& entry) { return !entry.name.ends_with(kEnding); });
  if (entries.empty()) throw Error(ErrorCode::kBadInput, "holds no arrays", file.path().string());
  return entries;
}

ArrayDescription describe_entry(const io::MappedFile& file, const ZipEntry& entry) {
  ArrayDescription description{name_of(entry), ElementType::kUndefined, {}, {}};
  try {
    ZipEntryStream stream(entry, where_of(file, entry));
    NpyHeader header = read_npy_header(stream, where_of(file, entry));
    description.type = header.type;
    description.dims = std::move(header.dims);
  } catch (const Error& error) {
    description.problem = error.what();
  }
  return description;
}

std::vector<ArrayDescription> describe_entries(const io::MappedFile& file,
                                               const std::vector<ZipEntry>& entries) {
  std::vector<ArrayDescription> descriptions;
  descriptions.reserve(entries.size());
  for (const ZipEntry& entry : entries) descriptions.push_back(describe_entry(file, entry));
  return descriptions;
}

// "x uint8[2000,32,32,3], y int64[2000]"
std::string listing(const std::vector<ArrayDescription>& arrays) {
  std::vector<std::string> words;
  for (const ArrayDescription& array : arrays) {
    if (words.size() == kMostListed) {
      words.emplace_back("…");
      break;
    }
    words.push_back(array.problem.empty() ? array.name + " " + describe(array.type, array.dims) : array.name);
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

const ZipEntry& entry_named(const io::MappedFile& file, const std::vector<ZipEntry>& entries,
                            const std::string& key) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const ZipEntry& entry) { return name_of(entry) == key; });
  if (found != entries.end()) return *found;
  throw Error(ErrorCode::kUsage,
              fmt::format("has no array '{}'; it has {}", key, listing(describe_entries(file, entries))),
              file.path().string());
}

std::vector<ZipEntry> chosen_entries(const io::MappedFile& file, const std::vector<std::string>& keys) {
  std::vector<ZipEntry> entries = array_entries(file);
  if (keys.empty()) return entries;
  std::vector<ZipEntry> chosen;
  for (const std::string& key : keys) {
    const ZipEntry& entry = entry_named(file, entries, key);
    const bool is_new = std::none_of(chosen.begin(), chosen.end(),
                                     [&](const ZipEntry& other) { return other.name == entry.name; });
    if (is_new) chosen.push_back(entry);
  }
  return chosen;
}

void check_that_all_agree(const io::MappedFile& file, const std::vector<SampledArray>& arrays) {
  std::vector<ArrayDescription> descriptions;
  bool agree = true;
  const SampledArray* first = nullptr;
  for (const SampledArray& array : arrays) {
    descriptions.push_back({array.name(), array.header().type, array.header().dims, {}});
    if (array.is_constant()) continue;
    if (first == nullptr) first = &array;
    agree &= array.length() == first->length();
  }
  if (agree) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("its arrays differ in length: {}; name the ones to use", listing(descriptions)),
              file.path().string());
}

OpenArrays open_arrays(const std::filesystem::path& path, const std::vector<std::string>& keys) {
  OpenArrays open{io::MappedFile::open(path), {}};
  const std::vector<ZipEntry> entries = chosen_entries(open.file, keys);
  if (entries.size() > kMostFields) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("has {} arrays, more than {}; name the ones to use", entries.size(), kMostFields),
                path.string());
  }
  for (const ZipEntry& entry : entries) {
    auto stream = std::make_unique<ZipEntryStream>(entry, where_of(open.file, entry));
    open.arrays.emplace_back(name_of(entry), std::move(stream), where_of(open.file, entry));
  }
  if (keys.empty()) check_that_all_agree(open.file, open.arrays);
  return open;
}

}  // namespace

NpzSource::NpzSource(const std::filesystem::path& path, const std::vector<std::string>& keys)
    : ArraySource(open_arrays(path, keys)) {
  for (const ZipEntry& entry : array_entries(io::MappedFile::open(path))) names_.push_back(name_of(entry));
}

std::vector<ArrayDescription> NpzSource::list(const std::filesystem::path& path) {
  const io::MappedFile file = io::MappedFile::open(path);
  return describe_entries(file, array_entries(file));
}

}  // namespace ounce::data
