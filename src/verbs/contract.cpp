#include <fmt/format.h>
#include <ounce/data.h>
#include <ounce/error.h>
#include <ounce/runtime.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "report/recipe_command.h"
#include "verbs/common_options.h"
#include "verbs/model_list.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace contract_verb {

constexpr int kGateExit = 1;

struct Arguments {
  std::string model, output;
  DataOptions data;
  RuntimeOptions runtime;
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
      throw Error(ErrorCode::kUsage, "several `--dump` options need input names: `--dump` INPUT=FILE");
  }
  return dumps;
}

int set(Arguments& arguments, Host& host, const Options& verb) {
  arguments.model = one_model(arguments.model).string();
  OwnFiles::of(verb).require_apart(arguments.output);
  DataOptions& data = arguments.data;
  use_given(data, host.given);
  if (!data.contract) {
    throw Error(ErrorCode::kUsage,
                "no preprocessing is given: use `--preprocess` FILE, or options such as `--rescale 1/255`");
  }
  const Contract written = named(arguments.model, [&] {
    return set_contract(arguments.model, arguments.output, *data.contract,
                        data.is_generated() ? nullptr : &data, arguments.runtime);
  });
  host.say(Stream::kResults, safe_format("{}\n", arguments.output));
  host.say_json(to_json(written) + "\n");
  // stdout has the metadata alone.
  deliver(results::Document("contract set"), /*is_printed=*/false, verb, host, Stream::kMessages);
  return 0;
}

int show(Arguments& arguments, Host& host, const Options&) {
  arguments.model = one_model(arguments.model).string();
  const std::optional<Contract> contract = contract_of(arguments.model);
  if (!contract)
    throw Error(ErrorCode::kBadInput, "the model has no contract; add one with `set_contract()`",
                arguments.model);
  host.say_json(to_json(*contract) + "\n");
  return 0;
}

int check(Arguments& arguments, Host& host, const Options& verb) {
  arguments.model = one_model(arguments.model).string();
  use_given(arguments.data, host.given);
  if (arguments.data.is_generated())
    throw Error(ErrorCode::kUsage, "no data to check: give it with `--data`");
  const ContractCheck result = named(arguments.model, [&] {
    return check_contract(arguments.model, arguments.data, arguments.runtime, nullptr,
                          dumps_of(arguments.dumps));
  });
  const Stream human = for_people(arguments.json);
  for (const std::string& finding : result.findings)
    host.say(human, safe_format("{}\n", report::with_options(finding)));
  host.say(human, safe_format("{}: {} samples\n", result.passed ? "passed" : "failed", result.samples));
  deliver(results::Document("contract check").add(results::CheckedContract{arguments.model, result}),
          arguments.json, verb, host);
  return result.passed ? 0 : kGateExit;
}

void declare_set(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.model, "The model")->required();
  options.add_option("-o,--output", arguments.output, "Write the model with its metadata to this file")
      ->type_name("FILE")
      ->required();
  add_data_options(options, arguments.data, /*with_contract=*/true,
                   "default: none, so neither value ranges nor a golden sample are stored");
  add_runtime_options(options, arguments.runtime);
}

void declare_show(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.model, "The model")->required();
}

void declare_check(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.model, "The model")->required();
  add_data_options(options, arguments.data, /*with_contract=*/false, kDataRequired);
  add_runtime_options(options, arguments.runtime);
  options
      .add_option(
          "--dump", arguments.dumps,
          "Compare with the model input that your app computed for the same samples: a .npy or raw float32 "
          "file, or INPUT=FILE (repeatable)")
      ->one_at_a_time();
  add_json_option(options, arguments.json);
}

constexpr std::string_view kSetEveryday[] = {"--output", "--kind", "--size", "--layout", "--rescale",
                                             "--mean",   "--std",  "--rate", "--length"};
constexpr std::string_view kSetExamples[] = {
    "ounce contract set model.onnx -o ready.onnx --rate 8000 --length 8000 --rescale 1/32768"};

constexpr VerbInfo kSet = {
    .name = "set",
    .summary =
        "Store preprocessing metadata in a model, and with --data also value ranges and a golden sample",
    .everyday = kSetEveryday,
    .examples = kSetExamples,
    .call = call_of<Arguments, declare_set, set>,
    .result = "ContractResult"};
constexpr VerbInfo kShow = {.name = "show",
                            .summary = "Print the preprocessing metadata of a model",
                            .call = call_of<Arguments, declare_show, show>,
                            .result = "ContractResult"};
constexpr VerbInfo kCheck = {
    .name = "check",
    .summary = "Check data against the preprocessing metadata (exit code 1: mismatch)",
    .call = call_of<Arguments, declare_check, check>,
    .result = "ContractCheckResult"};
constexpr const VerbInfo* kInside[] = {&kSet, &kShow, &kCheck};

}  // namespace contract_verb

extern constinit const VerbInfo kContract = {
    .name = "contract",
    .summary = "Store, print or check preprocessing metadata: how raw data becomes model input",
    .verbs = contract_verb::kInside};

}  // namespace ounce::verbs
