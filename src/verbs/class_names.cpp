#include "verbs/class_names.h"

#include <ounce/error.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/json_text.h"
#include "io/mapped_file.h"

namespace ounce::verbs {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostClasses = 100'000, kMostBytes = std::size_t{4} << 20;

// {"0": "cat", "1": "dog"}
std::vector<std::string> names_by_number(const Json& object, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& [key, name] : object.items()) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
    if (error != std::errc() || end != key.data() + key.size() || number >= kMostClasses || !name.is_string())
      throw Error(ErrorCode::kBadInput, "is not an object of class names by number", where);
    names.resize(std::max(names.size(), number + 1));
    names[number] = name.get<std::string>();
  }
  return names;
}

std::vector<std::string> names_of_json(const Json& all, const std::string& where) {
  if (all.is_object())
    return names_by_number(all.contains("id2label") && all["id2label"].is_object() ? all["id2label"] : all,
                           where);
  std::vector<std::string> names;
  for (const Json& name : all) {
    if (!name.is_string()) throw Error(ErrorCode::kBadInput, "is not a list of class names", where);
    names.push_back(name.get<std::string>());
  }
  return names;
}

std::vector<std::string> names_of_lines(std::string_view text) {
  std::vector<std::string> names;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    names.push_back(line);
  }
  return names;
}

}  // namespace

void add_class_names_option(Options& options, std::string& path) {
  options.add_option(
      "--class-names", path,
      "Show these class names in the HTML report: a file with one name per line, a JSON list, or "
      "a config.json with id2label");
}

std::vector<std::string> read_class_names(const std::filesystem::path& path) {
  if (path.empty()) return {};
  const io::MappedFile file = io::MappedFile::open(path);
  const std::string_view text = file.bytes();
  if (text.size() > kMostBytes)
    throw Error(ErrorCode::kBadInput, "is too large for a file of class names (limit: 4 MB)", path.string());
  const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const bool is_json = first < text.size() && (text[first] == '[' || text[first] == '{');
  const std::vector<std::string> names =
      is_json ? names_of_json(parse_json<Json>(text, {}, path.string()), path.string())
              : names_of_lines(text);
  if (names.empty()) throw Error(ErrorCode::kBadInput, "has no class names", path.string());
  if (names.size() > kMostClasses)
    throw Error(ErrorCode::kBadInput, "has more than 100,000 class names", path.string());
  return names;
}

}  // namespace ounce::verbs
