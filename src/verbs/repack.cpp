#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/model.h>

#include <cstdio>
#include <memory>

#include "report/table.h"
#include "verbs/common_options.h"
#include "verbs/model_list.h"
#include "verbs/recipe_options.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace repack_verb {

struct Arguments {
  std::string model, output;
  CopyOptions options;
  EmitArguments emit;
  bool json = false;
};

int run(Arguments& arguments, Host& host, const Options& verb) {
  const OwnFiles own = OwnFiles::of(verb);
  const std::filesystem::path path = one_model(arguments.model);
  const ModelFile model{path, path.filename()};
  const Job job = assign_outputs({model}, arguments.output, {}).jobs.front();
  own.require_apart(job.output);
  job.require_place();
  require_emit_places(arguments.emit, job, own);
  job.make_folder();
  const CopyResult result =
      named(model.path, [&] { return copy_model(model.path, job.output, arguments.options); });
  const Stream human = for_people(arguments.json);
  host.say(human, safe_format("{}: {}\n", job.output.string(), report::bytes_text(result.bytes_after)));
  for (const std::string& port : result.ports) host.say(human, safe_format("  {}\n", port));
  emit(arguments.emit, job.output, own, host, human);
  deliver(results::Document("repack").add(result), arguments.json, verb, host);
  return 0;
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.model, "The model")->required();
  options.add_option("-o,--output", arguments.output, "Write the copy to this file or folder")
      ->type_name("FILE")
      ->required();
  options
      .add_option("--external-data", arguments.options.external_data,
                  "Store weights in a separate file: auto (as in the model), always, never")
      ->show_default();
  add_shape_option(
      options, arguments.options.shape,
      "Write a model with fixed shapes, as NNAPI and QNN need: set the length of a dynamic axis");
  add_json_option(options, arguments.json);
  add_emit_options(options, arguments.emit);
  options.add_option("--runtime", arguments.emit.options.library,
                     "Use this ONNX Runtime for --emit: the path of a library, or a version");
}

constexpr std::string_view kAliases[] = {"copy"};
constexpr std::string_view kExamples[] = {"ounce repack model.onnx -o packed.onnx --external-data never",
                                          "ounce repack model.onnx -o fixed.onnx --shape N=1"};

}  // namespace repack_verb

extern constinit const VerbInfo kRepack = {
    .name = "repack",
    .summary =
        "Check and rewrite a model without changing its values; merge or split external weights, fix shapes",
    .aliases = repack_verb::kAliases,
    .examples = repack_verb::kExamples,
    .call = call_of<repack_verb::Arguments, repack_verb::declare, repack_verb::run>,
    .result = "CopyResult",
};

}  // namespace ounce::verbs
