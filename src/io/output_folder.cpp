#include "io/output_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <ounce/error.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "base/cancel.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "io/temporary_files.h"

namespace ounce::io {
namespace fs = std::filesystem;
namespace {

constexpr unsigned kFolderMode = 0777,
                   kOwnFolder = 0700;  // the umask decides; what we need ourselves until the commit

[[noreturn]] void fail_to(const char* doing, const fs::path& path, const std::string& why) {
  throw Error(ErrorCode::kIo, fmt::format("cannot {}: {}", doing, why), path.string());
}

fs::path without_slash(const fs::path& path) {
  const fs::path plain = path.lexically_normal();
  return plain.has_filename() ? plain : plain.parent_path();
}

void flush_parent(const fs::path& place) {
  const fs::path parent = place.has_parent_path() ? place.parent_path() : ".";
  const Descriptor folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot flush a folder; what is in it is safe already.
  if (folder) ::fsync(folder.get());
}

}  // namespace

OutputFolder::OutputFolder(fs::path place, Existing existing)
    : place_(without_slash(place)), existing_(existing) {
  require_place();
  const fs::path parent = place_.has_parent_path() ? place_.parent_path() : ".";
  remove_leftovers_once(parent);
  const std::optional<Permissions> kept = Permissions::of(place_);
  open_ = make_temporary_folder(
      parent, [&] { return temporary_output_name(place_.filename().string()); },
      kept ? kept->mode | kOwnFolder : kFolderMode, path_);
  if (!open_) fail_to("make the folder", place_, std::strerror(errno));
}

OutputFolder::~OutputFolder() {
  if (open_) remove_temporary_folder(path_, std::move(open_));
}

void OutputFolder::require_place() const {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(place_, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    throw Error(ErrorCode::kUsage, "is there and no folder; choose another `output`", place_.string());
  if (existing_ == Existing::kReplace || fs::is_empty(place_, error)) return;
  throw Error(ErrorCode::kUsage, "is there and not empty; choose another `output`, or `replace=true`",
              place_.string());
}

fs::path OutputFolder::place_for(const fs::path& relative) const {
  const fs::path plain = relative.lexically_normal();
  if (plain.empty() || plain.is_absolute() || *plain.begin() == "..")
    throw Error(ErrorCode::kInternal, "a file would be written outside of the folder", relative.string());
  const fs::path place = path_ / plain;
  std::error_code error;
  fs::create_directories(place.parent_path(), error);
  if (error) fail_to("make the folder", place.parent_path(), error.message());
  return place;
}

void OutputFolder::copy(const fs::path& file, const fs::path& relative) const {
  constexpr std::size_t kChunk = std::size_t{8} << 20;
  const MappedFile source = MappedFile::open(file);
  OutputFile output(place_for(relative), source.bytes().size());
  for (std::size_t at = 0; at < source.bytes().size(); at += kChunk)
    output.write(at, source.bytes().substr(at, kChunk));
  output.commit();
}

void OutputFolder::commit() {
  throw_if_file_was_cut();
  require_place();  // much may have happened since
  if (!is_name_of(path_, open_.get()))
    fail_to("write", place_,
            fmt::format("another program removed or replaced the temporary folder '{}'",
                        path_.filename().string()));
  if (const std::optional<Permissions> kept = Permissions::of(place_)) apply(*kept, open_.get());
  std::error_code error;
  if (!fs::exists(place_, error) || fs::is_empty(place_, error)) {
    if (::rename(path_.c_str(), place_.c_str()) != 0) fail_to("write", place_, std::strerror(errno));
    open_ = Descriptor();
  } else {
    // The two change places; the destructor removes the old folder. If this process is killed before, the
    // next one does: it has a temporary name then.
    Descriptor old(::open(place_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, place_.c_str(), RENAME_EXCHANGE) != 0)
      fail_to("replace", place_, std::strerror(errno));
    open_ = std::move(old);
  }
  flush_parent(place_);
}

}  // namespace ounce::io
