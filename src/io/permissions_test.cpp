#include "io/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "io/descriptor.h"
#include "support/temporary_folder.h"

namespace ounce::io {
namespace {

class PermissionsTest : public testing::Test {
 protected:
  std::filesystem::path make(const std::string& name, mode_t mode) {
    const std::filesystem::path path = folder / name;
    test::write_file(path, name);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  struct stat given(const Permissions& permissions) {
    const Descriptor file(::open(make("new", 0644).c_str(), O_RDWR | O_CLOEXEC));
    apply(permissions, file.get());
    struct stat status {};
    EXPECT_EQ(::fstat(file.get(), &status), 0);
    return status;
  }

  test::TemporaryFolder folder;
};

TEST_F(PermissionsTest, NothingHasNone) {
  EXPECT_FALSE(Permissions::of(folder / "missing"));
  std::filesystem::create_symlink("missing", folder / "link");
  EXPECT_FALSE(Permissions::of(folder / "link"));
}

TEST_F(PermissionsTest, TheModeIsKeptWithoutSpecialBits) {
  for (const mode_t mode : {0600U, 0640U, 0444U, 0666U, 0755U}) {
    EXPECT_EQ(given(*Permissions::of(make("old", mode))).st_mode & 07777, mode);
    EXPECT_EQ(given(*Permissions::of(make("old", mode | 04000))).st_mode & 07777, mode);
  }
}

TEST_F(PermissionsTest, OwnerAndGroupAreKeptWhereTheSystemAllowsIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const auto old = make("old", 0640);
  ASSERT_EQ(::chown(old.c_str(), 1234, 2345), 0);
  const struct stat status = given(*Permissions::of(old));
  EXPECT_EQ(status.st_uid, 1234U);
  EXPECT_EQ(status.st_gid, 2345U);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

// Any user may have made the link.
TEST_F(PermissionsTest, ALinkGivesItsModeButNotTheOwnerOfItsTarget) {
  const auto old = make("old", 0640);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(old.c_str(), 1234, 2345), 0);
  }
  std::filesystem::create_symlink("old", folder / "link");
  const Permissions permissions = *Permissions::of(folder / "link");
  EXPECT_TRUE(permissions.is_of_link);
  const struct stat status = given(permissions);
  EXPECT_EQ(status.st_uid, ::geteuid());
  if (::geteuid() == 0) {
    EXPECT_EQ(status.st_mode & 0777, 0600U) << "another group may not read it";
  }
}

TEST_F(PermissionsTest, AGroupThatCannotBeKeptLeavesNoMoreThanEverybodyHas) {
  Permissions permissions = *Permissions::of(make("old", 0674));
  permissions.is_of_link = true;  // so that no group is set, even for root
  permissions.group += 1;
  EXPECT_EQ(given(permissions).st_mode & 0777, 0644U);
}

TEST_F(PermissionsTest, AnAccessListIsKept) {
  // Version 2; entries of tag, permissions, id: owner rw, user 1234 r, group none, mask r, others none.
  const unsigned char list[] = {2, 0,    0,    0,    1,    0,    6,  0, 0xff, 0xff, 0xff, 0xff, 2,    0,   4,
                                0, 0xd2, 0x04, 0,    0,    4,    0,  0, 0,    0xff, 0xff, 0xff, 0xff, 16,  0,
                                4, 0,    0xff, 0xff, 0xff, 0xff, 32, 0, 0,    0,    0xff, 0xff, 0xff, 0xff};
  const auto old = make("old", 0600);
  if (::setxattr(old.c_str(), "system.posix_acl_access", list, sizeof list, 0) != 0)
    GTEST_SKIP() << "no access lists here";
  const Permissions permissions = *Permissions::of(old);
  EXPECT_EQ(given(permissions).st_mode & 0777, 0640U);
  EXPECT_EQ(Permissions::of(folder / "new")->access_list, permissions.access_list);
  // Without the list, the group bits would give access to the whole group.
  Permissions broken = permissions;
  broken.access_list = "no list";
  std::filesystem::remove(folder / "new");
  EXPECT_EQ(given(broken).st_mode & 0777, 0600U);
}

}  // namespace
}  // namespace ounce::io
