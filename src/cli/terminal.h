// The output of the program: results go to stdout, everything else to stderr, with a progress line if stderr
// is a terminal. A closed or full stream is no error here; main() sets the exit code if a result could not be
// printed.
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
  // Prints only errors and JSON documents from now on.
  void be_quiet() { is_quiet_ = true; }
  // The width of help texts: that of stdout if it is a terminal, limited to a readable width.
  std::size_t help_width() const;

 protected:
  void write(verbs::Stream stream, const std::string& text) override;
  void write_document(const std::string& document) override;
  void write_complaint(const std::string& line) override;  // "ounce: …"
  void write_passing(const std::string& line) override;

 private:
  bool is_quiet_ = false;
};

// True if output to this file descriptor gets colors: for a terminal, unless NO_COLOR is set or TERM is
// "dumb".
bool takes_color(int descriptor);

// Adds color to verdicts and notes. The colors add no information to the text.
std::string painted(const std::string& text);
std::string painted_complaint(const std::string& line);  // "ounce: …"

// Makes tables of report::Table fit the terminal: first drops the least important columns of figures, then
// cuts the widest columns of text, with "…" for missing text. Cuts the first column last, and never cuts
// figures. Other text is unchanged; the terminal wraps it.
std::string fit_width(const std::string& text, std::size_t width);

// Wraps the descriptions in help texts of CLI11, aligned with their first line.
std::string wrap_help(const std::string& text, std::size_t width);

// Estimates the remaining time of a stage from the time of its part so far.
class TimeLeft {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Returns nullopt if too little is done for an estimate.
  std::optional<double> seconds(const char* stage, std::uint64_t done, std::uint64_t total, Time now);

 private:
  const char* stage_ = nullptr;  // a string literal, like Progress::stage
  std::uint64_t first_done_ = 0, total_ = 0;
  Time start_;
};

// "step 2 of 5: searching 34 %, 12 s left, best so far 34.4 dB"
std::string progress_text(const Progress& progress, const std::optional<double>& seconds_left);
std::string time_left_text(double seconds);  // "40 s", "3 min", "1 h 20 min"

}  // namespace ounce::cli
