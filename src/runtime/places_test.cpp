#include "runtime/places.h"

#include <gmock/gmock.h>

#include "support/temporary_folder.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

constexpr model::ModelKind kKind = model::ModelKind::kOnnx;

void make(const fs::path& file) {
  fs::create_directories(file.parent_path());
  test::write_file(file, "not a library, but it is never opened");
}

// The library names in the first place that has any.
std::vector<std::string> first_found(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    std::vector<std::string> names;
    for (const FoundLibrary& library : libraries_in(kKind, place)) names.push_back(library.path.string());
    if (!names.empty()) return names;
  }
  return {};
}

TEST(Places, TheNewestOfAFolderComesFirstAndOthersLibrariesAreNone) {
  const test::TemporaryFolder folder;
  for (const char* name :
       {"libonnxruntime.so.1.9.0", "libonnxruntime.so.1.31.1", "libonnxruntime.so", "libonnxruntime.so.1",
        "libonnxruntime_providers_shared.so", "libonnxruntime.so-old"})
    make(folder / name);
  EXPECT_THAT(first_found({folder.path()}),
              ElementsAre(folder / "libonnxruntime.so.1.31.1", folder / "libonnxruntime.so.1.9.0",
                          folder / "libonnxruntime.so", folder / "libonnxruntime.so.1"));
}

TEST(Places, AFolderBesideTheProgramComesBeforeAPythonPackage) {
  const test::TemporaryFolder folder;
  make(folder / "lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.31.1");
  const auto places = places_beside(kKind, {folder / "bin"}, {});
  EXPECT_THAT(first_found(places),
              ElementsAre(folder / "lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.31.1"));
  make(folder / "lib/libonnxruntime.so.1.22.0");
  EXPECT_THAT(first_found(places), ElementsAre(folder / "lib/libonnxruntime.so.1.22.0"));
}

TEST(Places, AProgramInsideAPythonPackageFindsThePackageBesideIt) {
  const test::TemporaryFolder folder;
  make(folder / "onnxruntime/capi/libonnxruntime.so.1.30.0");
  EXPECT_THAT(first_found(places_beside(kKind, {"/nowhere/bin", folder / "ounce/lib"}, {})),
              ElementsAre(folder / "onnxruntime/capi/libonnxruntime.so.1.30.0"));
}

TEST(Places, AnActiveEnvironmentComesLast) {
  const test::TemporaryFolder folder;
  make(folder / "venv/lib64/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.29.0");
  const auto places = places_beside(kKind, {folder / "ounce/bin"}, folder / "venv");
  EXPECT_THAT(
      first_found(places),
      ElementsAre(folder / "venv/lib64/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.29.0"));
  make(folder / "ounce/bin/libonnxruntime.so");
  EXPECT_THAT(first_found(places), ElementsAre(folder / "ounce/bin/libonnxruntime.so"));
}

}  // namespace
}  // namespace ounce::runtime
