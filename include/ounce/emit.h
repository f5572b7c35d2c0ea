// Files for apps with a reduced build of ONNX Runtime: a model in ORT format, and the list of required ops.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <ounce/names.h>
#include <ounce/progress.h>

namespace ounce {

// When ONNX Runtime applies the optimizations that depend on the execution provider.
enum class OrtStyle {
  kFixed,    // offline, for the CPU
  kRuntime,  // at load, for NNAPI and CoreML; only provider-independent ones are applied offline
};
template <>
struct NamesOf<OrtStyle> {
  static constexpr Named<OrtStyle> kAll[] = {{OrtStyle::kFixed, "fixed"}, {OrtStyle::kRuntime, "runtime"}};
};

struct EmitOptions {
  std::string library;  // ONNX Runtime: a path or a version; empty: the newest. Older releases may not read
                        // the files that it writes
  std::string target;   // allow optimizations for this CPU: "android-arm64@1.22.0"; empty: for any CPU
  OrtStyle style = OrtStyle::kFixed;
  Progress* progress = nullptr;
};

struct EmitResult {
  std::filesystem::path ort, required_ops;
  std::uint64_t bytes = 0;  // of the .ort file
  bool is_decoded = false;  // compressed weights became FP32 in the .ort file, because ONNX Runtime folded
                            // their dequantization
};

// Optimizes `model` offline with ONNX Runtime, writes it to `output` in ORT format, loads it again, and
// writes the required operators next to it (model.ort → model.required_operators.config). Each file is
// written atomically. Throws Error.
EmitResult emit_ort(const std::filesystem::path& model, const std::filesystem::path& output,
                    const EmitOptions& options);

// Returns the configuration file of a reduced build of ONNX Runtime (--include_ops_by_config of its build
// script): the ops of these models and, if a runtime is installed, those that its optimizers insert.
std::string required_operators(const std::vector<std::filesystem::path>& models, const EmitOptions& options);

// The same, written to a file.
void write_required_operators(const std::vector<std::filesystem::path>& models,
                              const std::filesystem::path& output, const EmitOptions& options);

}  // namespace ounce
