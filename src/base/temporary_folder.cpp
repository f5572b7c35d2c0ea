#include "base/temporary_folder.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/temporary_name.h"

namespace ounce {
namespace {

constexpr int kRemovals = 2;
constexpr unsigned kPrivate = 0700;

// The variables that std::filesystem::temp_directory_path() asks, in its order.
std::string place_of_temporary_files() {
  for (const char* const variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (const char* const value = ::getenv(variable); value != nullptr)
      return fmt::format("{}={}", variable, value);
  }
  return "/tmp";
}

[[noreturn]] void cannot_make_folder(const std::string& why) {
  throw Error(
      ErrorCode::kIo,
      fmt::format("cannot make a temporary folder: {}; set TMPDIR to a folder that can be written", why),
      place_of_temporary_files());
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) cannot_make_folder(error.message());
  remove_leftovers_once(parent);
  open_ = make_temporary_folder(
      parent, [&] { return temporary_folder_name(purpose); }, kPrivate, path_);
  if (!open_) cannot_make_folder(std::strerror(errno));
}

// Looking into the folder takes memory and a descriptor. If there is none, there may be one a moment later.
TemporaryFolder::~TemporaryFolder() {
  for (int i = 0; i < kRemovals; ++i) {
    if (remove_temporary_folder(path_, open_.get())) return;
  }
}

}  // namespace ounce
