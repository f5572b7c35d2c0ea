// The verbs, one file each. A verb adds its options to the parser and names what runs when it is chosen;
// `run` gives the exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <vector>

#include "verbs/host.h"

namespace ounce::verbs {

struct Command {
  CLI::App* app = nullptr;
  std::function<int(Host&)> run;
};

// All of them, in the order of the help.
std::vector<Command> add_verbs(CLI::App& parser);

Command add_inspect(CLI::App& parser);
Command add_quantize(CLI::App& parser);
Command add_calibrate(CLI::App& parser);
Command add_sensitivity(CLI::App& parser);
Command add_tune(CLI::App& parser);
Command add_verify(CLI::App& parser);
Command add_bench(CLI::App& parser);
Command add_advise(CLI::App& parser);
Command add_check(CLI::App& parser);
Command add_contract(CLI::App& parser);
Command add_copy(CLI::App& parser);
Command add_prove(CLI::App& parser);
Command add_diff(CLI::App& parser);
Command add_publish(CLI::App& parser);
Command add_report(CLI::App& parser);
Command add_unpack(CLI::App& parser);
Command add_shadow(CLI::App& parser);

}  // namespace ounce::verbs
