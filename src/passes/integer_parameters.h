// The weights and biases of integer ops as store_weights() left them: codes and scales that nobody decodes
// yet.
#pragma once

#include <map>
#include <vector>

#include "graph/index.h"
#include "passes/editors.h"
#include "passes/store_weights.h"
#include "plan/plan.h"

namespace ounce::passes {

struct Parameter {
  const plan::Decision* decision = nullptr;
  Bytes codes;
  Bytes scales;  // as floats; empty for biases

  bool has_zeros() const { return decision->format.zero != 0; }
};

class IntegerParameters {
 public:
  IntegerParameters(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                    const std::vector<Stored>& stored);

  // The constant that `name` means in a body; null when it is none of ours.
  const Parameter* find(std::size_t body, Bytes name) const;
  const std::map<plan::ValueKey, Parameter>& all() const { return parameters_; }
  // The zeros of a weight's codes: one for each of its scales, or a single one for all.
  enum class Zeros { kLikeScales, kSingle };
  Bytes zeros(std::size_t body, const Parameter& weight, Zeros how = Zeros::kLikeScales);
  // Where nodes that decode it go: they stand before all that use it.
  static std::size_t place(const plan::Decision& decision);

 private:
  Editors& editors_;
  const graph::Index& index_;
  std::map<plan::ValueKey, Parameter> parameters_;
};

}  // namespace ounce::passes
