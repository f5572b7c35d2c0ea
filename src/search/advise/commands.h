// Command lines to paste: with the model and the data as the user named them, quoted for a shell.
#pragma once

#include <ounce/advise.h>

#include <filesystem>
#include <string>

namespace ounce::search {

class CommandWriter {
 public:
  CommandWriter(const AdviseOptions& options, const AdviseResult& result);

  std::string quantize(Format format) const;
  std::string tune() const;
  std::string verify_tuned() const;
  std::string verify(Format format) const;

 private:
  enum class Part { kAll, kCalibrating, kJudging };
  std::string data(bool with_labels, Part part) const;
  std::string runtime() const;
  std::string gates() const;
  std::string target() const;

  const AdviseOptions& options_;
  const AdviseResult& result_;
  std::vector<std::string> words_;
};

}  // namespace ounce::search
