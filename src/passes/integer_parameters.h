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
  Bytes codes, zeros;  // zeros is empty when they are all 0
  Bytes scales;        // as floats; empty for biases
};

class IntegerParameters {
 public:
  IntegerParameters(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                    const std::vector<Stored>& stored);

  // The constant that `name` means in a body; null when it is none of ours.
  const Parameter* find(std::size_t body, Bytes name) const;
  const std::map<plan::ValueKey, Parameter>& all() const { return parameters_; }
  // Zeros for a weight that has none stored, for ops that want them all the same.
  Bytes zeros(std::size_t body, const Parameter& weight);
  // Where nodes that decode it go: they stand before all that use it.
  static std::size_t place(const plan::Decision& decision);

 private:
  Editors& editors_;
  const graph::Index& index_;
  std::map<plan::ValueKey, Parameter> parameters_;
};

}  // namespace ounce::passes
