#include "cli/embedded_example.h"

// The assembler reads the file, so that no tool has to turn it into source.
asm(".section .rodata\n"
    ".balign 16\n"
    "ounce_embedded_model:\n"
    ".incbin \"" OUNCE_EXAMPLE_MODEL
    "\"\n"
    "ounce_embedded_model_end:\n"
    ".previous\n");

extern "C" {
extern const char ounce_embedded_model[];
extern const char ounce_embedded_model_end[];
}

namespace ounce::cli {

std::string_view embedded_model() {
  return {ounce_embedded_model, static_cast<std::size_t>(ounce_embedded_model_end - ounce_embedded_model)};
}

}  // namespace ounce::cli
