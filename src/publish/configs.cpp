#include "publish/configs.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/version.h>

#include <nlohmann/json.hpp>
#include <algorithm>

#include "base/json_text.h"
#include "recipe/format_info.h"

namespace ounce::publication {
namespace {

using Json = nlohmann::ordered_json;

constexpr JsonLimits kLimits{.depth = 32, .bytes = std::size_t{16} << 20};

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json parsed(const std::string& text, const std::string& where) {
  Json json = parse_json<Json>(text, kLimits, where);
  if (!json.is_object()) throw Error(ErrorCode::kBadInput, "is no JSON object", where);
  return json;
}

// The object at this key, made if it is not there. Throws Error{kBadInput} when it is something else.
Json& object_at(Json& json, const std::string& key, const std::string& where) {
  if (!json.contains(key)) json[key] = Json::object();
  if (!json[key].is_object())
    throw Error(ErrorCode::kBadInput, fmt::format("'{}' is no JSON object", key), where);
  return json[key];
}

}  // namespace

std::string transformers_config(const std::string& text, const std::vector<WrittenVariant>& written,
                                const std::string& where) {
  Json config = parsed(text, where);
  const Json before = config;
  constexpr const char* kKey = "transformers.js_config";
  constexpr const char* kFormats = "use_external_data_format";
  const bool has_data =
      std::any_of(written.begin(), written.end(), [](const auto& one) { return one.has_data; });
  // What it said of the files that were there is not true of these.
  if (config.contains(kKey)) object_at(config, kKey, where).erase(kFormats);
  for (const WrittenVariant& one : written) {
    if (!has_data) break;
    Json& formats = object_at(object_at(config, kKey, where), kFormats, where);
    if (one.has_data) formats[one.file.filename().string()] = true;
  }
  // By default FP32 is loaded (and q8 in a browser): what is not there cannot be.
  std::set<std::string> with_fp32, stems;
  for (const WrittenVariant& one : written) {
    stems.insert(one.stem);
    if (one.format == kUnchanged) with_fp32.insert(one.stem);
  }
  if (with_fp32 != stems && !written.empty()) {
    Json& ours = object_at(config, kKey, where);
    Json dtypes = Json::object();
    for (const WrittenVariant& one : written) {
      if (!dtypes.contains(one.stem)) dtypes[one.stem] = one.variant;
    }
    ours["dtype"] = stems.size() == 1 ? Json(dtypes.front()) : dtypes;
  }
  if (config.contains(kKey) && config[kKey].empty() && !before.contains(kKey)) config.erase(kKey);
  return config == before ? std::string() : dumped(config);
}

std::string quantize_config(const std::vector<WrittenVariant>& written) {
  Json config = {{"modes", Json::array()},
                 {"per_channel", true},
                 {"reduce_range", false},
                 {"per_model_config", Json::object()}};
  Json ours = {{"version", version()}, {"files", Json::object()}};
  for (const WrittenVariant& one : written) {
    if (one.format == kUnchanged) continue;
    Json& modes = config["modes"];
    if (std::find(modes.begin(), modes.end(), one.variant) == modes.end()) modes.push_back(one.variant);
    config["per_model_config"][one.stem] = {{"op_types", one.op_types}, {"weight_type", "QInt8"}};
    ours["files"][one.file.filename().string()] = name_of(one.format);
  }
  config["ounce"] = std::move(ours);
  return dumped(config);
}

std::string genai_config(const std::string& text, const std::vector<std::string>& files,
                         const std::string& where) {
  Json config = parsed(text, where);
  Json& model = object_at(config, "model", where);
  const auto is_known = [&](const Json& part) {
    return part.is_object() && part.contains("filename") && part["filename"].is_string() &&
           std::find(files.begin(), files.end(), part["filename"].get<std::string>()) != files.end();
  };
  bool is_changed = false;
  for (auto& [name, part] : model.items()) {
    if (!part.is_object() || !part.contains("filename") || is_known(part)) continue;
    // One model, whatever it was called: that is the one. Of several nobody knows.
    if (files.size() != 1)
      throw Error(ErrorCode::kBadInput,
                  fmt::format("'model.{}.filename' names {}, which is no model of the folder", name,
                              part["filename"].dump(-1, ' ', true, Json::error_handler_t::replace)),
                  where);
    part["filename"] = files.front();
    is_changed = true;
  }
  return is_changed ? dumped(config) : std::string();
}

}  // namespace ounce::publication
