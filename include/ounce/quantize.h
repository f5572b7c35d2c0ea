// Quantizes models; calibration, importance files and ORT format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <ounce/bench.h>
#include <ounce/data.h>
#include <ounce/error.h>
#include <ounce/recipe.h>
#include <ounce/runtime.h>

namespace ounce {

// == Quantization ==
//
// Quantizes a model, and compares the result with the original before writing it.
//
//   ounce::QuantizeResult result = ounce::quantize("model.onnx", "model.w8.onnx", {});
//   // result.sqnr_db: SQNR of the dequantized weights; result.trial.sqnr_db: SQNR of the outputs
//
// The output is written atomically, after it has been reopened and compared with the source. On failure no
// file is created or changed. Throws ounce::Error.

// A histogram of values.
struct ValueHistogram {
  static constexpr std::size_t kBins = 48;

  double low = 0, high = 0;           // the start of the first bin and the end of the last bin
  std::vector<std::uint64_t> counts;  // of kBins bins of equal width; one bin if all values are equal
  // Share of values that are clipped by the chosen range by more than a rounding error; unset if there is no
  // single range (weights have one range per channel).
  std::optional<double> clipped_share = {};
};

// The trial: before the result is written, it is run in ONNX Runtime in a separate process, and its outputs
// are compared with the original, on data if there is any, else on random inputs.
struct TrialOptions {
  bool is_wanted = true;  // false: compare the stored weights only
  RuntimeOptions runtime;
  DataOptions data;
  std::uint64_t samples = 32;  // of the data, at most
  // The outputs that the calibration search considers; empty: all. The trial itself compares all outputs.
  std::vector<std::string> outputs = {};
  // Other CPUs to run an INT8 result on (known_cpus()), because INT8 arithmetic differs between CPUs.
  std::vector<std::string> cpus = {};
  // Measure speed. A static or dynamic INT8 result that is slower than the original by 5 % and 0.05 ms per
  // call is not written (see allow_slower). For MemoryUse::kBalanced, a result that exceeds decode_share is
  // made again with fewer weights dequantized at run time; its bytes then depend on the machine.
  bool is_timed = true;
  // Write an INT8 model even if it is slower than the original on this CPU. A `target` with another
  // architecture or provider allows it, too, because this CPU does not represent it.
  bool allow_slower = false;
};

// Counts of nodes in the runtime's profile of one run.
struct IntegerKernels {
  std::uint64_t integer = 0;  // INT8 convolutions and matrix products: QLinearConv, MatMulIntegerToFloat, …
  std::uint64_t other = 0;
};

struct TrialResult {
  bool is_tried = false;
  std::string why_not;                   // if it was not tried; empty if it was not wanted
  std::string runtime = "ONNX Runtime";  // or "LiteRT"
  std::string runtime_version;
  std::uint64_t samples = 0;
  bool is_generated = true;
  std::string data_digest = {};  // SHA-256 of the inputs
  bool is_of_labels = false;     // the model outputs only labels: sqnr_db is 10·log10(labels / changed)
  double sqnr_db = 0;            // of the worst part of the worst output
  std::string slice = {};        // that part: "output0[:, 4:84, :]"; empty: the output has no parts
  std::string cpu = {};          // CPU features that the kernels used: "avx512 vnni"
  std::vector<CpuComparison> cpus = {};
  // Memory of the original and of the result; unset if the system does not report it.
  std::optional<LoadMemory> memory_before = {}, memory_after = {};
  // Speed relative to the original: for static and dynamic INT8, and for MemoryUse::kBalanced if a run of the
  // original takes 5 ms.
  std::optional<SpeedUp> speed_up = {};
  double seconds_before = 0, seconds_after = 0;  // per call, with speed_up: CPU time if on one thread
  std::optional<IntegerKernels> kernels = {};    // for static and dynamic INT8
  std::optional<Profile> profile = {};           // of the same run
};

struct QuantizeOptions {
  Recipe recipe;
  TrialOptions trial;            // its data also calibrates static INT8, unless `ranges` is set
  std::filesystem::path ranges;  // a file of calibrate(); empty: calibrate on trial.data
  // Cache of the layer importance for nbits.bits and nbits.target_size: read if the file exists, else
  // measured on the data and written. See "Importance files" below.
  std::filesystem::path importance = {};
  ExternalData external_data = ExternalData::kAuto;
  std::string data_name = {};  // file name for external data, which must not exist; empty: chosen by Ounce
  unsigned threads = 0;        // 0: all CPUs. The result does not depend on it.
  // Plan only, write nothing. MatMulNBits formats are planned from shapes alone: weights are not read, and
  // the result has no source_digest.
  bool dry_run = false;
  bool pictures = false;  // add histograms of compressed tensors
  Progress* progress = nullptr;
};

struct TensorOutcome {
  std::string name;
  std::string scope;    // the subgraph or function that contains it; empty for the main graph
  std::string op_type;  // of the op that reads it
  std::string type;     // "float32"
  std::vector<std::int64_t> shape;
  bool stored = false;  // compressed; false: unchanged
  // If it is compressed:
  StoredAs encoding = StoredAs::kInt8;
  std::string granularity;  // "channel 0"
  Decoder decoder = Decoder::kFold;
  std::string reason;
  std::uint64_t bytes_before = 0, bytes_after = 0;
  // SQNR of the dequantized values of the written file; infinite if equal, NaN for a dry run.
  double sqnr_db = 0;
  double max_abs_error = 0;
  std::optional<ValueHistogram> histogram = {};  // with QuantizeOptions::pictures
};

// A node that has weights, or runs in INT8.
struct NodeOutcome {
  std::string name, scope, op_type;
  Arithmetic arithmetic = Arithmetic::kFloat;
  std::string reason;  // why it is kept in FP32
};

// An activation that is quantized between INT8 ops.
struct ActivationOutcome {
  std::string name, scope, type;  // "uint8"
  float scale = 1;
  std::int32_t zero = 0;
  ValueRange range;
  CalibrationMethod method = CalibrationMethod::kAuto;
  double sqnr_db = 0;     // predicted for this activation alone
  std::size_t place = 0;  // position of its node in the network, from 1; 0: a model input
  std::optional<ValueHistogram> histogram = {};  // with QuantizeOptions::pictures
};

// Neighboring nodes of the main graph that belong together by their names, such as a residual block.
struct GraphBlock {
  std::string name;                         // "/features/features.3"
  std::vector<std::string> ops;             // of `nodes`
  std::vector<std::string> nodes;           // names
  std::vector<std::string> weights;         // names of the constants that they read
  std::vector<std::uint64_t> predecessors;  // indices of the blocks whose values they read
};

struct QuantizeResult {
  std::filesystem::path model, output;
  Format format = Format::kW8;                      // as requested; see stored_as()
  std::uint64_t bytes_before = 0, bytes_after = 0;  // model file and external data
  std::vector<TensorOutcome> tensors;               // every float tensor, in the order of the file
  std::vector<NodeOutcome> nodes;                   // for static and dynamic INT8
  std::vector<ActivationOutcome> activations;
  std::vector<GraphBlock> blocks = {};  // of the original, in the order of the network
  std::vector<std::string> notes;
  std::vector<std::string> unmatched;      // expressions that matched nothing (Recipe::ignore_unmatched)
  std::vector<ScaleChange> scale_changes;  // changes of trained scales; empty: all were kept exactly
  // SQNR of the compressed tensors that changed: noise relative to the signal of each tensor, averaged over
  // all values. Infinite if none changed.
  double sqnr_db = 0;
  TrialResult trial;
  std::string source_digest, plan_digest;
  double seconds = 0;

