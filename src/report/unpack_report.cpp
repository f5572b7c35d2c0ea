#include "report/unpack_report.h"

#include <fmt/format.h>

#include "report/table.h"

namespace ounce::report {
namespace {

const char* state_of(const app::Unpacked& unpacked) {
  if (!unpacked.is_new) return "was there";
  return unpacked.was_damaged ? "made again: the file in the cache was damaged" : "made now";
}

}  // namespace

std::string unpack_text(const UnpackRow& row) {
  const app::Unpacked& unpacked = row.result;
  if (unpacked.file.empty()) return plainly("{}: stays as it is: {}\n", row.model.string(), unpacked.why_not);
  return plainly("{}: {} → {}, for ONNX Runtime {} on {}, {}\n{}\n", row.model.string(),
                 bytes_text(unpacked.model_bytes), bytes_text(unpacked.bytes), unpacked.runtime_version,
                 unpacked.cpu, state_of(unpacked), unpacked.file.string());
}

std::string unpack_table(const std::vector<UnpackRow>& rows) {
  Table table({{"model"}, {"packed", Table::Align::kRight}, {"unpacked", Table::Align::kRight}, {"state"}});
  std::uint64_t packed = 0, unpacked = 0;
  for (const UnpackRow& row : rows) {
    const bool is_there = row.error.empty() && !row.result.file.empty();
    const char* const state = !row.error.empty()  ? "error"
                              : !is_there         ? "as it is"
                              : row.result.is_new ? "new"
                                                  : "was there";
    table.add({row.model.filename().string(), bytes_text(row.result.model_bytes),
               is_there ? bytes_text(row.result.bytes) : "", state});
    packed += row.result.model_bytes;
    unpacked += is_there ? row.result.bytes : 0;
  }
  table.add_rule();
  table.add({"total", bytes_text(packed), bytes_text(unpacked), ""});
  return table.text();
}

}  // namespace ounce::report
