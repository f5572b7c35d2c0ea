// Checks configuration files, together with a command line that has verbs, flags, lists and a nested verb.
#include <string>
#include <vector>

#include "cli/parser.h"
#include "fuzz/memory_file.h"
#include "fuzz/promise.h"
#include "fuzz/targets.h"

namespace ounce::test {
namespace {

struct Arguments {
  std::string to, layout;
  std::vector<std::string> excluded;
  unsigned threads = 0;
  bool is_quiet = false;
};

void declare_quantize(verbs::Options& options, Arguments& arguments) {
  options.add_option("--to", arguments.to, "");
  options.add_option("--exclude", arguments.excluded, "");
  options.add_option("--threads", arguments.threads, "");
  options.add_flag("--quiet", arguments.is_quiet, "");
}

void declare_set(verbs::Options& options, Arguments& arguments) {
  options.add_option("--layout", arguments.layout, "");
}

int run(const Arguments&, verbs::Host&, const verbs::Options&) { return 0; }

constexpr verbs::VerbInfo kQuantize = {
    .name = "quantize", .summary = "", .call = verbs::call_of<Arguments, declare_quantize, run>};
constexpr verbs::VerbInfo kSet = {
    .name = "set", .summary = "", .call = verbs::call_of<Arguments, declare_set, run>};
constexpr const verbs::VerbInfo* kInContract[] = {&kSet};
constexpr verbs::VerbInfo kContract = {.name = "contract", .summary = "", .verbs = kInContract};
constexpr const verbs::VerbInfo* kVerbs[] = {&kQuantize, &kContract};

}  // namespace

void check_config(const std::string& bytes) {
  const MemoryFile file(bytes);
  cli::Parser parser(kVerbs, {});
  try {
    std::vector<std::string> arguments = {"quantize", file.path().string(),
                                          "--config"};  // CLI11 wants them reversed
    parser.app().parse(arguments);
  } catch (const CLI::ParseError&) {  // an invalid value of an option
  } catch (const Error& error) {
    promise(error.code() == ErrorCode::kUsage, "a bad configuration file was not reported as bad usage");
    promise(std::string_view(error.what()).find('\n') == std::string_view::npos,
            "a message has more than one line");
  }
}

}  // namespace ounce::test
