#include "evaluate/metrics/token_decoder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <numeric>

#include "base/machine.h"
#include "data/tensor.h"

namespace ounce::evaluate {
namespace {

constexpr std::size_t kNoOutput = static_cast<std::size_t>(-1);

bool holds(const std::string& name, const char* word) { return name.find(word) != std::string::npos; }

bool is_float_type(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kFloat16 || type == ElementType::kBfloat16;
}

std::size_t output_named(const runtime::Executor& model, const std::string& name) {
  const auto& outputs = model.outputs();
  const auto found =
      std::find_if(outputs.begin(), outputs.end(), [&](const auto& output) { return output.name == name; });
  return found == outputs.end() ? kNoOutput : static_cast<std::size_t>(found - outputs.begin());
}

// The names that exporters give the output of a state: "present.0.key" for "past_key_values.0.key",
// "present_0" for "past_0".
std::vector<std::string> usual_names(const std::string& input) {
  std::vector<std::string> names;
  for (const char* past : {"past_key_values", "past_key", "past_value", "past"}) {
    for (const char* present : {"present_key_values", "present_key", "present_value", "present"}) {
      if (const auto at = input.find(past); at != std::string::npos)
        names.push_back(std::string(input).replace(at, std::string(past).size(), present));
    }
  }
  return names;
}

data::Tensor of_numbers(const data::ValueDescription& input, data::Dims dims,
                        const std::vector<std::int64_t>& numbers) {
  if (is_float_type(input.element)) {
    data::Tensor tensor{ElementType::kFloat, std::move(dims), {}};
    const std::vector<float> floats(numbers.begin(), numbers.end());
    tensor.bytes.assign(reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float));
    return data::convert(std::move(tensor), input.element, input.name);
  }
  data::Tensor tensor{ElementType::kInt64, std::move(dims), {}};
  tensor.bytes.assign(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int64_t));
  return data::convert(std::move(tensor), input.element, input.name);
}

// The initial state: one text, no past tokens.
data::Tensor empty_state(const data::ValueDescription& input) {
  data::Tensor state{input.element, {}, {}};
  for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
    const std::int64_t length = input.shape[axis].value;
    state.dims.push_back(length >= 0 ? length : axis == 0 ? 1 : 0);
  }
  state.bytes.assign(data::byte_count(state.type, state.dims, input.name), '\0');
  return state;
}

}  // namespace

TokenDecoder::TokenDecoder(std::unique_ptr<runtime::Executor> model,
                           const std::map<std::string, std::string>& carry,
                           const std::map<std::string, double>& constants)
    : model_(std::move(model)), ids_(kNoOutput) {
  pair_kept(carry);
  for (std::size_t i = 0; i < model_->inputs().size(); ++i) roles_.push_back(role_of(i, constants));
  if (ids_ == kNoOutput)
    throw Error(ErrorCode::kUsage, "the model has no input for token ids (integers with two axes)");
  find_scores();
}

void TokenDecoder::pair_kept(const std::map<std::string, std::string>& carry) {
  const auto& inputs = model_->inputs();
  for (const auto& [name, output] : carry) {
    const bool is_known =
        std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) { return input.name == name; });
    if (!is_known || output_named(*model_, output) == kNoOutput)
      throw Error(ErrorCode::kUsage,
                  fmt::format("`carry`: the model has no input '{}' or no output '{}'", name, output));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<std::string> names;
    if (const auto own = carry.find(inputs[i].name); own != carry.end()) {
      names = {own->second};
    } else if (carry.empty()) {
      names = usual_names(inputs[i].name);
    }
    for (const std::string& name : names) {
      const std::size_t output = output_named(*model_, name);
      if (output == kNoOutput || model_->outputs()[output].element != inputs[i].element) continue;
      kept_.push_back({i, output, {}});
      break;
    }
  }
}

