// Files of options, read beside a command line.
#include <fmt/format.h>

#include <vector>

#include "cli/parser.h"
#include "fuzz/memory_file.h"
#include "fuzz/promise.h"
#include "fuzz/targets.h"

namespace ounce::test {

void check_config(const std::string& bytes) {
  const MemoryFile file(bytes);
  cli::Parser parser(verbs::all_verbs(), {});
  try {
    std::vector<std::string> arguments = {"m.onnx", "quantize", file.path().string(),
                                          "--config"};  // CLI11 wants them reversed
    parser.app().parse(arguments);
  } catch (const CLI::ParseError&) {  // a value that the option does not take
  } catch (const Error& error) {
    promise(error.code() == ErrorCode::kUsage, "a bad file of options was not called bad usage");
    promise(std::string_view(error.what()).find('\n') == std::string_view::npos,
            "a message has more than one line");
  }
}

}  // namespace ounce::test
