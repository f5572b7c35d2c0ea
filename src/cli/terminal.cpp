#include "cli/terminal.h"

#include <unistd.h>

#include <cstdio>

#include "cli/progress_line.h"

namespace ounce::cli {
namespace {

void print(std::FILE* out, const std::string& text) { std::fwrite(text.data(), 1, text.size(), out); }

}  // namespace

std::unique_ptr<verbs::Watch> Terminal::watch(const std::string& what) {
  return std::make_unique<ProgressLine>(*this, what);
}

void Terminal::write(verbs::Stream stream, const std::string& text) {
  print(stream == verbs::Stream::kResults ? stdout : stderr, text);
}

void Terminal::write_document(const std::string& document) { print(stdout, document); }

void Terminal::write_complaint(const std::string& line) { print(stderr, "ounce: " + line + "\n"); }

void Terminal::write_passing(const std::string& line) {
  if (::isatty(STDERR_FILENO) == 0) return;
  print(stderr, "\r\x1b[K" + line);
  std::fflush(stderr);
}

}  // namespace ounce::cli
