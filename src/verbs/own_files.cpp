#include "verbs/own_files.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <system_error>

namespace ounce::verbs {

OwnFiles OwnFiles::of(const CLI::App& verb, const std::string& contract) {
  OwnFiles own;
  const CLI::App* root = &verb;
  while (root->get_parent() != nullptr) root = root->get_parent();
  if (const CLI::Option* config = root->get_option_no_throw("--config");
      config != nullptr && config->count() != 0)
    own.add("--config", config->as<std::string>());
  own.add("--contract", contract);
  return own;
}

void OwnFiles::add(const std::string& option, const std::string& path) {
  if (!path.empty()) files_.push_back({option, path});
}

void OwnFiles::require_apart(const std::filesystem::path& output) const {
  for (const File& file : files_) {
    std::error_code none;
    if (std::filesystem::equivalent(file.path, output, none) && !none)
      throw Error(ErrorCode::kUsage,
                  fmt::format("the output would replace the file of {}; choose another", file.option),
                  output.string());
  }
}

}  // namespace ounce::verbs
