#include "data/source/open_source.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace ounce::data {
namespace {

namespace fs = std::filesystem;
using ounce::test::write_file;

std::string fingerprint(const fs::path& path) {
  DataOptions options;
  options.path = path;
  return fingerprint_of(options);
}

TEST(FingerprintTest, IsThatOfTheContentsWhateverTheName) {
  const ounce::test::TemporaryFolder folder;
  std::string bytes(10'000'000, 'x');
  for (std::size_t i = 0; i < bytes.size(); i += 1000) bytes[i] = static_cast<char>(i / 1000);
  for (const char* name : {"a.npz", "b.npz"}) write_file(folder / name, bytes);
  EXPECT_EQ(fingerprint(folder / "a.npz"), fingerprint(folder / "b.npz"));
  EXPECT_EQ(fingerprint(folder / "a.npz").size(), 32U);
  write_file(folder / "b.npz", bytes + "x");
  EXPECT_NE(fingerprint(folder / "a.npz"), fingerprint(folder / "b.npz"));
  bytes.back() = 'y';
  write_file(folder / "b.npz", bytes);
  EXPECT_NE(fingerprint(folder / "a.npz"), fingerprint(folder / "b.npz"));
}

TEST(FingerprintTest, OfAFolderIsThatOfItsNamesAndSizes) {
  const ounce::test::TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    fs::create_directories(folder / name / "cats");
    write_file(folder / name / "cats/1.png", "cat");
  }
  EXPECT_EQ(fingerprint(folder / "a"), fingerprint(folder / "b"));
  write_file(folder / "b" / "cats/2.png", "cat");
  EXPECT_NE(fingerprint(folder / "a"), fingerprint(folder / "b"));
}

TEST(FingerprintTest, AnotherFieldIsOtherData) {
  const ounce::test::TemporaryFolder folder;
  write_file(folder / "a.npz", "a");
  DataOptions first, second;
  first.path = second.path = folder / "a.npz";
  first.fields["x"] = "train";
  second.fields["x"] = "calib";
  EXPECT_NE(fingerprint_of(first), fingerprint_of(second));
  second.fields = first.fields;
  second.samples = 3;
  EXPECT_EQ(fingerprint_of(first), fingerprint_of(second))
      << "the selection of samples is not part of the fingerprint";
}

}  // namespace
}  // namespace ounce::data
