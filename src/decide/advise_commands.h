// Command lines to paste: with the model and the data as the user named them, quoted for a shell.
#pragma once

#include <ounce/advise.h>

#include <filesystem>
#include <string>

namespace ounce::decide {

class CommandWriter {
 public:
  CommandWriter(const AdviseOptions& options, const AdviseResult& result);

  std::string quantize(Format format) const;
  std::string tune() const;
  std::string verify(Format format) const;

 private:
  std::string data(bool with_labels) const;
  bool can_divide() const;  // the data is whole: one part may calibrate and another one judge
  std::string gates() const;
  std::string target() const;

  const AdviseOptions& options_;
  const AdviseResult& result_;
  std::vector<std::string> words_;
};

const char* format_name(Format format);  // as --to takes it

}  // namespace ounce::decide