TokenDecoder::Role TokenDecoder::role_of(std::size_t input, const std::map<std::string, double>& constants) {
  const data::ValueDescription& value = model_->inputs()[input];
  const auto is_same = [&](const Kept& kept) { return kept.input == input; };
  if (std::any_of(kept_.begin(), kept_.end(), is_same)) return Role::kKept;
  if (const auto constant = constants.find(value.name); constant != constants.end()) {
    constants_[input] = constant->second;
    return Role::kConstant;
  }
  if (holds(value.name, "mask")) return Role::kMask;
  if (holds(value.name, "position")) return Role::kPositions;
  if (value.element == ElementType::kBool && holds(value.name, "cache")) return Role::kHasPast;
  const bool is_integer = value.element == ElementType::kInt64 || value.element == ElementType::kInt32;
  if (is_integer && value.shape.size() == 2 && ids_ == kNoOutput) {
    ids_ = input;
    return Role::kIds;
  }
  throw Error(ErrorCode::kUsage, fmt::format("unknown use of the input '{}': connect it to an output with "
                                             "`carry`, or set its value with `constants`",
                                             value.name));
}

void TokenDecoder::find_scores() {
  const auto& outputs = model_->outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto is_same = [&](const Kept& kept) { return kept.output == i; };
    if (!is_float_type(outputs[i].element) || std::any_of(kept_.begin(), kept_.end(), is_same)) continue;
    scores_ = i;
    return;
  }
  throw Error(ErrorCode::kUsage, "the model has no output of token scores (floats)");
}

void TokenDecoder::begin() {
  text_.clear();
  past_ = 0;
  for (Kept& kept : kept_) kept.state = empty_state(model_->inputs()[kept.input]);
}

data::Tensor TokenDecoder::tensor_for(std::size_t input, std::span<const std::int64_t> ids) const {
  const data::ValueDescription& value = model_->inputs()[input];
  const auto length = static_cast<std::int64_t>(ids.size()), past = static_cast<std::int64_t>(past_);
  switch (roles_[input]) {
    case Role::kIds: return of_numbers(value, {1, length}, {ids.begin(), ids.end()});
    case Role::kMask:
      return of_numbers(value, {1, past + length},
                        std::vector<std::int64_t>(static_cast<std::size_t>(past + length), 1));
    case Role::kPositions: {
      std::vector<std::int64_t> places(ids.size());
      std::iota(places.begin(), places.end(), past);
      return of_numbers(value, value.shape.size() == 1 ? data::Dims{length} : data::Dims{1, length}, places);
    }
    case Role::kHasPast: return of_numbers(value, {1}, {past == 0 ? 0 : 1});
    case Role::kConstant: {
      data::Dims dims;
      for (const auto& dimension : value.shape) dims.push_back(dimension.value >= 0 ? dimension.value : 1);
      const std::uint64_t count = data::element_count(dims, value.name);
      return of_numbers(value, dims,
                        std::vector<std::int64_t>(count, static_cast<std::int64_t>(constants_.at(input))));
    }
    case Role::kKept: break;
  }
  return {};
}

std::span<const float> TokenDecoder::feed(std::span<const std::int64_t> ids) {
  text_.insert(text_.end(), ids.begin(), ids.end());
  const std::span<const std::int64_t> fed = is_cached() ? ids : std::span<const std::int64_t>(text_);
  std::vector<data::Tensor> tensors(roles_.size());
  for (std::size_t i = 0; i < roles_.size(); ++i) tensors[i] = tensor_for(i, fed);
  std::vector<data::TensorView> views(tensors.begin(), tensors.end());
  for (const Kept& kept : kept_) views[kept.input] = kept.state;
  const Stopwatch time;
  const std::span<const data::TensorView> outputs = model_->run(views);
  seconds_ = time.seconds();
  const data::TensorView& scores = outputs[scores_];
  const std::string& name = model_->outputs()[scores_].name;
  if (scores.dims.empty() || scores.dims.back() <= 0)
    throw Error(ErrorCode::kBadInput,
                fmt::format("the output '{}' does not have the shape of token scores", name));
  const auto all = data::floats_of(scores, converted_, name);
  const auto width = static_cast<std::size_t>(scores.dims.back());
  if (all.size() < width)
    throw Error(ErrorCode::kBadInput,
                fmt::format("the output '{}' does not have the shape of token scores", name));
  if (converted_.data() != all.data()) converted_.assign(all.begin(), all.end());
  for (Kept& kept : kept_) kept.state = data::copy_of(outputs[kept.output]);
  if (is_cached()) past_ += ids.size();
  return std::span<const float>(converted_).last(width);
}

}  // namespace ounce::evaluate
