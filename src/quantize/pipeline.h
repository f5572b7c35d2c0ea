// One call of quantize(): stages over one context, in the order of their declarations. mold's main function
// is the model for it.
//
//   Quantization q(model, output, options);
//   open(q);  prepare(q);  observe(q);  search(q);
//   decide(q);  emit(q);  write(q);  check(q);  run_trial(q);  commit(q);
//
// `tune` runs the first four to resolve a recipe, and the last six on a recipe and a prepared model of its
// own. The source is parsed once and validated once; passes edit clones of it. What was written is parsed and
// validated once more, by check().
#pragma once

#include <ounce/prove.h>
#include <ounce/quantize.h>

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

// Fills in what follows from the target, or from other options.
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
  // Few-bit formats without a file to write: shapes alone tell the size, and no weight is read.
  bool is_unread() const { return options.dry_run && is_nbits(recipe.format); }
  std::uint64_t stored_source_bytes() const;  // of the weights that are stored in another form
  // Of a run that was killed, for the next one.
  std::filesystem::path kept_fits() const { return result.output.string() + ".fits"; }

  const QuantizeOptions options;                  // for the target
  StaticLimits limits = {};                       // of search()
  std::optional<StatedGate> gate = {};            // stated in the place of the trial
  ThreadPool pool;                                // options.threads
  QuantizeResult result;                          // each stage adds to it
  Recipe recipe;                                  // options.recipe, until search() and decide() fill it in
  model::ModelFilePtr file;                       // after open(): the source
  std::shared_ptr<const PreparedModel> prepared;  // after prepare(), with ranges after observe()
  std::string why_floats;              // after search(): nothing of it computes in INT8, as was measured
  Statement statement;                 // from decide() on
  plan::Plan plan;                     // after decide()
  std::unique_ptr<CoremlWork> coreml;  // of Core ML models, in place of `prepared` and `plan`
  std::unique_ptr<TfliteWork> tflite;  // of TFLite models, in place of `prepared` and `plan`
  std::vector<TensorOutcome> integer_tensors;  // of the INT8 ops that stand beside the FP16 remainder
  std::unique_ptr<model::Emitted> emitted;     // after emit(); weights are encoded while write() writes them
  model::ModelFilePtr written;                 // after check()
};

void open_source(Quantization& q);  // without checking the options
void open(Quantization& q);

// The stages that work on the file format itself: a row for each kind of model in quantize.cpp.
struct FormatStages {
  model::ModelKind kind;
  void (*prepare)(Quantization& q);
  void (*observe)(Quantization& q);
  void (*search)(Quantization& q);
  void (*decide)(Quantization& q);
  void (*emit)(Quantization& q);  // sets Quantization::emitted
};
void search_onnx(Quantization& q);
// What search() does for integer arithmetic of any format: fills in Quantization::recipe, and gives the
// model with which that is to be made.
std::shared_ptr<const StaticModel> settle_static(Quantization& q,
                                                 std::shared_ptr<const StaticModel> prepared);
void decide_onnx(Quantization& q);
void emit_onnx(Quantization& q);

void prepare(Quantization& q);
void observe(Quantization& q);
void search(Quantization& q);

// INT8 ops are in place and the rest computes in FP16: the plan has two parts, and the second one is made for
// the model that the first one gives.
bool has_fp16_remainder(const Recipe& recipe);
void emit_integers(Quantization& q);

void decide(Quantization& q);
void emit(Quantization& q);
void write(Quantization& q);
void check(Quantization& q);
void run_trial(Quantization& q);
void commit(Quantization& q);
void estimate_size(Quantization& q);  // in the place of write() to commit(): what the files would take

// decide() to commit(), for a recipe in which nothing is left to search for; a dry run ends after emit().
void make(Quantization& q);

void begin_stage(const QuantizeOptions& options, const char* stage, std::uint64_t total);
// What can be stated before anything is made.
Statement statement_before(const QuantizeOptions& options, const Recipe& recipe,
                           const std::optional<StatedGate>& gate);

// Empty unless dequantizing surely took more of a run than Recipe::decode_share. Shapes alone decide how many
// weights are dequantized at run time, so that the same options give the same bytes on every machine; a
// timing only says how that went on this one.
std::string decoding_note(const Recipe& recipe, const TrialResult& trial);

}  // namespace ounce::quantization
