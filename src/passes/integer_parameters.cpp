#include "passes/integer_parameters.h"

#include "passes/decoder.h"

namespace ounce::passes {

IntegerParameters::IntegerParameters(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                                     const std::vector<Stored>& stored)
    : index_(index) {
  for (const Stored& weight : stored) {
    const plan::Decision& decision = plan.decisions[weight.decision];
    if (!decision.is_of_integer_op()) continue;
    Parameter& parameter = parameters_[{decision.weight.body, decision.weight.name}];
    parameter = {&decision, weight.names.codes, weight.names.zeros, {}};
    if (!weight.names.scales.empty())
      parameter.scales =
          float_scales(editors.of(decision.weight.body), place(decision), decision, weight.names);
  }
}

std::size_t IntegerParameters::place(const plan::Decision& decision) {
  return decision.weight.constant != graph::kNone ? decision.weight.constant : BodyEditor::kFront;
}

const Parameter* IntegerParameters::find(std::size_t body, Bytes name) const {
  if (name.empty()) return nullptr;
  const auto found = parameters_.find({index_.find(body, name).body, name});
  return found == parameters_.end() ? nullptr : &found->second;
}

}  // namespace ounce::passes
