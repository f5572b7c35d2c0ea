#include "target/target.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"

namespace ounce::target {
namespace {

using ounce::test::error_of;
using ::testing::HasSubstr;

TEST(ParseTarget, KnowsPlacesReleasesAndProviders) {
  const Target phone = parse_target("android-arm64@1.22.0");
  EXPECT_EQ(phone.system, "android");
  EXPECT_EQ(phone.machine, "arm64");
  EXPECT_EQ(phone.version, "1.22.0");
  EXPECT_EQ(phone.provider, "cpu");
  const Target tablet = parse_target("ios-arm64@1.20+coreml");
  EXPECT_EQ(tablet.version, "1.20");
  EXPECT_EQ(tablet.provider, "coreml");
  EXPECT_EQ(parse_target("ort-web@1.18.0").machine, "wasm");
  const Target here = parse_target("host");
  EXPECT_TRUE(here.is_place());
  EXPECT_FALSE(here.version.empty());  // the newest measured release
  EXPECT_EQ(parse_target("").system, here.system);
  EXPECT_EQ(parse_target("cpu").machine, here.machine);
  const Target card = parse_target("cuda");
  EXPECT_FALSE(card.is_place());
  EXPECT_EQ(card.provider, "cuda");
}

TEST(ParseTarget, KnowsWhatAnX64CpuHas) {
  EXPECT_EQ(parse_target("linux-x64@1.30.0+avx2").cpu, "avx2");
  EXPECT_EQ(parse_target("linux-x64@1.30.0+avx2").provider, "cpu");
  const Target both = parse_target("windows-x64@1.22.0+vnni+openvino");
  EXPECT_EQ(both.cpu, "vnni");
  EXPECT_EQ(both.provider, "openvino");
  EXPECT_EQ(parse_target("windows-x64@1.22.0+openvino+vnni").cpu, "vnni");
  EXPECT_EQ(parse_target("linux-x64@1.30.0").cpu, "");
}

// A release that was not measured may be newer. One that is older than all measured ones, or of another major
// version, is a typo.
TEST(ParseTarget, ReleasesThatNoDataCanBeOfAreRefused) {
  for (const char* text : {"linux-x64@1.14", "linux-x64@1.99.0", "android-arm64@1.22.7"})
    EXPECT_EQ(parse_target(text).name, text);
  for (const char* text : {"linux-x64@9.9", "linux-x64@1.2.0", "linux-x64@0.5", "ort-web@2.0.0"}) {
    const Error error = error_of([&] { parse_target(text); });
    EXPECT_EQ(error.code(), ErrorCode::kUsage) << text;
    EXPECT_THAT(error.what(), HasSubstr("no data for ONNX Runtime ")) << text;
    EXPECT_THAT(error.what(), HasSubstr("latest measured: " + newest_measured("x64").substr(0, 2))) << text;
  }
  for (const char* text : {"linux-x64@1", "linux-x64@1..2", "linux-x64@.1", "linux-x64@99999999999.1"})
    EXPECT_THAT(error_of([&] { parse_target(text); }).what(), HasSubstr("is not valid")) << text;
}

TEST(ParseTarget, SaysWhatThereIs) {
  for (const char* text :
       {"toaster", "linux-x64@", "linux-x64@new", "linux-x64@1.2.0+magic", "linux-x64@1.2.0+",
        "linux-arm64+vnni", "linux-x64+avx2+vnni", "linux-x64+cuda+coreml", "linux", "@1.22.0", "+cuda"}) {
    const Error error = error_of([&] { parse_target(text); });
    EXPECT_EQ(error.code(), ErrorCode::kUsage) << text;
    EXPECT_THAT(error.what(), HasSubstr("android-arm64")) << text;
    EXPECT_THAT(error.what(), HasSubstr("cuda")) << text;
  }
}

}  // namespace
}  // namespace ounce::target
