// Models as ONNX Runtime stores them once it has optimised them: in its own format, the only one that its
// minimal builds read, or in ONNX, to see what it has made of a model.
//
//   write_ort("model.onnx", "model.ort", {.library = "1.22.0", .style = OrtStyle::kRuntime});
//
// A file appears whole, or not at all.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/ort/session.h"

namespace ounce::runtime {

// When the optimisations happen that depend on who computes what.
enum class OrtStyle {
  kFixed,    // now: for the CPU
  kRuntime,  // only what is good everywhere now, the others recorded for later: for NNAPI and CoreML
};

// Whose instructions the optimised model may count on.
enum class OrtMachine { kAny, kArm, kX64 };

struct OrtOptions {
  std::string library;  // a path or a version; empty: the newest. The format grows with it: 1.30 may write
                        // what 1.17 does not read
  Optimization optimization = Optimization::kAll;
  OrtStyle style = OrtStyle::kFixed;
  OrtMachine machine = OrtMachine::kAny;
};

// External data becomes part of the file, and the file takes its place only after the runtime has loaded it
// again. Throws what Library::find and Session throw for a model that does not load at all,
// Error{kUnsupported} with the runtime's own words for one that loads and cannot be written (more than 2 GiB,
// say), Error{kIo} where the disk says no, Error{kUsage} when `output` is the model itself.
void write_ort(const std::filesystem::path& model, const std::filesystem::path& output,
               const OrtOptions& options = {});

// The same in ONNX's format, for a look at the ops that the runtime puts in: with kRuntime those that are
// there when a minimal build has done what it can. The same errors, but the file is not loaded again:
// external data stays where it is, and is found only if `output` stands beside the model.
void write_optimized(const std::filesystem::path& model, const std::filesystem::path& output,
                     const OrtOptions& options = {});

}  // namespace ounce::runtime
