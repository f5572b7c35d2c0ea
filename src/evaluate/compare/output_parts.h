// What of a model's outputs is held against the original's when it is judged by one number: each output that
// counts (evaluate/compare/worst_output.h), and each slice of one that is of another kind or scale
// (evaluate/compare/slices.h).
//
//   const OutputParts parts(outputs, carry, kept.runs());
//   std::vector<Difference> sums(parts.size());
//   if (!parts.add(run.outputs, given, sums)) …          // other shapes, or numbers that are none any more
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "data/tensor.h"
#include "evaluate/compare/difference.h"
#include "evaluate/models/reference_outputs.h"

namespace ounce::evaluate {

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
