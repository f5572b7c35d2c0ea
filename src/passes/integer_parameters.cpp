#include "passes/integer_parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "passes/decoder.h"

namespace ounce::passes {

IntegerParameters::IntegerParameters(Editors& editors, const graph::Index& index, const plan::Plan& plan,
                                     const std::vector<Stored>& stored)
    : editors_(editors), index_(index) {
  for (const Stored& weight : stored) {
    const plan::Decision& decision = plan.decisions[weight.decision];
    if (!decision.is_of_integer_op()) continue;
    Parameter& parameter = parameters_[{decision.weight.body, decision.weight.name}];
    parameter = {&decision, weight.names.codes, {}};
    if (!weight.names.scales.empty())
      parameter.scales =
          float_scales(editors.of(decision.weight.body), place(decision), decision, weight.names);
  }
}

std::size_t IntegerParameters::place(const plan::Decision& decision) {
  return decision.weight.constant != graph::kNone ? decision.weight.constant : BodyEditor::kFront;
}

Bytes IntegerParameters::zeros(std::size_t body, const Parameter& weight, Zeros how) {
  const plan::Decision& decision = *weight.decision;
  const std::vector<std::int64_t> dims =
      how == Zeros::kSingle ? std::vector<std::int64_t>() : decision.scale_dims;
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  const bool is_packed = decision.is_packed();  // those have the zero 0
  const bool is_signed = decision.format.sign == kernels::CodeSign::kSigned;
  const auto type = is_packed   ? ElementType::kInt4
                    : is_signed ? ElementType::kInt8
                                : ElementType::kUint8;
  std::string bytes(is_packed ? (count + 1) / 2 : count,
                    static_cast<char>(static_cast<std::uint8_t>(decision.format.zero)));
  return editors_.of(body).add_shared(fmt::format("zeros {} {}", name_of(type), fmt::join(dims, ",")),
                                      make_tensor(type, dims, std::move(bytes)));
}

const Parameter* IntegerParameters::find(std::size_t body, Bytes name) const {
  if (name.empty()) return nullptr;
  const auto found = parameters_.find({index_.find(body, name).body, name});
  return found == parameters_.end() ? nullptr : &found->second;
}

}  // namespace ounce::passes
