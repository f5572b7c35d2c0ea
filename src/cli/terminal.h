// Where the program's words go: results to stdout, everything beside them to stderr, and a line that shows
// how far a run is, if stderr is a terminal. A stream that is closed or full is no reason to fall over: the
// exit code of a result that could not be printed is main's business.
#pragma once

#include <cstddef>
#include <string>

#include "verbs/host.h"

namespace ounce::cli {

class Terminal : public verbs::Host {
 public:
  std::unique_ptr<verbs::Watch> watch(const std::string& what) override;
  // Characters in a line of help: as many as stdout has, if it is a terminal, but no more than are read
  // easily.
  std::size_t help_width() const;

 protected:
  void write(verbs::Stream stream, const std::string& text) override;
  void write_document(const std::string& document) override;
  void write_complaint(const std::string& line) override;  // "ounce: …"
  void write_passing(const std::string& line) override;
};

// Colours for a terminal: what passed, what failed, what is only a remark. Colours repeat what words say.

// May this stream be coloured? A terminal, unless NO_COLOR is set (to anything) or TERM is "dumb".
bool takes_colour(int descriptor);

// Lines of ours with the words that decide in colour.
std::string painted(const std::string& text);
std::string painted_complaint(const std::string& line);  // "ounce: …"

// Tables that are wider than the terminal, made to fit it: the least important columns of figures are left
// out, then the widest columns of words are cut, with "…" where something is missing; the first column is cut
// last, and the other figures stay whole. Text that is no table is left to the terminal, which
// wraps it.

// Lines of ours, with whatever tables report::Table made of them.
std::string fit_width(const std::string& text, std::size_t width);

// Help as CLI11 prints it, with descriptions wrapped below themselves.
std::string wrap_help(const std::string& text, std::size_t width);

}  // namespace ounce::cli
