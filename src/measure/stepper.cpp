#include "measure/stepper.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>

#include "base/stopwatch.h"

namespace ounce::measure {
namespace {

std::size_t find(const std::vector<data::ValueDescription>& values, const std::string& name,
                 const char* kind) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.name == name; });
  if (found != values.end()) return static_cast<std::size_t>(found - values.begin());
  std::vector<std::string> names;
  for (const auto& value : values) names.push_back(value.name);
  throw Error(ErrorCode::kUsage, fmt::format("`carry`: the model has no {} '{}'; it has {}", kind, name,
                                             fmt::join(names, ", ")));
}

}  // namespace

Stepper::Stepper(std::unique_ptr<runtime::Executor> model, const std::map<std::string, std::string>& carry)
    : model_(std::move(model)) {
  for (const auto& [input, output] : carry) {
    const std::size_t to = find(model_->inputs(), input, "input"),
                      from = find(model_->outputs(), output, "output");
    if (model_->inputs()[to].element != model_->outputs()[from].element) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("`carry`: '{}' and '{}' have different types", input, output));
    }
    carried_.push_back({to, from, {}});
  }
}

std::span<const data::TensorView> Stepper::run(const data::Batch& batch) {
  inputs_.assign(batch.inputs.begin(), batch.inputs.end());
  if (!batch.starts_sequence) {
    for (const Carried& carried : carried_) {
      // Whoever begins in the middle of a sequence begins with the batch's own state.
      if (carried.state.type != ElementType::kUndefined) inputs_[carried.input] = carried.state;
    }
  }
  const Stopwatch time;
  const std::span<const data::TensorView> outputs = model_->run(inputs_);
  seconds_ += time.seconds();
  for (Carried& carried : carried_) carried.state = data::copy_of(outputs[carried.output]);
  return outputs;
}

}  // namespace ounce::measure
