// The stages of quantize() that work on the TFLite format itself.
#pragma once

#include <ounce/quantize.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/tflite/emit/emitted.h"
#include "formats/tflite/plan/integer_plan.h"
#include "formats/tflite/plan/plan.h"
#include "formats/tflite/prepare/prepare.h"
#include "formats/tflite/view/tflite_file.h"
#include "quantize/tflite_static.h"

namespace ounce::quantization {

struct Quantization;

struct TfliteWork {
  // Throws Error{kUnsupported} for a model that cannot be written again.
  explicit TfliteWork(const tflite::TfliteFile& source, const tflite::PrepareOptions& options = {});

  std::shared_ptr<const tflite::TfliteFile> prepared;
  std::vector<std::string> notes;  // of what was prepared
  tflite::Plan plan;               // after decide(): of the weights

  // Of static INT8 inference.
  std::shared_ptr<const TfliteStatic> integers;  // after prepare(), with ranges after observe()
  tflite::IntegerPlan integer_plan;              // after decide()
};

// Fills in the plans of a recipe. Throws what tflite::make_plan() throws.
void make_tflite_plan(TfliteWork& work, const Recipe& recipe, ThreadPool& pool);
// The model of the plans, which must outlive it.
std::unique_ptr<tflite::TfliteEmitted> emit_tflite(
    const TfliteWork& work, const std::vector<std::pair<std::string, std::string>>& metadata);
// A copy of a model that gives the values whose ranges static INT8 may need.
model::Exposed expose_tflite(const model::ModelFile& file);

// The entries of the result for the weights of a plan.
std::vector<TensorOutcome> outcomes_of(const TfliteWork& work);
// The metadata of a model that is made of a source and a plan with these digests.
std::vector<std::pair<std::string, std::string>> tflite_metadata(const std::string& plan_digest,
                                                                 const std::string& source_digest);

void prepare_tflite(Quantization& q);
void observe_tflite(Quantization& q);
void search_tflite(Quantization& q);
void decide_tflite(Quantization& q);
void emit_tflite(Quantization& q);

}  // namespace ounce::quantization
