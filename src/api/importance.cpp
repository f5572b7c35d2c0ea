#include "make/importance.h"

#include <ounce/importance.h>

#include "base/cancel.h"
#include "io/mapped_file.h"
#include "io/output_file.h"

namespace ounce {

bool is_importance(const std::filesystem::path& file) {
  const Call call(nullptr);
  return make::is_importance_file(file);
}

void merge_importance(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& output) {
  const Call call(nullptr);
  for (const std::filesystem::path& part : parts) io::require_readable(part);
  io::require_place(output);
  std::vector<make::Importance> read;
  for (const std::filesystem::path& part : parts) read.push_back(make::read_importance(part));
  make::write_importance(make::merged(read), output);
}

}  // namespace ounce
