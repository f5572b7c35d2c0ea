#include <fmt/format.h>
#include <ounce/contract.h>
#include <ounce/error.h>
#include <ounce/runtime.h>

#include <nlohmann/json.hpp>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "report/json.h"
#include "report/option_words.h"
#include "verbs/command.h"
#include "verbs/data_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/runtime_options.h"

namespace ounce::verbs {
namespace contract_verb {

constexpr int kGateExit = 1;

struct Arguments {
  std::string model, output;
  DataArguments data;
  RuntimeArguments runtime;
  std::vector<std::string> dumps;
  bool json = false;
};

// "app.npy", or "INPUT=app.npy".
std::map<std::string, std::filesystem::path> dumps_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::filesystem::path> dumps;
  for (const std::string& text : texts) {
    const std::size_t equals = std::filesystem::exists(text) ? std::string::npos : text.find('=');
    const std::string input = equals == std::string::npos ? "" : text.substr(0, equals);
    if (!dumps.emplace(input, equals == std::string::npos ? text : text.substr(equals + 1)).second)
      throw Error(ErrorCode::kUsage, "several --dump need names: --dump INPUT=FILE");
  }
  return dumps;
}

int set(const Arguments& arguments, Host& host, const OwnFiles& own) {
  own.require_apart(arguments.output);
  const std::optional<Contract> wanted = contract_from(arguments.data.contract);
  if (!wanted) {
    throw Error(ErrorCode::kUsage,
                "say what the contract is: with --contract FILE or with options such as --rescale 1/255");
  }
  const DataOptions data = data_options_of(arguments.data, host.given);
  const RuntimeOptions runtime = runtime_options_of(arguments.runtime);
  const Contract written = named(arguments.model, [&] {
    return set_contract(arguments.model, arguments.output, *wanted, data.is_generated() ? nullptr : &data,
                        runtime);
  });
  host.say(Stream::kResults, plainly("{}\n", arguments.output));
  host.say_json(to_json(written) + "\n");
  return 0;
}

int show(const Arguments& arguments, Host& host) {
  const std::optional<Contract> contract = contract_of(arguments.model);
  if (!contract)
    throw Error(ErrorCode::kBadInput, "has no contract; `set_contract()` gives it one", arguments.model);
  host.say_json(to_json(*contract) + "\n");
  return 0;
}

int check(const Arguments& arguments, Host& host) {
  const DataOptions data = data_options_of(arguments.data, host.given);
  if (data.is_generated()) throw Error(ErrorCode::kUsage, "give the data to check: --data");
  const RuntimeOptions runtime = runtime_options_of(arguments.runtime);
  const ContractCheck result = named(arguments.model, [&] {
    return check_contract(arguments.model, data, runtime, nullptr, dumps_of(arguments.dumps));
  });
  const Stream human = for_people(arguments.json);
  for (const std::string& finding : result.findings)
    host.say(human, plainly("{}\n", report::with_options(finding)));
  host.say(human, plainly("{}: {} samples\n", result.passed ? "passed" : "failed", result.samples));
  if (arguments.json) {
    nlohmann::ordered_json json;
    json["schema_version"] = report::kSchemaVersion;
    json["verb"] = "contract check";
    json["model"] = arguments.model;
    json["passed"] = result.passed;
    json["samples"] = result.samples;
    json["findings"] = report::with_options(result.findings);
    host.say_json(report::dump(json));
  }
  return result.passed ? 0 : kGateExit;
}

}  // namespace contract_verb

Command add_contract(CLI::App& parser) {
  using namespace contract_verb;
  auto arguments = std::make_shared<Arguments>();
  CLI::App* app = parser.add_subcommand(
      "contract", "how raw data becomes what the model takes, kept in the model and checked");
  app->require_subcommand(1);
  CLI::App* setting = app->add_subcommand(
      "set", "write the model with a contract; with --data also what data looks like, and a golden sample");
  CLI::App* showing = app->add_subcommand("show", "print a model's contract");
  CLI::App* checking = app->add_subcommand("check", "is this data what the contract says? exit 1 if not");
  for (CLI::App* verb : {setting, showing, checking})
    verb->add_option("model", arguments->model, "a model")->required();
  setting->add_option("-o,--output", arguments->output, "the model with the contract")->required();
  for (CLI::App* verb : {setting, checking}) {
    add_data_options(*verb, arguments->data, /*with_contract=*/verb == setting,
                     verb == setting ? "default: none, and no golden sample" : kDataRequired);
    add_runtime_options(*verb, arguments->runtime);
  }
  checking
      ->add_option(
          "--dump", arguments->dumps,
          "the floats that your app gave its model for the same samples: a .npy or raw float32 file, or "
          "INPUT=FILE (repeatable)")
      ->allow_extra_args(false);
  checking->add_flag("--json", arguments->json, "print one JSON document on stdout");
  return {app, [arguments, app, setting, showing](Host& host) {
            arguments->model = one_model(arguments->model).string();
            if (setting->parsed())
              return set(*arguments, host, OwnFiles::of(*app, arguments->data.contract.file));
            return showing->parsed() ? show(*arguments, host) : check(*arguments, host);
          }};
}

}  // namespace ounce::verbs
