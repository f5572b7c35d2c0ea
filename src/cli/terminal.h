// Where the program's words go: results to stdout, everything beside them to stderr, and a line that shows
// how far a run is, if stderr is a terminal. A stream that is closed or full is no reason to fall over: the
// exit code of a result that could not be printed is main's business.
#pragma once

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

}  // namespace ounce::cli
