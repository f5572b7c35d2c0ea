#include "verbs/emit_options.h"

#include <fmt/format.h>
#include <ounce/emit.h>

#include "report/table.h"
#include "verbs/names_of.h"

namespace ounce::verbs {

void add_emit_options(CLI::App& app, EmitArguments& arguments) {
  const char* const group = "ONNX Runtime's own format";
  app.add_option(
         "--emit", arguments.format,
         "ort: also model.ort, optimised offline by the runtime and loaded again, and the operators that a "
         "reduced build of it needs")
      ->check(CLI::IsMember({"ort"}))
      ->group(group);
  app.add_option("--ort-style", arguments.style,
                 "fixed (all optimisations now, for the CPU), runtime (those for NNAPI and CoreML later)")
      ->check(any_name_of<OrtStyle>())
      ->capture_default_str()
      ->group(group);
}

void emit(const EmitArguments& arguments, const std::filesystem::path& model, const std::string& runtime,
          const std::string& target, const OwnFiles& own, Host& host, Stream out) {
  if (arguments.format.empty()) return;
  EmitOptions options;
  options.library = runtime;
  options.target = target;
  options.style = value_of<OrtStyle>(arguments.style);
  const std::filesystem::path output = std::filesystem::path(model).replace_extension(".ort");
  own.require_apart(output);
  own.require_apart(std::filesystem::path(model).replace_extension(".required_operators.config"));
  const EmitResult result = emit_ort(model, output, options);
  host.say(out, plainly("  {}: {}, and {}\n", result.ort.string(), report::bytes_text(result.bytes),
                        result.required_ops.filename().string()));
  if (result.is_decoded)
    host.say(out,
             "  note: the runtime decoded the weights while it optimised, so they are FP32 in the .ort file; "
             "static and dynamic stay small there\n");
}

}  // namespace ounce::verbs
