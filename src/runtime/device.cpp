#include "runtime/device.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <charconv>
#include <cstdint>
#include <exception>
#include <sstream>

#include "runtime/child_process.h"
#include "runtime/descriptor_io.h"

namespace ounce::runtime {
namespace {

constexpr std::size_t kMostOutput = std::size_t{64} << 10;
constexpr double kPatience = 5, kRemovePatience = 20;  // seconds

}  // namespace

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  char quote = '\0';
  bool is_inside = false;
  for (const char c : line) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == '\0' && is_blank) {
      is_inside = false;
      continue;
    }
    if (!is_inside) words.emplace_back();
    is_inside = true;
    if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0') throw Error(ErrorCode::kUsage, fmt::format("a {} is not closed", quote), line);
  return words;
}

std::string shell_word(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\0') throw Error(ErrorCode::kBadInput, "a name with a zero byte cannot be used elsewhere");
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::vector<std::string> Device::command(const std::string& script) const {
  std::vector<std::string> words = prefix_;
  words.push_back(script);
  return words;
}

std::string Device::run(const std::string& script, std::string_view input, double seconds) const {
  ChildProcess process(command(script), ChildProcess::Errors::kKept);
  const Deadline deadline = deadline_in(seconds);
  std::string output;
  Outcome outcome = write_all(process.socket(), input, deadline);
  if (outcome == Outcome::kDone) process.end_input();
  if (outcome != Outcome::kLate) outcome = read_to_end(process.socket(), output, kMostOutput, deadline);
  if (outcome == Outcome::kLate)
    throw Error(ErrorCode::kIo, fmt::format("gave no answer within {} s", seconds), via_);
  const ChildProcess::End end = process.end(kPatience);
  if (end.is_good()) return output;
  const std::string said = process.said();
  throw Error(ErrorCode::kIo, end.how() + (said.empty() ? "" : ": " + said), via_);
}

void Device::push(std::string_view bytes, const std::string& path, double seconds) const {
  const std::string folder = path.substr(0, path.rfind('/'));
  const std::string script = fmt::format(
      "umask 077; f={}; mkdir -p {} && cat > \"$f.$$\" && chmod 700 \"$f.$$\" && "
      "mv -f \"$f.$$\" \"$f\" && wc -c < \"$f\"",
      shell_word(path), shell_word(folder));
  std::istringstream answer(run(script, bytes, seconds));
  std::string last;  // after a greeting, perhaps
  for (std::string word; answer >> word;) last = word;
  std::uint64_t arrived = 0;
  std::from_chars(last.data(), last.data() + last.size(), arrived);
  if (arrived == bytes.size()) return;
  throw Error(ErrorCode::kIo,
              fmt::format("{} arrived with {} bytes of {}: this command does not hand bytes on as they are "
                          "(no terminal must stand between, ssh -T or adb shell -T)",
                          path, arrived, bytes.size()),
              via_);
}

void Device::try_to_remove(const std::string& path) const noexcept try {
  ChildProcess process(command("rm -rf " + shell_word(path)), ChildProcess::Errors::kDropped);
  process.end_input();
  process.end(kRemovePatience);
} catch (const std::exception&) {  // what stays there is no reason to fail
}

}  // namespace ounce::runtime
