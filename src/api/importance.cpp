#include "make/importance.h"

#include <ounce/importance.h>

namespace ounce {

bool is_importance(const std::filesystem::path& file) { return make::is_importance_file(file); }

void merge_importance(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& output) {
  std::vector<make::Importance> read;
  for (const std::filesystem::path& part : parts) read.push_back(make::read_importance(part));
  make::write_importance(make::merged(read), output);
}

}  // namespace ounce
