#include "io/permissions.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace ounce::io {
namespace {

constexpr const char* kAccessList = "system.posix_acl_access";
constexpr unsigned kGroupBits = 0070, kOtherBits = 0007, kOtherToGroup = 3;

std::string access_list_of(const std::filesystem::path& path) {
  std::string list(4096, '\0');  // more than 500 entries
  const ssize_t size = ::getxattr(path.c_str(), kAccessList, list.data(), list.size());
  list.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return list;
}

}  // namespace

std::optional<Permissions> Permissions::of(const std::filesystem::path& path) {
  struct stat entry {}, status{};
  if (::lstat(path.c_str(), &entry) != 0 || ::stat(path.c_str(), &status) != 0) return std::nullopt;
  // A program that is replaced by a model is none any more.
  const unsigned kept = S_ISDIR(status.st_mode) ? 07777 : 0777;
  return Permissions{status.st_mode & kept, status.st_uid, status.st_gid, access_list_of(path),
                     S_ISLNK(entry.st_mode)};
}

void apply(const Permissions& permissions, int descriptor) {
  struct stat now {};
  if (::fstat(descriptor, &now) != 0) return;
  const bool keeps_group =
      now.st_gid == permissions.group ||
      (!permissions.is_of_link && ::fchown(descriptor, now.st_uid, permissions.group) == 0);
  // With an access list the bits of the group are those that all its entries may have at most.
  const std::string& list = permissions.access_list;
  const bool has_list = !list.empty();
  const bool keeps_list =
      has_list && keeps_group && ::fsetxattr(descriptor, kAccessList, list.data(), list.size(), 0) == 0;
  unsigned mode = permissions.mode;
  if (!keeps_group || (has_list && !keeps_list))
    mode &= ~kGroupBits | (mode & kOtherBits) << kOtherToGroup;
  if (!keeps_list || mode != permissions.mode) ::fchmod(descriptor, mode);
  // Last: a file that belongs to somebody else may not be changed any more.
  if (now.st_uid != permissions.owner && keeps_group && !permissions.is_of_link &&
      ::fchown(descriptor, permissions.owner, permissions.group) != 0)
    return;  // only root may give files away
}

}  // namespace ounce::io
