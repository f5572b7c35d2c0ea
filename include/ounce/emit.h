// What apps with a smaller runtime need: a model in ONNX Runtime's own format, and the list of ops that its
// reduced build has to have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <ounce/names.h>
#include <ounce/progress.h>

namespace ounce {

// When the optimisations happen that depend on who computes what.
enum class OrtStyle {
  kFixed,    // now: for the CPU
  kRuntime,  // only what is good everywhere now, the rest recorded for later: for NNAPI and CoreML
};
template <>
struct NamesOf<OrtStyle> {
  static constexpr Named<OrtStyle> kAll[] = {{OrtStyle::kFixed, "fixed"}, {OrtStyle::kRuntime, "runtime"}};
};

struct EmitOptions {
  std::string library;  // ONNX Runtime: a path or a version; empty: the newest. Older ones may not read what
                        // it writes
  std::string target;   // whose instructions may be counted on: "android-arm64@1.22.0"; empty: nobody's
  OrtStyle style = OrtStyle::kFixed;
  Progress* progress = nullptr;
};

struct EmitResult {
  std::filesystem::path ort, required_ops;
  std::uint64_t bytes = 0;  // of the .ort file
  bool is_decoded =
      false;  // weights that are stored small are FP32 in it: the runtime folds what decodes them
};

// Writes `output` by the runtime's own offline optimisation, loads it again, and puts the required operators
// beside it (model.ort → model.required_operators.config). Each file appears whole or not at all. Throws
// Error.
EmitResult emit_ort(const std::filesystem::path& model, const std::filesystem::path& output,
                    const EmitOptions& options);

// The config file of a reduced build (--include_ops_by_config) for all of these models: the ops they name,
// and those that the runtime's optimisers put in, if there is a runtime.
std::string required_operators(const std::vector<std::filesystem::path>& models, const EmitOptions& options);

// The same, written to a file.
void write_required_operators(const std::vector<std::filesystem::path>& models,
                              const std::filesystem::path& output, const EmitOptions& options);

}  // namespace ounce
