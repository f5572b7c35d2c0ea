#include "verbs/emit_options.h"

#include <fmt/format.h>
#include <ounce/emit.h>

#include "io/output_file.h"
#include "report/table.h"

#include "verbs/report_file.h"

namespace ounce::verbs {

void add_emit_options(Options& options, EmitArguments& arguments) {
  const char* const group = "ONNX Runtime's own format";
  options
      .add_option(
          "--emit", arguments.format,
          "ort: also model.ort, optimised offline by the runtime and loaded again, and the operators that a "
          "reduced build of it needs")
      ->check(any_of({"ort"}))
      ->group(group);
  options
      .add_option("--ort-style", arguments.style,
                  "fixed (all optimisations now, for the CPU), runtime (those for NNAPI and CoreML later)")
      ->check(any_name_of<OrtStyle>())
      ->show_default()
      ->group(group);
}

namespace {

std::filesystem::path ort_of(const std::filesystem::path& model) {
  return std::filesystem::path(model).replace_extension(".ort");
}
std::filesystem::path operators_of(const std::filesystem::path& model) {
  return std::filesystem::path(model).replace_extension(".required_operators.config");
}

}  // namespace

void require_emit_places(const EmitArguments& arguments, const Job& job, const OwnFiles& own) {
  if (arguments.format.empty()) return;
  for (const std::filesystem::path& place : {ort_of(job.output), operators_of(job.output)}) {
    own.require_apart(place);
    io::require_file_or_free(place);  // the folder is the one of the model
  }
}

void emit(const EmitArguments& arguments, const std::filesystem::path& model, const std::string& runtime,
          const std::string& target, const OwnFiles& own, Host& host, Stream out) {
  if (arguments.format.empty()) return;
  EmitOptions options;
  options.library = runtime;
  options.target = target;
  options.style = value_of<OrtStyle>(arguments.style);
  own.require_apart(ort_of(model));
  own.require_apart(operators_of(model));
  const EmitResult result = emit_ort(model, ort_of(model), options);
  host.say(out, plainly("  {}: {}, and {}\n", result.ort.string(), report::bytes_text(result.bytes),
                        result.required_ops.filename().string()));
  if (result.is_decoded)
    host.say(out,
             "  note: the runtime decoded the weights while it optimised, so they are FP32 in the .ort file; "
             "static and dynamic stay small there\n");
}

}  // namespace ounce::verbs
