// The steps of advise() in the order of their calls: measure the methods, judge each of them, find risks and
// missing data, decide.
#pragma once

#include <ounce/advise.h>

#include <cstdint>
#include <filesystem>

#include "base/machine.h"
#include "model/model_file.h"

namespace ounce::search {

// Measures each method on the model within the budget of time.
//
// First the original is timed alone. Then each method makes a model in a temporary folder, which is compared
// with the original and timed against it (methods.h). Durations are estimated from earlier steps; steps that
// would not fit are skipped.
//
// Fills in the baseline, the methods, the numbers of samples and the notes. `clock` started with advise().
void measure_methods(const std::filesystem::path& model, const AdviseOptions& options, const Stopwatch& clock,
                     AdviseResult& result);

// Chooses the quality threshold by the data: the metric if there are labels, else top-1 agreement for a
// classifier, else the SQNR of the outputs (generated sound needs a higher one). A method is acceptable if it
// passes on unseen data with the confidence that verify() reports.
//
// `answers`: number of top-1 predictions to compare, counted as evidence (Tally::of); 0 if the model makes
// none. If they are too few to show 99 % agreement, the SQNR is used, which needs fewer samples.
Gates gates_for(const AdviseOptions& options, const FamilyFinding& family, double answers);

// Number of samples that show these gates at this confidence if no sample has a loss.
std::uint64_t least_samples(const Gates& gates, double confidence);

// Fills in the quality of a method from its comparison with the original.
void judge(const Gates& gates, const VerifyResult& compared, MethodFinding& finding);

// The risks of quantizing this model, each with the evidence in the graph or in the measurements.
std::vector<Risk> find_risks(const model::ModelFile& file, const AdviseOptions& options,
                             const AdviseResult& result);

// Lists the data that would improve the advice.
std::vector<std::string> find_missing(const AdviseOptions& options, const AdviseResult& result);

// The recommendation, from the measurements:
//
//   nothing to quantize, or already quantized                 do not quantize
//   a method is faster and good enough                        quantize with the fastest
//   a method is faster but loses too much, and there is data  tune: mixed precision that keeps the quality
//   nothing is faster so far, the model is not small          compress the weights
//   a method could still be faster and good enough            unknown: time, samples or data are missing
//   nothing is faster, the model is small                     do not quantize
//
// A method whose timing is too short or unreliable counts as neither faster nor slower.
//
// Fills in verdict, headline, reasons and commands.
void decide(const AdviseOptions& options, AdviseResult& result);

}  // namespace ounce::search
