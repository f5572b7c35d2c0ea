#include "report/unpack_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/json.h"
#include "report/table.h"

namespace ounce::report {
namespace {

const char* state_of(const app::Unpacked& unpacked) {
  if (!unpacked.is_new) return "was there";
  return unpacked.was_damaged ? "made again: the file in the cache was damaged" : "made now";
}

}  // namespace

std::string unpack_text(const UnpackRow& row) {
  const app::Unpacked& unpacked = row.unpacked;
  if (unpacked.file.empty()) return plainly("{}: stays as it is: {}\n", row.model.string(), unpacked.why_not);
  return plainly("{}: {} → {}, for ONNX Runtime {} on {}, {}\n{}\n", row.model.string(),
                 bytes_text(unpacked.model_bytes), bytes_text(unpacked.bytes), unpacked.runtime_version,
                 unpacked.cpu, state_of(unpacked), unpacked.file.string());
}

std::string unpack_table(const std::vector<UnpackRow>& rows) {
  Table table({{"model"}, {"packed", Table::Align::kRight}, {"unpacked", Table::Align::kRight}, {"state"}});
  std::uint64_t packed = 0, unpacked = 0;
  for (const UnpackRow& row : rows) {
    const bool is_there = row.error.empty() && !row.unpacked.file.empty();
    const char* const state = !row.error.empty()    ? "error"
                              : !is_there           ? "as it is"
                              : row.unpacked.is_new ? "new"
                                                    : "was there";
    table.add({row.model.filename().string(), bytes_text(row.unpacked.model_bytes),
               is_there ? bytes_text(row.unpacked.bytes) : "", state});
    packed += row.unpacked.model_bytes;
    unpacked += is_there ? row.unpacked.bytes : 0;
  }
  table.add_rule();
  table.add({"total", bytes_text(packed), bytes_text(unpacked), ""});
  return table.text();
}

nlohmann::ordered_json unpack_json(const std::vector<UnpackRow>& rows) {
  nlohmann::ordered_json json;
  json["schema_version"] = kSchemaVersion;
  json["verb"] = "unpack";
  json["models"] = nlohmann::ordered_json::array();
  for (const UnpackRow& row : rows) {
    nlohmann::ordered_json entry;
    entry["model"] = row.model.string();
    entry["exit_code"] = row.exit_code;
    if (!row.error.empty()) {
      entry["error"] = row.error;
    } else {
      const app::Unpacked& unpacked = row.unpacked;
      entry["file"] = unpacked.file.empty() ? nlohmann::ordered_json(nullptr)
                                            : nlohmann::ordered_json(unpacked.file.string());
      entry["status"] = name_of(unpacked.status);
      entry["why_not"] = unpacked.why_not;
      entry["is_new"] = unpacked.is_new;
      entry["was_damaged"] = unpacked.was_damaged;
      entry["in_runner"] = unpacked.used_runner;
      entry["model_bytes"] = unpacked.model_bytes;
      entry["bytes"] = unpacked.bytes;
      entry["digest"] = unpacked.digest;
      entry["sha256"] = unpacked.sha256;
      entry["runtime_version"] = unpacked.runtime_version;
      entry["cpu"] = unpacked.cpu;
      entry["seconds"] = unpacked.seconds;
    }
    json["models"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace ounce::report
