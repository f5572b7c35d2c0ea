#include "base/temporary_folder.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

namespace ounce {
namespace {

constexpr int kAttempts = 2;

// The variables that std::filesystem::temp_directory_path() asks, in its order.
std::string place_of_temporary_files() {
  for (const char* const variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    if (const char* const value = ::getenv(variable); value != nullptr) return fmt::format("{}={}", variable, value);
  }
  return "/tmp";
}

[[noreturn]] void cannot_make_folder(const std::string& why) {
  throw Error(ErrorCode::kIo,
              fmt::format("cannot make a temporary folder: {}; set TMPDIR to a folder that can be written", why),
              place_of_temporary_files());
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::error_code error;
  const std::filesystem::path all = std::filesystem::temp_directory_path(error);
  if (error) cannot_make_folder(error.message());
  std::string name = (all / ("ounce-" + purpose + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) cannot_make_folder(std::strerror(errno));
  path_ = name;
}

// Looking into the folder takes memory and a descriptor. If there is none, there may be one a moment later.
TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  for (int i = 0; i < kAttempts; ++i) {
    try {
      std::filesystem::remove_all(path_, error);
      if (!error) return;
    } catch (const std::bad_alloc&) {
    }
  }
}

}  // namespace ounce
