#include <gtest/gtest.h>
#include <ounce/error.h>

namespace ounce {
namespace {

TEST(ErrorTest, ExitCodesAreThoseOfTheManual) {
  EXPECT_EQ(exit_code(ErrorCode::kUsage), 2);
  EXPECT_EQ(exit_code(ErrorCode::kBadInput), 2);
  EXPECT_EQ(exit_code(ErrorCode::kUnsupported), 3);
  EXPECT_EQ(exit_code(ErrorCode::kIo), 4);
  EXPECT_EQ(exit_code(ErrorCode::kCancelled), 130);
  EXPECT_EQ(exit_code(ErrorCode::kInternal), 70);
  EXPECT_EQ(exit_code(ErrorCode::kTimeout), 2);
  EXPECT_EQ(exit_code(ErrorCode::kMemory), 2);
}

TEST(ErrorTest, TheMessageStartsWithThePlace) {
  const Error error(ErrorCode::kIo, "cannot open", "m.onnx");
  EXPECT_STREQ(error.what(), "m.onnx: cannot open");
  EXPECT_EQ(error.where(), "m.onnx");
  EXPECT_STREQ(Error(ErrorCode::kIo, "cannot open").what(), "cannot open");
}

TEST(ErrorTest, TheMessageIsOneLineWhateverNamesAreInIt) {
  const Error error(ErrorCode::kBadInput, "has no input 'a\r\nb'", "c\nd.json");
  EXPECT_STREQ(error.what(), "c d.json: has no input 'a  b'");
  EXPECT_STREQ(Error(ErrorCode::kBadInput, "is empty", std::string("a\0b.png", 7)).what(),
               "a b.png: is empty");
}

}  // namespace
}  // namespace ounce
