#include "target/support_text.h"

// The assembler reads the file, so that no tool has to turn it into source.
asm(".section .rodata\n"
    ".balign 16\n"
    "ounce_support_text:\n"
    ".incbin \"" OUNCE_SUPPORT_FILE
    "\"\n"
    "ounce_support_text_end:\n"
    ".previous\n");
extern "C" const char ounce_support_text[], ounce_support_text_end[];

namespace ounce::target {

std::string_view support_text() {
  return {ounce_support_text, static_cast<std::size_t>(ounce_support_text_end - ounce_support_text)};
}

}  // namespace ounce::target
