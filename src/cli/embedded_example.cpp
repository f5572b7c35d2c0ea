#include "cli/embedded_example.h"

// The assembler reads the files, so that no tool has to turn them into source.
#define OUNCE_EMBED(name, file)      \
  asm(".section .rodata\n"           \
      ".balign 16\n" #name           \
      ":\n"                          \
      ".incbin \"" file "\"\n" #name \
      "_end:\n"                      \
      ".previous\n");                \
  extern "C" const char name[], name##_end[]

OUNCE_EMBED(ounce_embedded_model, OUNCE_EXAMPLE_MODEL);
OUNCE_EMBED(ounce_embedded_data, OUNCE_EXAMPLE_DATA);

namespace ounce::cli {
namespace {

std::string_view between(const char* first, const char* end) {
  return {first, static_cast<std::size_t>(end - first)};
}

}  // namespace

std::string_view embedded_model() { return between(ounce_embedded_model, ounce_embedded_model_end); }
std::string_view embedded_data() { return between(ounce_embedded_data, ounce_embedded_data_end); }

}  // namespace ounce::cli
