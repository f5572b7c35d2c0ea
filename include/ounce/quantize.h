// Makes a model smaller and proves that what was written is what was meant.
//
//   ounce::QuantizeResult result = ounce::quantize("model.onnx", "model.w8.onnx", {});
//   // result.sqnr_db: how close the decoded weights are to the original ones
//
// The output appears only after it has been reopened, verified and compared with the source; on any failure
// nothing is left behind and a file that stood there is untouched. Throws ounce::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <ounce/bench.h>
#include <ounce/cpus.h>
#include <ounce/data.h>
#include <ounce/load_memory.h>
#include <ounce/outcome.h>
#include <ounce/pictures.h>
#include <ounce/progress.h>
#include <ounce/recipe.h>
#include <ounce/runtime.h>

namespace ounce {

// Before the result gets its name it is loaded in ONNX Runtime, in a process of its own, and compared with
// the original: on data if there is any, else on made-up inputs.
struct TrialOptions {
  bool is_wanted = true;
  RuntimeOptions runtime;
  DataOptions data;
  std::uint64_t samples = 32;  // of the data, at most
  // The outputs that a search for the best calibration looks at; empty: all. The trial itself runs all of
  // them.
  std::vector<std::string> outputs = {};
  // Other CPUs to run it on as well (ounce/cpus.h): for integer arithmetic, which is not the same everywhere.
  std::vector<std::string> cpus = {};
  // Static and dynamic INT8: the result is timed against the original, and one that is clearly slower (by 5 %
  // and .05 ms a call) is not written (see allow_slower). MemoryUse::kBalanced: a result that is slower than
  // decode_share promised is made again with less of it, so that its bytes depend on the machine.
  bool is_timed = true;
  // Write an INT8 model that is slower than the original on this CPU. A `target` of another architecture or
  // provider allows it too, as this CPU says nothing about that one.
  bool allow_slower = false;
};

// Nodes of a model as the runtime ran them, counted in its profile of one run.
struct IntegerKernels {
  std::uint64_t integer = 0;  // convolutions and matrix products in INT8: QLinearConv, MatMulIntegerToFloat …
  std::uint64_t other = 0;
};

struct TrialResult {
  bool is_tried = false;
  std::string why_not;                   // otherwise; empty when it was not wanted
  std::string runtime = "ONNX Runtime";  // or "LiteRT"
  std::string runtime_version;
  std::uint64_t samples = 0;
  bool is_generated = true;
  std::string data_digest = {};  // SHA-256 of what both were fed
  bool is_of_labels = false;     // the model gives labels alone: sqnr_db is 10·log10(labels / changed)
  double sqnr_db = 0;            // of the worst output, or of its worst slice …
  std::string slice = {};  // … which is this one: "output0[:, 4:84, :]"; empty: the output is all alike
  std::string cpu = {};    // that it was run on: "avx512 vnni"
  std::vector<CpuComparison> cpus = {};
  // Of loading the original and the result; nothing where a system does not tell.
  std::optional<LoadMemory> memory_before = {}, memory_after = {};
  // Of the result against the original: for static and dynamic INT8, and for MemoryUse::kBalanced if a run of
  // the original takes 5 ms.
  std::optional<SpeedUp> speed_up = {};
  double seconds_before = 0, seconds_after = 0;  // of a call, with speed_up: CPU time if on one thread
  std::optional<IntegerKernels> kernels = {};    // of static and dynamic INT8
};

struct QuantizeOptions {
  Recipe recipe;
  TrialOptions trial;            // static arithmetic is calibrated on its data too …
  std::filesystem::path ranges;  // … unless there is a file of ranges
  // What more bits bring to each layer, for nbits.bits and nbits.target_size: read if the file is
  // there, else measured on the data and written to it. ounce/importance.h puts several together.
  std::filesystem::path importance = {};
  ExternalData external_data = ExternalData::kAuto;
  std::string data_name = {};  // of the file with external data, which must be free; empty: one of our own
  unsigned threads = 0;        // 0: all CPUs. The result does not depend on it.
  // Decide everything, write nothing. For few bits by shapes alone: weights are not read, and the result has
  // no source_digest.
  bool dry_run = false;
  bool pictures = false;  // histograms of what is stored in fewer bits
  Progress* progress = nullptr;
};

struct TensorOutcome {
  std::string name;
  std::string scope;    // the subgraph or function it stands in; empty for the main graph
  std::string op_type;  // of the op it feeds
  std::string type;     // "float32"
  std::vector<std::int64_t> shape;
  bool stored = false;  // otherwise it was left alone
  // For stored ones.
  StoredAs encoding = StoredAs::kInt8;
  std::string granularity;  // "channel 0"
  Decoder decoder = Decoder::kFold;
  std::string reason;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  // Of the values decoded from the written file against the original; infinite when they are equal, NaN
  // before anything is written.
  double sqnr_db = 0;
  double max_abs_error = 0;
  std::optional<ValueHistogram> histogram = {};  // with QuantizeOptions::pictures
};

// A node that multiplies with weights, or computes on integers.
struct NodeOutcome {
  std::string name, scope, op_type;
  Arithmetic arithmetic = Arithmetic::kFloat;
  std::string reason;  // of those that stay in floats
};

// A value that is codes between integer ops.
struct ActivationOutcome {
  std::string name, scope, type;  // "uint8"
  float scale = 1;
  std::int32_t zero = 0;
  ValueRange range;
  CalibrationMethod method = CalibrationMethod::kAuto;
  double sqnr_db = 0;     // predicted, of the value itself
  std::size_t place = 0;  // in the order of the network: that of the node which gives it; 0: an input
  std::optional<ValueHistogram> histogram = {};  // with QuantizeOptions::pictures
};

struct QuantizeResult {
  std::filesystem::path model, output;
  Format format = Format::kW8;                      // asked for; stored_as() says what became of it
  std::uint64_t bytes_before = 0, bytes_after = 0;  // model file and external data
  std::vector<TensorOutcome> tensors;               // every float tensor, in the order of the file
  std::vector<NodeOutcome> nodes;                   // for static and dynamic
  std::vector<ActivationOutcome> activations;
  std::vector<std::string> notes;
  std::vector<std::string> unmatched;      // expressions that Recipe::ignore_unmatched let pass
  std::vector<ScaleChange> scale_changes;  // of trained scales; empty: every one is kept to the bit
  // Of stored tensors that changed: noise relative to the signal of each tensor, averaged over all values.
  // Infinite when none changed.
  double sqnr_db = 0;
  TrialResult trial;
  std::string source_digest, plan_digest;
  double seconds = 0;

