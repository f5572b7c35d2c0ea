// The error of a model as one number: that of the worst output, or of the worst slice of one (SliceMeter).
//
// States do not count, because they show in the outputs of the next runs, nor do outputs that are not judged.
// Labels (classes, counts) count only if no output has numbers: scores are more precise.
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

// True if this output is carried to the model's next run.
bool is_state(const std::map<std::string, std::string>& carry, const std::string& output);

// True if this is one of the outputs to judge. An empty list means all.
bool is_wanted(const std::vector<std::string>& outputs, const std::string& output);
// True if gates apply to this output.
inline bool is_judged(const OutputComparison& output) { return !output.is_state && output.is_judged; }

// Throws Error{kUsage} with the known names when a model has no output of one of these names.
void require_outputs(const std::vector<std::string>& wanted, const std::filesystem::path& model);

// In dB: minus infinity when values are no longer finite, infinity when nothing differs, NaN when a detector
// finds nothing in any sample.
double worst_sqnr(const std::vector<OutputComparison>& outputs);
// The slice with this SQNR; null when it is a whole output.
const OutputSlice* worst_slice(const std::vector<OutputComparison>& outputs);
// The same as noise over signal; 0 when a detector finds nothing.
double worst_noise(const std::vector<OutputComparison>& outputs);

// The lowest agreement; nothing when no output has classes or labels.
std::optional<double> least_agreement(const std::vector<OutputComparison>& outputs);

// The parts of a model's outputs that are compared with the original's when it is judged by one number: each
// output that counts, and each slice of one (SliceMeter).
//
//   const OutputParts parts(outputs, carry, kept.runs());
//   std::vector<Difference> sums(parts.size());
//   if (!parts.add(run.outputs, given, sums)) …          // other shapes, or values that are no longer finite
class OutputParts {
 public:
  // Finds slices in the original's outputs. `wanted`: the outputs that count; empty: all.
  OutputParts(std::vector<data::ValueDescription> outputs, const std::map<std::string, std::string>& carry,
              const std::vector<ReferenceRun>& runs, const std::vector<std::string>& wanted = {});

  std::size_t size() const { return parts_.size(); }
  // False when they cannot be compared; then `sums` are meaningless.
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
