// The stages of quantize() that work on the TFLite format itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/tflite/plan/integer_plan.h"
#include "formats/tflite/plan/plan.h"
#include "formats/tflite/view/tflite_file.h"
#include "quantize/tflite_static.h"

namespace ounce::quantization {

struct Quantization;

struct TfliteWork {
  std::shared_ptr<const tflite::TfliteFile> prepared;  // after prepare()
  std::vector<std::string> notes;                      // of what prepare() changed
  tflite::Plan plan;                                   // after decide(): of the weights

  // Of static INT8 inference.
  std::shared_ptr<const TfliteStatic> integers;  // after prepare(), with ranges after observe()
  tflite::IntegerPlan integer_plan;              // after decide()
};

void prepare_tflite(Quantization& q);
void observe_tflite(Quantization& q);
void search_tflite(Quantization& q);
void decide_tflite(Quantization& q);
void emit_tflite(Quantization& q);

}  // namespace ounce::quantization