  double ratio() const {
    return bytes_before == 0 ? 1 : static_cast<double>(bytes_after) / static_cast<double>(bytes_before);
  }
  std::size_t stored_count() const;
  // kW8 when no tensor could be stored as asked for: in 4 bits (kW4), or for MatMulNBits (kNbits8 …).
  Format stored_as() const;
};

// Error{kUnsupported} when nothing in the model can be stored smaller, and for a model that Ounce has
// quantized already.
QuantizeResult quantize(const std::filesystem::path& model, const std::filesystem::path& output,
                        const QuantizeOptions& options);

// Why a model is no original to quantize: "already quantized by Ounce (w8)", or "already quantized (52
// QLinearConv)" for a model of another tool. Empty for an original, and for a file that cannot be read as a
// model. Verbs that take a folder skip such files; quantize() itself refuses only those of Ounce.
std::string why_no_original(const std::filesystem::path& model);

// The usual name: model.onnx → model.w8.onnx.
std::filesystem::path default_output(const std::filesystem::path& model, Format format);

// What a model can be stored as when this is asked for: kW8 instead of kW4 where its opset cannot unpack 4
// bits. What cannot be read is as asked for: quantize() will say why.
Format possible_format(const std::filesystem::path& model, Format format);

}  // namespace ounce
