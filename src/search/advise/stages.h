// The steps of advise(), in the order in which it calls them: measure the methods, judge each, look for risks
// and for missing data, decide.
#pragma once

#include <ounce/advise.h>

#include <cstdint>
#include <filesystem>

#include "base/machine.h"
#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::search {

// Measures each method on the model within a budget of time.
//
// The original is timed alone first. Then each method in turn makes a model in a temporary folder, which is
// compared with the original and timed against it (methods.h). The duration of a step is estimated
// from the steps before, and a step that would not fit is left out.
//
// Fills in the baseline, the methods, the numbers of samples and the notes. `clock` runs since the start.
void measure_methods(const std::filesystem::path& model, const AdviseOptions& options, const Stopwatch& clock,
                     AdviseResult& result);

// Is a quantized model still good enough? The gate depends on the data: the metric if there are labels, else
// the predictions of a classifier, else the SQNR of the outputs, of which generated sound needs more than
// others. A method is acceptable if the gate holds on unseen data, with the confidence that verify() reports.
//
// The gates that fit the model and the data. `answers`: top-1 predictions that a method is compared on,
// counted as evidence (Tally::of); 0 if the model gives none. Fewer than 99 % agreement takes are not asked:
// the SQNR decides, which fewer samples can show.
Gates gates_for(const AdviseOptions& options, const FamilyFinding& family, double answers);

// Samples without any loss that show these gates at this confidence.
std::uint64_t least_samples(const Gates& gates, double confidence);

// Fills in the quality of a method, after its comparison with the original.
void judge(const Gates& gates, const VerifyResult& compared, MethodFinding& finding);

// The risks of quantizing this model, each with the evidence in the graph or in the measurements.
std::vector<Risk> find_risks(const onnx::Model& model, const graph::Index& index,
                             const AdviseOptions& options, const AdviseResult& result);

// Data that would make the advice better.
std::vector<std::string> find_missing(const AdviseOptions& options, const AdviseResult& result);

// The recommendation, from the measurements:
//
//   there is nothing to quantize, or it is quantized          leave it
//   a method is faster and good enough                        quantize with the fastest
//   a method is faster but loses too much, and there is data  tune: a mix that keeps the quality
//   nothing is faster so far, the model is not small          store it small
//   a method could still be faster and good enough            not known yet: something is missing
//   nothing is faster, the model is small                     leave it
//
// A timing that is too short or unreliable says nothing: such a method is neither faster nor slower.
//
// Fills in verdict, headline, reasons and commands.
void decide(const AdviseOptions& options, AdviseResult& result);

}  // namespace ounce::search
