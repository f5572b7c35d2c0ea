// The catalog of notes and errors: a stable code for each kind, with its cause, consequence and fix. Text
// output ends with the code, `ounce explain OUN101` prints the row, docs/reference/messages.md lists all.
//
//   message_id("calibrated on 8 samples only: …")              // "OUN201"
//   error_id(ErrorCode::kIo, "m.onnx: cannot open: …")         // "OUN701"; of an unlisted error: of its kind
//
// A row recognizes its messages by their wording, so that a code survives processes and bindings that pass on
// text alone. tools/check_messages.py compares the wording with the sources: each note of the library needs a
// row, and each row a message.
#pragma once

#include <ounce/error.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ounce::report {

struct Message {
  std::string_view id;     // "OUN101"; never reused
  std::string_view title;  // a noun phrase
  // The fixed words of its messages, with * for the variable parts, separated by |. Empty: all errors of a
  // kind that no other row recognizes.
  std::string_view says;
  // Sentences that name fields in backticks (recipe_command.h).
  std::string_view cause, consequence, fix;
};

std::span<const Message> all_messages();
// Null for an unknown id. Accepts "OUN101", "oun101" and "101".
const Message* find_message(std::string_view id);

// The id of a note or another message of the library; empty for an unlisted one.
std::string_view message_id(std::string_view text);
std::string_view error_id(ErrorCode code, std::string_view text);

// "the note [OUN101]", with options in place of fields.
std::string note_text(const std::string& note);
// "the message [OUN701]"
std::string with_id(const std::string& message, std::string_view id);

std::string explain_text(const Message& message);
std::string explain_list();

}  // namespace ounce::report
