// The parts of contract_file.h that the app library does not need: contracts in TOML and in model files.
#include <fmt/format.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>

#include "base/toml_text.h"
#include "data/contract/contract_file.h"
#include "formats/open.h"

namespace ounce::data {
namespace {

using TomlJson = nlohmann::ordered_json;

constexpr std::size_t kDeepestToml = 16;

// Converts TOML to JSON. Dates, which JSON does not have, are refused.
TomlJson to_json(const toml::node& node, const std::string& where, std::size_t depth = 0) {
  if (depth > kDeepestToml) throw Error(ErrorCode::kBadInput, "is nested too deep for a contract", where);
  if (const auto* table = node.as_table()) {
    TomlJson json = TomlJson::object();
    for (const auto& [key, value] : *table) json[std::string(key.str())] = to_json(value, where, depth + 1);
    return json;
  }
  if (const auto* array = node.as_array()) {
    TomlJson json = TomlJson::array();
    for (const auto& value : *array) json.push_back(to_json(value, where, depth + 1));
    return json;
  }
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_boolean()) return value->get();
  throw Error(ErrorCode::kBadInput, "has a date, which contracts do not allow", where);
}

}  // namespace

Contract parse_contract_toml(std::string_view text, const std::string& where) {
  try {
    return read_contract(to_json(parse_toml(text, {.depth = kDeepestToml}), where), where);
  } catch (const TomlError& error) {
    const std::string place = error.line == 0 ? "" : fmt::format("line {}: ", error.line);
    throw Error(ErrorCode::kBadInput, place + error.what(), where);
  }
}

std::optional<Contract> contract_in(const std::filesystem::path& path) {
  return contract_in(*formats::open_model(path));
}

std::optional<Contract> contract_in(const model::ModelFile& file) {
  const std::optional<std::string> text = model::metadata_of(file, Contract::kMetadataKey);
  if (!text) return std::nullopt;
  return parse_contract(*text,
                        fmt::format("{}: metadata '{}'", file.path().string(), Contract::kMetadataKey));
}

}  // namespace ounce::data
