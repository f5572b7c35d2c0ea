#include "quantize/importance.h"

#include <ounce/importance.h>

#include "base/cancel.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

namespace ounce {

bool is_importance(const std::filesystem::path& file) {
  const Call call(nullptr);
  return quantization::is_importance_file(file);
}

void merge_importance(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& output) {
  const Call call(nullptr);
  for (const std::filesystem::path& part : parts) io::require_readable(part);
  io::require_place(output);
  std::vector<quantization::Importance> read;
  for (const std::filesystem::path& part : parts) read.push_back(quantization::read_importance(part));
  quantization::write_importance(quantization::merged(read), output);
}

}  // namespace ounce
