#include "report/messages.h"

#include <gtest/gtest.h>

#include "report/recipe_command.h"

namespace ounce::report {
namespace {

TEST(Messages, RecognizesNotesByTheirWords) {
  EXPECT_EQ(message_id("calibrated on 8 samples only; use a few hundred samples"), "OUN201");
  EXPECT_EQ(message_id("dynamic dimensions were set to N=1; set other sizes with --shape NAME=LENGTH"),
            "OUN108");
  EXPECT_EQ(message_id("a text that nothing says"), "");
  EXPECT_EQ(note_text("the models ran in an emulator: its times do not predict those of a device"),
            "the models ran in an emulator: its times do not predict those of a device [OUN502]");
  EXPECT_EQ(note_text("a text that nothing says"), "a text that nothing says");
}

TEST(Messages, PrefersTheLongestWords) {
  EXPECT_EQ(message_id("cannot open: No such file or directory"), "OUN701");
  EXPECT_EQ(message_id("cannot open ONNX Runtime: libonnxruntime.so: No such file"), "OUN706");
}

TEST(Messages, GivesEveryErrorACode) {
  EXPECT_EQ(error_id(ErrorCode::kBadInput, "the byte 7 is odd"), "OUN002");
  EXPECT_EQ(error_id(ErrorCode::kMemory, "grew"), "OUN008");
  EXPECT_EQ(error_id(ErrorCode::kIo, "m.onnx: cannot open: No such file or directory"), "OUN701");
  // A bug is a bug, whatever its text.
  EXPECT_EQ(error_id(ErrorCode::kInternal, "cannot open"), "OUN006");
}

TEST(Messages, FindsRowsByCode) {
  ASSERT_NE(find_message("OUN701"), nullptr);
  EXPECT_EQ(find_message("oun701"), find_message("OUN701"));
  EXPECT_EQ(find_message("701"), find_message("OUN701"));
  EXPECT_EQ(find_message("OUN700"), nullptr);
}

TEST(Messages, HaveAllTexts) {
  for (const Message& message : all_messages()) {
    const std::string text = explain_text(message);
    for (const std::string_view part : {message.title, message.cause, message.consequence, message.fix})
      EXPECT_FALSE(part.empty()) << message.id;
    EXPECT_EQ(text.find('`'), text.npos) << "an unknown field: " << text;
  }
}

}  // namespace
}  // namespace ounce::report
