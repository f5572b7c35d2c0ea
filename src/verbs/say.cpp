#include "verbs/say.h"

namespace ounce::verbs {
namespace {

void write(std::FILE* out, const std::string& text) { std::fwrite(text.data(), 1, text.size(), out); }

}  // namespace

void say(std::FILE* out, const std::string& text) { write(out, escaped_lines(text)); }
void say_json(const std::string& document) { write(stdout, escaped_json(document)); }
void complain(const std::string& what) { write(stderr, "ounce: " + plain(what) + "\n"); }
void say_over(const std::string& text) {
  write(stderr, "\r\x1b[K" + escaped_lines(text));
  std::fflush(stderr);
}

}  // namespace ounce::verbs
