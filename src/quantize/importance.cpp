#include "quantize/nbits_search.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ounce/error.h>
#include <ounce/quantize.h>

#include <cmath>
#include <optional>

#include "base/cancel.h"
#include "base/json_text.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

namespace ounce::quantization {
namespace {

using ImportanceJson = nlohmann::ordered_json;
using SortedImportanceJson = nlohmann::json;  // sorted keys, because files may have very many layers

constexpr const char* kImportanceKey = "ounce.importance";

ImportanceJson to_importance_json(const Importance& importance) {
  ImportanceJson json;
  json[kImportanceKey] = 1;
  json["format"] = name_of(importance.format);
  json["samples"] = importance.samples;
  json["error"] = importance.error;
  json["layers"] = ImportanceJson::object();
  for (const auto& [name, layer] : importance.layers)
    json["layers"][name] = {{"weights", layer.weights}, {"gain", layer.gain}};
  return json;
}

bool have_same_layers(const Importance& a, const Importance& b) {
  if (a.layers.size() != b.layers.size()) return false;
  for (const auto& [name, layer] : a.layers) {
    const auto other = b.layers.find(name);
    if (other == b.layers.end() || other->second.weights != layer.weights) return false;
  }
  return true;
}

}  // namespace

bool is_importance_file(const std::filesystem::path& path) {
  const io::MappedFile file = io::MappedFile::open(path);
  return file.bytes().substr(0, 64).find(kImportanceKey) != std::string_view::npos;
}

Importance read_importance(const std::filesystem::path& path) {
  const io::MappedFile file = io::MappedFile::open(path);
  const auto json = parse_json<SortedImportanceJson>(file.bytes(), {}, path.string());
  const auto refuse = [&](const char* what) { throw Error(ErrorCode::kBadInput, what, path.string()); };
  if (!json.is_object() || !json.contains(kImportanceKey)) refuse("is not an importance file");
  if (json[kImportanceKey] != 1) refuse("was written by a newer version");
  const auto number = [&](const SortedImportanceJson& from, const char* key) {
    const auto found = from.find(key);
    if (found == from.end() || !found->is_number() || !std::isfinite(found->get<double>()))
      refuse("a number is missing");
    return found->get<double>();
  };
  const auto count = [&](const SortedImportanceJson& from, const char* key) {
    const auto found = from.find(key);
    if (found == from.end() || !found->is_number_unsigned()) refuse("a count is missing");
    return found->get<std::uint64_t>();
  };
  Importance importance;
  const auto format = json.find("format");
  const auto named = format != json.end() && format->is_string()
                         ? from_name<Format>(format->get<std::string>())
                         : std::optional<Format>();
  if (!named || !is_nbits(*named)) refuse("its format is not one of nbits2, nbits4, nbits8");
  importance.format = *named;
  importance.samples = count(json, "samples");
  importance.error = number(json, "error");
  const auto layers = json.find("layers");
  if (layers == json.end() || !layers->is_object()) refuse("layers are missing");
  for (const auto& [name, layer] : layers->items()) {
    if (!layer.is_object()) refuse("a layer is not an object");
    importance.layers[name] = {count(layer, "weights"), number(layer, "gain")};
  }
  return importance;
}

void write_importance(const Importance& importance, const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored) && !is_importance_file(path))
    throw Error(ErrorCode::kUsage, "exists and is not an importance file; choose another name",
                path.string());
  const std::string text = json_text(to_importance_json(importance), 1) + "\n";
  io::OutputFile file(path, text.size());
  file.write(0, text);
  file.commit();
}

Importance merged(std::span<const Importance> parts) {
  if (parts.empty()) throw Error(ErrorCode::kUsage, "no importance files to merge");
  Importance sum = parts.front();
  sum.samples = 0;
  sum.error = 0;
  for (auto& [name, layer] : sum.layers) layer.gain = 0;
  for (const Importance& part : parts) {
    if (part.format != sum.format || !have_same_layers(part, sum))
      throw Error(ErrorCode::kUsage, "the importance files belong to different models or formats");
    sum.samples += part.samples;
    sum.error += static_cast<double>(part.samples) * part.error;
    for (const auto& [name, layer] : part.layers)
      sum.layers[name].gain += static_cast<double>(part.samples) * layer.gain;
  }
  if (sum.samples == 0) throw Error(ErrorCode::kUsage, "the importance files have no samples");
  sum.error /= static_cast<double>(sum.samples);
  for (auto& [name, layer] : sum.layers) layer.gain /= static_cast<double>(sum.samples);
  return sum;
}

}  // namespace ounce::quantization

namespace ounce {

bool is_importance(const std::filesystem::path& file) {
  const CancellationScope scope(nullptr);
  return quantization::is_importance_file(file);
}

void merge_importance(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& output) {
  const CancellationScope scope(nullptr);
  for (const std::filesystem::path& part : parts) io::require_readable(part);
  io::require_place(output);
  std::vector<quantization::Importance> read;
  for (const std::filesystem::path& part : parts) read.push_back(quantization::read_importance(part));
  quantization::write_importance(quantization::merged(read), output);
}

}  // namespace ounce
