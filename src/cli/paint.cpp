#include "cli/paint.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace ounce::cli {
namespace {

constexpr const char *kGreen = "\x1b[32m", *kRed = "\x1b[1;31m", *kDim = "\x1b[2m", *kBold = "\x1b[1m",
                     *kEnd = "\x1b[0m";

struct Rule {
  std::string_view start;  // of a line, behind its blanks
  const char* colour;
  bool is_whole_line;
};
constexpr Rule kRules[] = {
    {"passed", kGreen, false},       {"failed", kRed, false},      {"FAILED", kRed, false},
    {"nothing passed", kRed, false}, {"note: ", kDim, true},       {"ok ", kGreen, false},
    {"not certain: ", kBold, false}, {"certain: ", kGreen, false}, {"different", kRed, false},
    {"the same", kGreen, false},
};

std::string painted_line(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos) return std::string(line);
  const std::string_view rest = line.substr(first);
  for (const Rule& rule : kRules) {
    if (!rest.starts_with(rule.start)) continue;
    const std::size_t length = rule.is_whole_line ? rest.size() : rule.start.find_last_not_of(" :") + 1;
    return std::string(line.substr(0, first)) + rule.colour + std::string(rest.substr(0, length)) + kEnd +
           std::string(rest.substr(length));
  }
  return std::string(line);
}

}  // namespace

bool takes_colour(int descriptor) {
  const char* const none = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  if (none != nullptr && *none != '\0') return false;
  return ::isatty(descriptor) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string painted(const std::string& text) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    made += painted_line(std::string_view(text).substr(at, end - at));
    if (end < text.size()) made += '\n';
    at = end + 1;
  }
  return made;
}

std::string painted_complaint(const std::string& line) {
  constexpr std::string_view kOurs = "ounce:";
  if (!line.starts_with(kOurs)) return line;
  return kRed + std::string(kOurs) + kEnd + line.substr(kOurs.size());
}

}  // namespace ounce::cli
