// One call of quantize(): stages that share a context, in the order of their declarations.
//
//   Quantization q(model, output, options);
//   open(q);  prepare(q);  observe(q);  search(q);
//   decide(q);  emit(q);  write(q);  check(q);  run_trial(q);  commit(q);
//
// `tune` runs the first four stages to resolve a recipe, and the last six on a recipe and a prepared model of
// its own. The source is parsed and validated once; passes edit clones of it. check() parses and validates
// the written model.
#pragma once

#include <ounce/quantize.h>
#include <ounce/verify.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "formats/onnx/plan/plan.h"
#include "formats/onnx/view/onnx_file.h"
#include "model/emitter.h"
#include "quantize/prepared_model.h"
#include "quantize/recipe_json.h"
#include "quantize/static_search.h"
#include "quantize/trial.h"

namespace ounce::quantization {

struct CoremlWork;  // quantize/coreml_stages.h
struct TfliteWork;  // quantize/tflite_stages.h

// Fills in options that follow from the target or from other options.
QuantizeOptions for_target(QuantizeOptions options);

struct Quantization {
  Quantization(const std::filesystem::path& model, const std::filesystem::path& place,
               const QuantizeOptions& given);
  Quantization(const Quantization&) = delete;
  Quantization& operator=(const Quantization&) = delete;
  ~Quantization();

  const std::filesystem::path& path() const { return result.model; }
  const onnx::OnnxFile& source() const { return onnx::as_onnx(*file); }  // for stages of ONNX
  const std::filesystem::path& output_path() const { return result.output; }
  // A dry run of a low-bit format: the size follows from shapes, so no weight is read.
  bool is_unread() const { return options.dry_run && is_nbits(recipe.format); }
  std::uint64_t stored_source_bytes() const;  // bytes in the source of the weights that get another format
  // Folder for the results of a run that is killed, which the next run reuses.
  std::filesystem::path kept_fits() const { return result.output.string() + ".fits"; }

  const QuantizeOptions options;                  // after for_target()
  StaticLimits limits = {};                       // of search()
  std::optional<StatedGate> gate = {};            // recorded instead of the trial
  ThreadPool pool;                                // options.threads
  QuantizeResult result;                          // each stage adds to it
  Recipe recipe;                                  // options.recipe, until search() and decide() fill it in
  model::ModelFilePtr file;                       // after open(): the source
  std::shared_ptr<const PreparedModel> prepared;  // after prepare(), with ranges after observe()
  std::string why_floats;                         // after search(): why no node runs in INT8, by measurement
  Statement statement;                            // from decide() on
  plan::Plan plan;                                // after decide()
  std::unique_ptr<CoremlWork> coreml;             // Core ML models: replaces `prepared` and `plan`
  std::unique_ptr<TfliteWork> tflite;             // TFLite models: replaces `prepared` and `plan`
  std::vector<TensorOutcome> integer_tensors;     // of the INT8 ops if the remainder runs in FP16
  std::unique_ptr<model::Emitted> emitted;  // after emit(); weights are encoded while write() writes them
  model::ModelFilePtr written;              // after check()
};

void open_source(Quantization& q);  // does not check the options
void open(Quantization& q);

// The stages that depend on the file format: one row for each kind of model in quantize.cpp.
struct FormatStages {
  model::ModelKind kind;
  void (*prepare)(Quantization& q);
  void (*observe)(Quantization& q);
  void (*search)(Quantization& q);
  void (*decide)(Quantization& q);
  void (*emit)(Quantization& q);  // sets Quantization::emitted
  // A copy that gives the values that static INT8 may want ranges of. Null: the format has no static INT8.
  model::Exposed (*expose)(const model::ModelFile& file);
};
void search_onnx(Quantization& q);
// Resolves the open options of an INT8 recipe for any file format. Fills in Quantization::recipe and returns
// the prepared model to quantize.
std::shared_ptr<const StaticModel> settle_static(Quantization& q,
                                                 std::shared_ptr<const StaticModel> prepared);
void decide_onnx(Quantization& q);
void emit_onnx(Quantization& q);
model::Exposed expose_onnx(const model::ModelFile& file);
model::Exposed expose(const model::ModelFile& file);  // of any format

void prepare(Quantization& q);
void observe(Quantization& q);
void search(Quantization& q);

// True if INT8 ops are combined with an FP16 remainder. The plan then has two parts, and the second one is
// made for the result of the first.
bool has_fp16_remainder(const Recipe& recipe);
void emit_integers(Quantization& q);

void decide(Quantization& q);
void emit(Quantization& q);
void write(Quantization& q);
void check(Quantization& q);
void run_trial(Quantization& q);
void commit(Quantization& q);
void estimate_size(Quantization& q);  // replaces write() to commit() in a dry run: the file sizes

// Runs decide() to commit() for a recipe without open options; a dry run ends after emit().
void make(Quantization& q);

void begin_stage(const QuantizeOptions& options, const char* stage, std::uint64_t total);
// The parts of the provenance record that are known before anything is written.
Statement statement_before(const QuantizeOptions& options, const Recipe& recipe,
                           const std::optional<StatedGate>& gate);

// Returns a note if dequantization took significantly more of a run than Recipe::decode_share, else an empty
// string. Shapes decide which weights are dequantized at run time, so that the same options give the same
// bytes on every machine; timings are only reported.
std::string decoding_note(const Recipe& recipe, const TrialResult& trial);

}  // namespace ounce::quantization