  double ratio() const {
    return bytes_before == 0 ? 1 : static_cast<double>(bytes_after) / static_cast<double>(bytes_before);
  }
  std::size_t stored_count() const;
  // `format`, or kW8 if no tensor could be stored in 4 bits (kW4) or for MatMulNBits (kNbits8, kNbits4,
  // kNbits2).
  Format stored_as() const;
};

// Quantizes `model` and writes it to `output`. Throws Error{kUnsupported} if no weight of the model can be
// compressed, and for a model that Ounce has already quantized.
QuantizeResult quantize(const std::filesystem::path& model, const std::filesystem::path& output,
                        const QuantizeOptions& options);

// Returns why a model is not an original: "already quantized by Ounce (w8)", or "already quantized (52
// QLinearConv)" for a model of another tool. Empty for an original, and for a file that is no readable model.
// Verbs that take a folder skip such files; quantize() itself rejects only those of Ounce.
std::string why_no_original(const std::filesystem::path& model);

// Returns the default output path: model.onnx → model.w8.onnx.
std::filesystem::path default_output(const std::filesystem::path& model, Format format);

// Returns the format that `model` supports when `format` is requested: kW8 instead of kW4 if its opset cannot
// unpack 4 bits. Returns `format` for an unreadable model; quantize() reports the error.
Format possible_format(const std::filesystem::path& model, Format format);

// == Calibration ==
//
// Collects activation ranges on data, for static INT8 quantization.
//
//   ounce::CalibrateOptions options;
//   options.data.path = "calib.npz";
//   ounce::calibrate("model.onnx", "model.ranges", options);
//
// Makes one pass over the data in constant memory. Parts of the data can be observed on several machines; the
// merged parts equal the file of a single run.

struct CalibrateOptions {
  DataOptions data;
  RuntimeOptions runtime;
  std::uint64_t shard = 0, shards = 1;  // use every shards-th sample, starting with number `shard`
  Progress* progress = nullptr;
};

// An activation: its observed values, and the range that each method chooses.
struct ObservedValue {
  std::string name;
  std::uint64_t samples = 0, count = 0, not_finite = 0;
  double minimum = 0, maximum = 0;
  ValueRange mean, percentile, entropy, mse, chosen;    // chosen: the range of kAuto
  CalibrationMethod method = CalibrationMethod::kAuto;  // the method of the chosen range
  double sqnr_db = 0;                                   // predicted for 8 bits with the chosen range
};

struct CalibrateResult {
  std::filesystem::path output;
  std::uint64_t samples = 0;
  std::vector<ObservedValue> values;  // in alphabetical order
  std::vector<std::string> notes;
  double seconds = 0;
};

// Runs `model` on the data and writes the ranges to `output`. Throws Error.
CalibrateResult calibrate(const std::filesystem::path& model, const std::filesystem::path& output,
                          const CalibrateOptions& options);

// Merges the files of several shards into the file that one run over all data writes. Throws Error.
CalibrateResult merge_ranges(const std::vector<std::filesystem::path>& parts,
                             const std::filesystem::path& output);

// Reads a file that calibrate() wrote. Throws Error.
CalibrateResult read_ranges(const std::filesystem::path& file);

// == Importance files ==
//
// Importance files: the error reduction that more bits bring to each layer (QuantizeOptions::importance).

// True if `file` is an importance file.
bool is_importance(const std::filesystem::path& file);

// Writes the mean of several importance files, weighted by their samples, to `output`. Throws Error{kUsage}
// for files of different models or formats.
void merge_importance(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& output);

// == ORT format ==
//
// Files for apps with a reduced build of ONNX Runtime: a model in ORT format, and the list of required ops.

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
