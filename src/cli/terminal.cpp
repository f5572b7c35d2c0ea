#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/fit_width.h"
#include "cli/paint.h"
#include "cli/progress_line.h"

namespace ounce::cli {
namespace {

void print(std::FILE* out, const std::string& text) { std::fwrite(text.data(), 1, text.size(), out); }

// Characters in a line; 0 when it is no terminal, or does not tell.
std::size_t width_of(int descriptor) {
  winsize size{};
  if (::isatty(descriptor) == 0 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

std::size_t Terminal::help_width() const {
  constexpr std::size_t kEasy = 110, kLeast = 60;
  const std::size_t width = width_of(STDOUT_FILENO);
  return width == 0 ? kEasy : std::clamp(width, kLeast, kEasy);
}

std::unique_ptr<verbs::Watch> Terminal::watch(const std::string& what) {
  return std::make_unique<ProgressLine>(*this, what);
}

void Terminal::write(verbs::Stream stream, const std::string& text) {
  const bool is_result = stream == verbs::Stream::kResults;
  const int descriptor = is_result ? STDOUT_FILENO : STDERR_FILENO;
  const std::size_t width = width_of(descriptor);
  const std::string fitting = width == 0 ? text : fit_width(text, width);
  print(is_result ? stdout : stderr, takes_colour(descriptor) ? painted(fitting) : fitting);
}

void Terminal::write_document(const std::string& document) { print(stdout, document); }

void Terminal::write_complaint(const std::string& line) {
  const std::string all = "ounce: " + line + "\n";
  print(stderr, takes_colour(STDERR_FILENO) ? painted_complaint(all) : all);
}

void Terminal::write_passing(const std::string& line) {
  if (::isatty(STDERR_FILENO) == 0) return;
  print(stderr, "\r\x1b[K" + line);
  std::fflush(stderr);
}

}  // namespace ounce::cli
