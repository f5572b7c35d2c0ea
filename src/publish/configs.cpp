#include "publish/configs.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>

#include "base/json_text.h"
#include "recipe/format_info.h"

namespace ounce::publication {
namespace {

using Json = nlohmann::ordered_json;

constexpr JsonLimits kLimits{.depth = 32, .bytes = std::size_t{16} << 20};

std::string dumped(const Json& json) { return json_text(json, 2) + "\n"; }

Json parsed(const std::string& text, const std::string& where) {
  Json json = parse_json<Json>(text, kLimits, where);
  if (!json.is_object()) throw Error(ErrorCode::kBadInput, "not a JSON object", where);
  return json;
}

// Returns the object at this key; adds it if it is missing. Throws Error{kBadInput} if the value is not an
// object.
Json& object_at(Json& json, const std::string& key, const std::string& where) {
  if (!json.contains(key)) json[key] = Json::object();
  if (!json[key].is_object())
    throw Error(ErrorCode::kBadInput, fmt::format("'{}' is not a JSON object", key), where);
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
  // Remove the entries for the original files.
  if (config.contains(kKey)) object_at(config, kKey, where).erase(kFormats);
  for (const WrittenVariant& one : written) {
    if (!has_data) break;
    Json& formats = object_at(object_at(config, kKey, where), kFormats, where);
    if (one.has_data) formats[one.file.filename().string()] = true;
  }
  // transformers.js loads FP32 by default (q8 in a browser). Without an FP32 file another default is needed.
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
    // An unknown name can be replaced only if there is a single model.
    if (files.size() != 1)
      throw Error(ErrorCode::kBadInput,
                  fmt::format("'model.{}.filename' names {}, which is not a model in the folder", name,
                              part["filename"].dump(-1, ' ', true, Json::error_handler_t::replace)),
                  where);
    part["filename"] = files.front();
    is_changed = true;
  }
  return is_changed ? dumped(config) : std::string();
}

namespace {

std::string size_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= 1e9) return fmt::format("{:.2f} GB", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.1f} MB", value / 1e6);
  return fmt::format("{:.1f} kB", value / 1e3);
}

// Escapes text for a Markdown table.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|' || c == '`' || c == '<' || c == '\\') safe += '\\';
    safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return safe;
}

std::string quality_text(const VerifyResult& result) {
  std::string text = std::isinf(result.worst_sqnr_db)   ? "outputs identical"
                     : std::isnan(result.worst_sqnr_db) ? "nothing detected"
                                                        : fmt::format("{:.1f} dB", result.worst_sqnr_db);
  if (!result.metrics.empty() && !std::isnan(result.metrics.front().drop)) {
    const MetricResult& metric = result.metrics.front();
    text = metric.has_interval
               ? fmt::format("{} {:.4g} (original {:.4g}; drop {:.2g} to {:.2g}, 95 %), {}", metric.name,
                             metric.candidate, metric.reference, metric.drop_low, metric.drop_high, text)
               : fmt::format("{} {:.4g} (original {:.4g}), {}", metric.name, metric.candidate,
                             metric.reference, text);
  } else if (!result.outputs.empty() && result.outputs.front().top1_agreement) {
    text += fmt::format(", top-1 agreement {:.1f} %", 100 * *result.outputs.front().top1_agreement);
  }
  return text;
}

std::string speed_text(const BenchResult& bench) {
  if (bench.batches.empty()) return "–";
  const BatchResult& batch = bench.batches.front();
  const SpeedUp& speed = batch.speed_up;
  std::string text = fmt::format("{:.3g} ms", 1000 * batch.latency.p50);
  if (speed.is_measurable)
    text += fmt::format(" ({:.2f} ×, {:.2f} to {:.2f})", speed.ratio, speed.low, speed.high);
  return text;
}

std::string memory_text(const BenchResult& bench) {
  return bench.load_memory ? size_text(bench.load_memory->peak) : "–";
}

std::string releases_text(const std::map<std::string, std::string>& releases) {
  std::string text;
  for (const auto& [machine, version] : releases)
    text += fmt::format("{}{} ≥ {}", text.empty() ? "" : ", ", machine, version);
  return text.empty() ? "not measured" : text;
}

void add_rows(const PublishedModel& model, bool is_measured, std::string& text) {
  for (const PublishedVariant& variant : model.variants) {
    if (!variant.is_written) continue;
    text += fmt::format("| {} | {} | {} | {} ({:.0f} %) | {} |", cell(variant.variant),
                        cell(variant.file.string()), name_and_label(variant.format), size_text(variant.bytes),
                        100 * variant.ratio,
                        variant.verified ? cell(quality_text(*variant.verified)) : "the original");
    if (is_measured)
      text += variant.bench
                  ? fmt::format(" {} | {} |", speed_text(*variant.bench), memory_text(*variant.bench))
                  : " – | – |";
    text += fmt::format(" {} |\n", releases_text(variant.releases));
  }
}

}  // namespace

std::string card_section(const PublishResult& result) {
  bool is_measured = false;
  std::uint64_t samples = 0;
  bool is_generated = true;
  for (const PublishedModel& model : result.models) {
    for (const PublishedVariant& variant : model.variants) {
      is_measured |= variant.bench.has_value();
      if (!variant.verified) continue;
      samples = std::max(samples, variant.verified->samples);
      is_generated = variant.verified->is_generated;
    }
  }
  std::string text = fmt::format("{}\n## ONNX variants\n\n", kCardBegin);
  text +=
      fmt::format("| dtype | file | format | size | compared with the original |{} runs in ONNX Runtime |\n",
                  is_measured ? " latency | memory to load |" : "");
  text += fmt::format("|---|---|---|---|---|{}---|\n", is_measured ? "---|---|" : "");
  for (const PublishedModel& model : result.models) add_rows(model, is_measured, text);
  if (samples != 0)
    text += fmt::format("\nCompared on {} {}{}; figures of the worst output.", samples,
                        is_generated   ? "random inputs"
                        : samples == 1 ? "sample"
                                       : "samples",
                        result.runtime_version.empty() ? "" : " in ONNX Runtime " + result.runtime_version);
  if (is_measured) text += fmt::format(" Time and memory: batch 1, CPU kernels for {}.", result.cpu);
  text += fmt::format(
      "\nMade by Ounce {}. Every variant contains a provenance record: how it was made, and how it was "
      "verified. "
      "ounce prove shows and reproduces it.\n{}\n",
      version(), kCardEnd);
  return text;
}

std::string with_section(const std::string& readme, const std::string& section, const std::string& title,
                         const std::string& where) {
  const std::size_t begin = readme.find(kCardBegin), end = readme.find(kCardEnd);
  if (begin == std::string::npos && end == std::string::npos) {
    if (readme.empty()) return fmt::format("# {}\n\n{}", title, section);
    return readme + (readme.ends_with('\n') ? "\n" : "\n\n") + section;
  }
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    throw Error(ErrorCode::kBadInput,
                fmt::format("'{}' and '{}' must enclose one section of the file", kCardBegin, kCardEnd),
                where);
  std::size_t after = end + std::string_view(kCardEnd).size();
  if (after < readme.size() && readme[after] == '\n') ++after;
  return readme.substr(0, begin) + section + readme.substr(after);
}

}  // namespace ounce::publication
