#include <fmt/format.h>
#include <ounce/copy.h>
#include <ounce/error.h>

#include <cstdio>
#include <memory>

#include "report/table.h"
#include "verbs/model_list.h"
#include "verbs/recipe_options.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

namespace ounce::verbs {
namespace copy_verb {

struct Arguments {
  std::string model, output, external_data = "auto", runtime;
  EmitArguments emit;
  bool json = false;
};

int run(const Arguments& arguments, Host& host, const Options& verb) {
  const OwnFiles own = OwnFiles::of(verb);
  const std::filesystem::path path = one_model(arguments.model);
  const ModelFile model{path, path.filename()};
  const Job job = assign_outputs({model}, arguments.output, {}).jobs.front();
  own.require_apart(job.output);
  job.require_place();
  require_emit_places(arguments.emit, job, own);
  job.make_folder();
  const ExternalData external_data = value_of<ExternalData>(arguments.external_data);
  const CopyResult result =
      named(model.path, [&] { return copy_model(model.path, job.output, external_data); });
  const Stream human = for_people(arguments.json);
  host.say(human, safe_format("{}: {}\n", job.output.string(), report::bytes_text(result.bytes_after)));
  emit(arguments.emit, job.output, arguments.runtime, "", own, host, human);
  if (arguments.json) print_document(results::Document("copy").add(result), verb, host);
  return 0;
}

void declare(Options& options, Arguments& arguments) {
  options.add_option("model", arguments.model, "the model")->required();
  options.add_option("-o,--output", arguments.output, "file or folder for the copy")->required();
  options.add_option("--external-data", arguments.external_data, "auto (an identical copy), always, never")
      ->check(any_name_of<ExternalData>())
      ->show_default();
  options.add_flag("--json", arguments.json, "print one JSON document on stdout");
  add_emit_options(options, arguments.emit);
  options.add_option("--runtime", arguments.runtime,
                     "ONNX Runtime for --emit: a library's path, or a version");
}

constexpr std::string_view kExamples[] = {"ounce copy model.onnx -o packed.onnx --external-data never"};

}  // namespace copy_verb

extern constinit const VerbInfo kCopy = {
    .name = "copy",
    .summary = "read, check and write a model without changing a number; packs external data in or out",
    .examples = copy_verb::kExamples,
    .call = call_of<copy_verb::Arguments, copy_verb::declare, copy_verb::run>,
    .result = "CopyResult",
};

}  // namespace ounce::verbs
