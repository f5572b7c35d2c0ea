#include "runtime/ort/library.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <cstdlib>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::runtime {
namespace {

using test::error_of;
using testing::HasSubstr;
using testing::StartsWith;

class EnvironmentVariable {
 public:
  explicit EnvironmentVariable(const std::string& value) {
    if (const char* old = std::getenv(kName)) old_ = old;
    ::setenv(kName, value.c_str(), 1);
  }
  ~EnvironmentVariable() { old_.empty() ? ::unsetenv(kName) : ::setenv(kName, old_.c_str(), 1); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  static constexpr const char* kName = "OUNCE_ONNXRUNTIME";
  std::string old_;
};

TEST(Library, EveryInstalledVersionOpensBesideTheOthers) {
  std::vector<std::shared_ptr<const Library>> libraries;
  for (const auto& path : Library::installed()) {
    libraries.push_back(Library::open(path));
    const Library& library = *libraries.back();
    // The parent folder of lib/ is named after the version.
    EXPECT_EQ(library.version(), path.parent_path().parent_path().filename().string());
    EXPECT_GE(library.api_version(), 17U);
    EXPECT_THAT(library.version(), StartsWith("1."));
    EXPECT_LE(library.api_version(), static_cast<unsigned>(std::atoi(library.version().c_str() + 2)));
  }
}

TEST(Library, IsOpenedOnceAndHasOneEnvironment) {
  const auto first = Library::open(Library::find()), second = Library::open(Library::find());
  EXPECT_EQ(first, second);
  EXPECT_EQ(&first->environment(), &second->environment());
}

TEST(Library, TheEnvironmentVariableChoosesAFile) {
  const auto path = Library::find();
  const EnvironmentVariable chosen(path.string());
  EXPECT_EQ(Library::find(), path);
}

TEST(Library, AVariableThatNamesNothingIsAnError) {
  const EnvironmentVariable chosen("1.2.3");
  const Error error = error_of([] { Library::find(); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("OUNCE_ONNXRUNTIME=1.2.3"));
}

TEST(Library, AMissingFileIsAnError) {
  const Error error = error_of([] { Library::open("/nowhere/libonnxruntime.so"); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("/nowhere/libonnxruntime.so"));
}

TEST(Library, AnotherLibraryIsAnError) {
  const Error error = error_of([] { Library::open("libm.so.6"); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace ounce::runtime
