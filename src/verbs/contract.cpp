#include <fmt/format.h>
#include <ounce/contract.h>
#include <ounce/error.h>
#include <ounce/runtime.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "report/recipe_command.h"
#include "verbs/data_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/runtime_options.h"
#include "verbs/verb.h"

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

// "verb.npy", or "INPUT=verb.npy".
std::map<std::string, std::filesystem::path> dumps_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::filesystem::path> dumps;
  for (const std::string& text : texts) {
    const std::size_t equals = std::filesystem::exists(text) ? std::string::npos : text.find('=');
    const std::string input = equals == std::string::npos ? "" : text.substr(0, equals);
    if (!dumps.emplace(input, equals == std::string::npos ? text : text.substr(equals + 1)).second)
      throw Error(ErrorCode::kUsage, "several `--dump` need names: `--dump` INPUT=FILE");
  }
  return dumps;
}

int set(Arguments& arguments, Host& host, const Options& verb) {
  arguments.model = one_model(arguments.model).string();
  OwnFiles::of(verb, arguments.data.contract.file).require_apart(arguments.output);
  const std::optional<Contract> wanted = contract_from(arguments.data.contract);
  if (!wanted) {
    throw Error(ErrorCode::kUsage,
                "say what the contract is: with `--contract` FILE or with options such as `--rescale 1/255`");
  }
  const DataOptions data = data_options_of(arguments.data, host.given);
  const RuntimeOptions runtime = runtime_options_of(arguments.runtime);
  const Contract written = named(arguments.model, [&] {
    return set_contract(arguments.model, arguments.output, *wanted, data.is_generated() ? nullptr : &data,
                        runtime);
  });
  host.say(Stream::kResults, safe_format("{}\n", arguments.output));
  host.say_json(to_json(written) + "\n");
  return 0;
}

int show(Arguments& arguments, Host& host, const Options&) {
  arguments.model = one_model(arguments.model).string();
  const std::optional<Contract> contract = contract_of(arguments.model);
  if (!contract)
    throw Error(ErrorCode::kBadInput, "has no contract; `set_contract()` gives it one", arguments.model);
  host.say_json(to_json(*contract) + "\n");
  return 0;
}

int check(Arguments& arguments, Host& host, const Options& verb) {
  arguments.model = one_model(arguments.model).string();
  const DataOptions data = data_options_of(arguments.data, host.given);
  if (data.is_generated()) throw Error(ErrorCode::kUsage, "give the data to check: `--data`");
  const RuntimeOptions runtime = runtime_options_of(arguments.runtime);
  const ContractCheck result = named(arguments.model, [&] {
    return check_contract(arguments.model, data, runtime, nullptr, dumps_of(arguments.dumps));
  });
  const Stream human = for_people(arguments.json);
  for (const std::string& finding : result.findings)
    host.say(human, safe_format("{}\n", report::with_options(finding)));
  host.say(human, safe_format("{}: {} samples\n", result.passed ? "passed" : "failed", result.samples));
  if (arguments.json)
    print_document(results::Document("contract check").add(results::CheckedContract{arguments.model, result}),
                   verb, host);
  return result.passed ? 0 : kGateExit;
}

void declare_set(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.model, "a model")->required();
  options.add_option("-o,--output", arguments.output, "the model with the contract")->required();
  add_data_options(options, arguments.data, /*with_contract=*/true, "default: none, and no golden sample");
  add_runtime_options(options, arguments.runtime);
}

void declare_show(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.model, "a model")->required();
}

void declare_check(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.model, "a model")->required();
  add_data_options(options, arguments.data, /*with_contract=*/false, kDataRequired);
  add_runtime_options(options, arguments.runtime);
  options
      .add_option(
          "--dump", arguments.dumps,
          "the floats that your app gave its model for the same samples: a .npy or raw float32 file, or "
          "INPUT=FILE (repeatable)")
      ->one_at_a_time();
  options.add_flag("--json", arguments.json, "print one JSON document on stdout");
}

constexpr std::string_view kSetEveryday[] = {"--output", "--kind", "--size", "--layout", "--rescale",
                                             "--mean",   "--std",  "--rate", "--length"};
constexpr std::string_view kSetExamples[] = {
    "ounce contract set model.onnx -o ready.onnx --rate 8000 --length 8000 --rescale 1/32768"};

constexpr VerbInfo kSet = {
    .name = "set",
    .summary = "write the model with a contract; with --data also what data looks like, and a golden sample",
    .everyday = kSetEveryday,
    .examples = kSetExamples,
    .call = call_of<Arguments, declare_set, set>,
    .result = "ContractResult"};
constexpr VerbInfo kShow = {.name = "show",
                            .summary = "print a model's contract",
                            .call = call_of<Arguments, declare_show, show>,
                            .result = "ContractResult"};
constexpr VerbInfo kCheck = {.name = "check",
                             .summary = "is this data what the contract says? exit 1 if not",
                             .call = call_of<Arguments, declare_check, check>,
                             .result = "ContractCheckResult"};
constexpr const VerbInfo* kInside[] = {&kSet, &kShow, &kCheck};

}  // namespace contract_verb

extern constinit const VerbInfo kContract = {
    .name = "contract",
    .summary = "how raw data becomes what the model takes, kept in the model and checked",
    .verbs = contract_verb::kInside};

}  // namespace ounce::verbs
