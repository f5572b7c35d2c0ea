// Writes models that ONNX Runtime has optimized: in its own format (.ort), the only one that its minimal
// builds read, or as ONNX, to inspect the optimizations.
//
//   write_ort("model.onnx", "model.ort", {.library = "1.22.0", .style = OrtStyle::kRuntime});
//
// Files are written atomically.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/ort/session.h"

namespace ounce::runtime {

// When to apply optimizations that depend on the execution provider.
enum class OrtStyle {
  kFixed,    // now, for the CPU
  kRuntime,  // provider-independent ones now, others when the model is loaded: for NNAPI and CoreML
};

// The CPU architecture that the optimized model may depend on.
enum class OrtMachine { kAny, kArm, kX64 };

struct OrtOptions {
  std::string
      library;  // a path or a version; empty: the newest. Older releases may not read the files of newer ones
  Optimization optimization = Optimization::kAll;
  OrtStyle style = OrtStyle::kFixed;
  OrtMachine machine = OrtMachine::kAny;
};

// Writes a model as .ort, with its external data inside. The file replaces `output` only after the runtime
// has loaded it. Throws the errors of Library::find() and Session for a model that does not load,
// Error{kUnsupported} with the runtime's message if it cannot be written (for example if it exceeds 2 GiB),
// Error{kIo} for disk errors, Error{kUsage} if `output` is the model itself.
void write_ort(const std::filesystem::path& model, const std::filesystem::path& output,
               const OrtOptions& options = {});

// Writes the optimized model as ONNX, to inspect the ops that the runtime inserts; with kRuntime those after
// the optimizations of a minimal build. Throws the same errors. The file is not loaded again. It refers to
// the model's external data, which is found only if `output` is in the model's folder.
void write_optimized(const std::filesystem::path& model, const std::filesystem::path& output,
                     const OrtOptions& options = {});

}  // namespace ounce::runtime
