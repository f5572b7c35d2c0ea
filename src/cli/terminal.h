// The program's output: results to stdout, everything else to stderr, and a progress line if stderr is a
// terminal. A closed or full stream is not an error here: main() sets the exit code for a result that could
// not be printed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "verbs/verb.h"

namespace ounce::cli {

class Terminal : public verbs::Host {
 public:
  std::unique_ptr<verbs::Watch> watch(const std::string& what) override;
  // The width of help: that of stdout, if it is a terminal, up to a width that is easy to read.
  std::size_t help_width() const;

 protected:
  void write(verbs::Stream stream, const std::string& text) override;
  void write_document(const std::string& document) override;
  void write_complaint(const std::string& line) override;  // "ounce: …"
  void write_passing(const std::string& line) override;
};

// True if output to this stream gets colors: for a terminal, unless NO_COLOR is set (to anything) or TERM is
// "dumb".
bool takes_color(int descriptor);

// Lines of output with the decisive words (passed, failed, remarks) in color. Colors only repeat the words.
std::string painted(const std::string& text);
std::string painted_complaint(const std::string& line);  // "ounce: …"

// Makes tables of report::Table fit the terminal: the least important columns of figures are left out, then
// the widest columns of words are cut, with "…" where text is missing. The first column is cut last, and
// figures are never cut. Other text is left to the terminal, which wraps it.
std::string fit_width(const std::string& text, std::size_t width);

// Help as CLI11 prints it, with descriptions wrapped below themselves.
std::string wrap_help(const std::string& text, std::size_t width);

// Estimates the remaining time of a stage from the time of its part so far.
class TimeLeft {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Nothing while too little is done for an estimate.
  std::optional<double> seconds(const char* stage, std::uint64_t done, std::uint64_t total, Time now);

 private:
  const char* stage_ = nullptr;  // a literal, as Progress::stage is
  std::uint64_t first_done_ = 0, total_ = 0;
  Time start_;
};

std::string time_left_text(double seconds);  // "40 s", "3 min", "1 h 20 min"

}  // namespace ounce::cli
