// The error of a model as one number: the SQNR of its worst output, or of the worst slice of an output
// (SliceMeter).
//
// Recurrent states are ignored, because their errors show in the outputs of later runs. Outputs that are not
// judged are ignored, too. Labels (classes, counts) are used only if no output is numeric, because scores are
// more precise.
#pragma once

#include <ounce/verify.h>

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/tensor.h"
#include "evaluate/compare/difference.h"
#include "evaluate/models/reference_outputs.h"

namespace ounce::evaluate {

// True if this output is a recurrent state.
bool is_state(const std::map<std::string, std::string>& carry, const std::string& output);

// True if this is one of the outputs to judge. An empty list means all.
bool is_wanted(const std::vector<std::string>& outputs, const std::string& output);
// True if gates apply to this output.
inline bool is_judged(const OutputComparison& output) { return !output.is_state && output.is_judged; }

// Throws Error{kUsage} with the known names if the model has no output of one of these names.
void require_outputs(const std::vector<std::string>& wanted, const std::filesystem::path& model);

// The SQNR in dB. Minus infinity if the candidate has new NaN or infinite values, infinity if all outputs are
// equal, NaN if neither model detects anything in any sample.
double worst_sqnr(const std::vector<OutputComparison>& outputs);
// The slice with this SQNR; null if a whole output is the worst.
const OutputSlice* worst_slice(const std::vector<OutputComparison>& outputs);
// The same as the ratio of noise to signal; 0 if neither model detects anything.
double worst_noise(const std::vector<OutputComparison>& outputs);

// The lowest top-1 agreement; nothing if no output has classes or labels.
std::optional<double> least_agreement(const std::vector<OutputComparison>& outputs);

// The output parts whose SQNR is computed separately when a model is judged by one number: each judged
// output, and each of its slices (SliceMeter).
//
//   const OutputParts parts(outputs, carry, kept.runs());
//   std::vector<Difference> sums(parts.size());
//   if (!parts.add(run.outputs, given, sums)) fail();    // other shapes, or new NaN or infinite values
class OutputParts {
 public:
  // Finds slices in the original's outputs. `wanted`: the outputs to judge; empty: all.
  OutputParts(std::vector<data::ValueDescription> outputs, const std::map<std::string, std::string>& carry,
              const std::vector<ReferenceRun>& runs, const std::vector<std::string>& wanted = {});

  std::size_t size() const { return parts_.size(); }
  // Returns false if the outputs cannot be compared; then `sums` are meaningless.
  bool add(std::span<const data::Tensor> reference, std::span<const data::TensorView> given,
           std::vector<Difference>& sums) const;

 private:
  struct Part {
    std::size_t output = 0;
    std::size_t axis = 0;
    std::vector<IndexRange> ranges = {};  // empty: the whole output
  };
  void find_slices(std::size_t output, const std::vector<ReferenceRun>& runs);

  std::vector<data::ValueDescription> outputs_;
  std::vector<Part> parts_;
};

}  // namespace ounce::evaluate
