#include "verbs/command.h"

namespace ounce::verbs {

std::vector<Command> add_verbs(CLI::App& parser) {
  return {add_inspect(parser), add_quantize(parser),    add_calibrate(parser), add_verify(parser),
          add_bench(parser),   add_sensitivity(parser), add_tune(parser),      add_advise(parser),
          add_check(parser),   add_contract(parser),    add_copy(parser),      add_publish(parser),
          add_prove(parser),   add_diff(parser),        add_report(parser),    add_unpack(parser),
          add_shadow(parser)};
}

}  // namespace ounce::verbs
