#include "runtime/executor.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <array>

#include "runtime/local_executors.h"
#ifndef OUNCE_DEVICE_RUNTIMES
#endif

namespace ounce::runtime {
namespace {

using model::ModelKind;

// A runtime that executes models of one kind.
struct Runtime {
  ModelKind kind;
  std::string (*open_library)(const std::filesystem::path& library);
  std::unique_ptr<LocalExecutor> (*load)(const LoadRequest& request);
  ModelFiles (*files)(const std::filesystem::path& model, const LoadSettings& settings);
};

constexpr std::array kRuntimes = {
    Runtime{ModelKind::kOnnx, open_ort, load_in_ort, files_for_ort},
    Runtime{ModelKind::kTflite, open_litert, load_in_litert, files_for_litert},
#ifndef OUNCE_DEVICE_RUNTIMES  // the app library and the runner for other CPUs do not contain the evaluator
    Runtime{ModelKind::kCoreml, open_evaluator, load_in_evaluator, files_for_evaluator},
#endif
};

const Runtime* find_runtime(ModelKind kind) {
  for (const Runtime& row : kRuntimes) {
    if (row.kind == kind) return &row;
  }
  return nullptr;
}

const Runtime& runtime_for(ModelKind kind, const std::string& model) {
  if (const Runtime* found = find_runtime(kind)) return *found;
  throw Error(ErrorCode::kUnsupported, fmt::format("Ounce cannot run {} models", name_of(kind)), model);
}

}  // namespace

std::string open_library(ModelKind kind, const std::filesystem::path& library) {
  return runtime_for(kind, library.string()).open_library(library);
}

std::unique_ptr<LocalExecutor> load_here(const LoadRequest& request) {
  return runtime_for(request.kind, request.model).load(request);
}

ModelKind kind_to_run(const std::filesystem::path& model) {
  // Files of unknown kind are given to ONNX Runtime: ONNX models, its ORT format, or files without an
  // extension.
  const ModelKind kind = model::detect(model).value_or(ModelKind::kOnnx);
  runtime_for(kind, model.string());
  return kind;
}

ModelFiles files_of(ModelKind kind, const std::filesystem::path& model, const LoadSettings& settings) {
  return runtime_for(kind, model.string()).files(model, settings);
}

}  // namespace ounce::runtime
