// The stages of quantize() for Core ML packages.
#pragma once

#include <memory>

#include "formats/coreml/plan/plan.h"
#include "formats/coreml/view/coreml_file.h"

namespace ounce::quantization {

struct Quantization;

struct CoremlWork {
  std::shared_ptr<const coreml::CoremlFile> source;  // after prepare()
  coreml::Plan plan;                                 // after decide()
};

void prepare_coreml(Quantization& q);
void observe_coreml(Quantization& q);
void search_coreml(Quantization& q);
void decide_coreml(Quantization& q);
void emit_coreml(Quantization& q);

}  // namespace ounce::quantization
