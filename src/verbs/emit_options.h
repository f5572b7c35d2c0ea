// --emit ort: the model in ONNX Runtime's own format beside the one that was written.
#pragma once

#include <filesystem>
#include <string>

#include "verbs/host.h"
#include "verbs/model_list.h"
#include "verbs/options.h"
#include "verbs/report_file.h"

namespace ounce::verbs {

struct EmitArguments {
  std::string format, style = "fixed";
};

void add_emit_options(Options& options, EmitArguments& arguments);

// Checks before the work that what is asked for can be written beside the job's output. Throws Error.
void require_emit_places(const EmitArguments& arguments, const Job& job, const OwnFiles& own);

// Writes it if it was asked for, and says so on `out`.
void emit(const EmitArguments& arguments, const std::filesystem::path& model, const std::string& runtime,
          const std::string& target, const OwnFiles& own, Host& host, Stream out);

}  // namespace ounce::verbs
