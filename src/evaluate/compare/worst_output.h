// How far a model is off, as one number: that of the output that is farthest from the original's, or of the
// slice of one (evaluate/compare/slices.h) that is.
//
// States do not count, because they show in the outputs of the next runs; nor do outputs that nobody wants to
// be judged. Labels (classes, counts) count only where there are no numbers: the scores beside them tell
// more.
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

// Is it given back to the model in its next run?
bool is_state(const std::map<std::string, std::string>& carry, const std::string& output);

// Is it one of the outputs to judge? An empty list is all of them.
bool is_wanted(const std::vector<std::string>& outputs, const std::string& output);
// Does a gate apply to it?
inline bool is_judged(const OutputComparison& output) { return !output.is_state && output.is_judged; }

// Throws Error{kUsage}, with the names that there are, when a model has no output of one of these names.
void require_outputs(const std::vector<std::string>& wanted, const std::filesystem::path& model);

// dB; minus infinity when values are not finite any more, infinity when nothing differs, NaN when a detector
// finds nothing in any sample.
double worst_sqnr(const std::vector<OutputComparison>& outputs);
// The slice that this is the figure of; null when it is that of a whole output.
const OutputSlice* worst_slice(const std::vector<OutputComparison>& outputs);
// The same as noise over signal; 0 where a detector finds nothing.
double worst_noise(const std::vector<OutputComparison>& outputs);

// The smallest share of same answers; nothing when no output has classes or is labels.
std::optional<double> least_agreement(const std::vector<OutputComparison>& outputs);

// What of a model's outputs is held against the original's when it is judged by one number: each output that
// counts (evaluate/compare/worst_output.h), and each slice of one that is of another kind or scale
// (evaluate/compare/slices.h).
//
//   const OutputParts parts(outputs, carry, kept.runs());
//   std::vector<Difference> sums(parts.size());
//   if (!parts.add(run.outputs, given, sums)) …          // other shapes, or numbers that are none any more

class OutputParts {
 public:
  // Slices are found in what the original gave. `wanted`: the outputs that count; empty: all.
  OutputParts(std::vector<data::ValueDescription> outputs, const std::map<std::string, std::string>& carry,
              const std::vector<ReferenceRun>& runs, const std::vector<std::string>& wanted = {});

  std::size_t size() const { return parts_.size(); }
  // False when they cannot be compared; `sums` are of no use then.
  bool add(std::span<const data::Tensor> reference, std::span<const data::TensorView> given,
           std::vector<Difference>& sums) const;

 private:
  struct Part {
    std::size_t output = 0;
    std::size_t axis = 0;
    std::vector<IndexRange> ranges = {};  // none: all of it
  };
  void find_slices(std::size_t output, const std::vector<ReferenceRun>& runs);

  std::vector<data::ValueDescription> outputs_;
  std::vector<Part> parts_;
};

}  // namespace ounce::evaluate
