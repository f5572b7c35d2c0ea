// Files of options, read beside a command line with verbs, flags, lists and a verb of a verb.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "fuzz/memory_file.h"
#include "fuzz/promise.h"
#include "fuzz/targets.h"
#include "verbs/config_file.h"

namespace ounce::test {

void check_config(const std::string& bytes) {
  const MemoryFile file(bytes);
  CLI::App parser("ounce");
  std::string to, layout;
  std::vector<std::string> excluded;
  int threads = 0;
  bool is_quiet = false;
  CLI::App* quantize = parser.add_subcommand("quantize");
  quantize->add_option("--to", to);
  quantize->add_option("--exclude", excluded);
  quantize->add_option("--threads", threads);
  quantize->add_flag("--quiet", is_quiet);
  parser.add_subcommand("contract")->add_subcommand("set")->add_option("--layout", layout);
  verbs::add_config_option(parser);
  try {
    std::vector<std::string> arguments = {"quantize", file.path().string(),
                                          "--config"};  // CLI11 wants them reversed
    parser.parse(arguments);
  } catch (const CLI::ParseError&) {  // a value that the option does not take
  } catch (const Error& error) {
    promise(error.code() == ErrorCode::kUsage, "a bad file of options was not called bad usage");
    promise(std::string_view(error.what()).find('\n') == std::string_view::npos,
            "a message has more than one line");
  }
}

}  // namespace ounce::test
