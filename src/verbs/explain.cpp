#include <fmt/format.h>
#include <ounce/error.h>

#include "report/messages.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace explain_verb {

struct Arguments {
  std::string code;
  bool json = false;
};

results::ExplainedMessage explained(const report::Message& message) {
  return {std::string(message.id), std::string(message.title), report::with_options(message.cause),
          report::with_options(message.consequence), report::with_options(message.fix)};
}

int run(const Arguments& arguments, Host& host, const Options& verb) {
  results::Document document("explain");
  const Stream human = for_people(arguments.json);
  if (arguments.code.empty()) {
    for (const report::Message& message : report::all_messages()) document.add(explained(message));
    host.say(human, report::explain_list());
  } else {
    const report::Message* const message = report::find_message(arguments.code);
    if (message == nullptr)
      throw Error(
          ErrorCode::kUsage,
          fmt::format("no message has the code '{}'; 'ounce explain' lists all of them", arguments.code));
    document.add(explained(*message));
    host.say(human, report::explain_text(*message));
  }
  deliver(document, arguments.json, verb, host);
  return 0;
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("code", arguments.code,
                     "The code of a note or an error, such as OUN101 (default: list all)");
  add_json_option(options, arguments.json);
}

constexpr std::string_view kExamples[] = {"ounce explain OUN101", "ounce explain"};

}  // namespace explain_verb

extern constinit const VerbInfo kExplain = {
    .name = "explain",
    .summary = "Explain the code of a note or an error: cause, consequence and fix",
    .examples = explain_verb::kExamples,
    .call = call_of<explain_verb::Arguments, explain_verb::declare, explain_verb::run>,
    .result = "ExplainResult",
};

}  // namespace ounce::verbs
