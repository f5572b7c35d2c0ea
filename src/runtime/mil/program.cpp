#include "runtime/mil/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/machine.h"
#include "formats/coreml/file/values.h"
#include "kernels/half.h"
#include "runtime/mil/values.h"

namespace ounce::mil {
namespace {

constexpr int kDeepest = 64;  // nested blocks; the reader has the same limit

// Operations that program.cpp evaluates itself: control flow and states.
bool is_flow(std::string_view type) {
  return type == "cond" || type == "while_loop" || type == "read_state" || type == "coreml_update_state" ||
         type == "const";
}

// Unpacks palette indices and sparsity masks, which programs before iOS18 store as packed bytes. Later
// programs have tensors of narrow integers.
void unpack_codes(const std::string& type, std::map<std::string, Array>& attributes) {
  const auto shape = attributes.find("shape");
  const char* const packed = type == "constexpr_lut_to_dense"      ? "indices"
                             : type == "constexpr_sparse_to_dense" ? "mask"
                                                                   : nullptr;
  if (packed == nullptr || shape == attributes.end() || !attributes.contains(packed)) return;
  std::size_t entries = 2;
  if (const auto lut = attributes.find("lut"); lut != attributes.end())
    entries = std::max<std::size_t>(2, lut->second.size());
  unsigned bits = 0;
  while (entries > std::size_t{1} << bits && bits < 8) ++bits;
  Array& codes = attributes.at(packed);
  std::string bytes;
  for (const std::int32_t byte : codes.i) bytes += static_cast<char>(byte);
  const std::size_t count = count_of(Dims(shape->second.i.begin(), shape->second.i.end()));
  codes.i = unpack(bytes, bits, count);
  codes.dims = {static_cast<std::int64_t>(count)};
}

data::ValueDescription description_of(std::string_view name, const coreml::ValueType& type) {
  data::ValueDescription description;
  description.name = std::string(name);
  description.element = element_of(type.type);
  for (const std::int64_t dim : type.dims) description.shape.push_back({dim, ""});
  return description;
}

}  // namespace

Array array_of(const data::TensorView& view) {
  Array out;
  out.dims = view.dims;
  out.type = view.type;
  const std::size_t count = count_of(view.dims);
  const auto copy = [&]<class T>(std::vector<std::int32_t>& to) {
    to.resize(count);
    for (std::size_t at = 0; at < count; ++at) {
      T value;
      std::memcpy(&value, view.bytes.data() + at * sizeof(T), sizeof value);
      to[at] = static_cast<std::int32_t>(value);
    }
  };
  switch (view.type) {
    case ElementType::kFloat:
      out.f.resize(count);
      std::memcpy(out.f.data(), view.bytes.data(), count * sizeof(float));
      break;
    case ElementType::kFloat16:
      out.f.resize(count);
      kernels::f16_to_f32(reinterpret_cast<const std::byte*>(view.bytes.data()), count, out.f.data());
      break;
    case ElementType::kInt32: copy.operator()<std::int32_t>(out.i); break;
    case ElementType::kInt16: copy.operator()<std::int16_t>(out.i); break;
    case ElementType::kUint16: copy.operator()<std::uint16_t>(out.i); break;
    case ElementType::kInt8: copy.operator()<std::int8_t>(out.i); break;
    case ElementType::kUint8:
    case ElementType::kBool: copy.operator()<std::uint8_t>(out.i); break;
    default:
      throw Error(ErrorCode::kBadInput,
                  fmt::format("the evaluator does not support inputs of type {}", name_of(view.type)));
  }
  return out;
}

data::Tensor tensor_of(const Array& array) {
  data::Tensor tensor;
  tensor.type = array.type;
  tensor.dims = array.dims;
  const auto narrow = [&]<class T>() {
    tensor.bytes.resize(array.i.size() * sizeof(T));
    for (std::size_t at = 0; at < array.i.size(); ++at) {
      const T value = static_cast<T>(array.i[at]);
      std::memcpy(tensor.bytes.data() + at * sizeof(T), &value, sizeof value);
    }
  };
  switch (array.type) {
    case ElementType::kFloat:
      tensor.bytes.assign(reinterpret_cast<const char*>(array.f.data()), array.f.size() * sizeof(float));
      break;
    case ElementType::kFloat16: {
      tensor.bytes.resize(array.f.size() * sizeof(std::uint16_t));
      kernels::HalfStats stats;
      kernels::f32_to_f16(reinterpret_cast<const std::byte*>(array.f.data()), array.f.size(),
                          reinterpret_cast<std::uint16_t*>(tensor.bytes.data()), stats);
      break;
    }
    case ElementType::kInt16:
    case ElementType::kUint16: narrow.operator()<std::uint16_t>(); break;
    case ElementType::kInt8:
    case ElementType::kUint8:
    case ElementType::kBool: narrow.operator()<std::uint8_t>(); break;
    default: narrow.operator()<std::int32_t>(); break;
  }
  return tensor;
}

Program::Program(coreml::Model model, bool is_profiled)
    : model_(std::move(model)), is_profiled_(is_profiled) {
  if (!model_.is_program())
    throw Error(ErrorCode::kUnsupported,
                fmt::format("the evaluator runs only ML Programs, but this model is a {}; export it with "
                            "convert_to=\"mlprogram\"",
                            coreml::name_of_content(model_.proto->content)),
                model_.path.string());
  coreml::validate(model_);
  const coreml::NamedFunction* function = coreml::main_function(model_);
  const coreml::Block* block = function == nullptr ? nullptr : coreml::active_block(*function->function);
  if (block == nullptr)
    throw Error(ErrorCode::kBadInput, "the program has no main function", model_.path.string());
  require_supported(*block);
  describe(*function->function, *block);
  main_ = add_body(*block, 0);
  fold_constants(blocks_[main_]);
  for (Body& body : blocks_) find_last_uses(body);
}

void Program::require_supported(const coreml::Block& block) const {
  std::map<std::string, std::size_t> unknown;
  coreml::for_each_operation(block, [&](const coreml::Operation& operation) {
    const std::string type(operation.type);
    if (!is_flow(type) && find_operation(type) == nullptr) ++unknown[type];
  });
  if (unknown.empty()) return;
  std::vector<std::string> names;
  for (const auto& [type, count] : unknown)
    names.push_back(count == 1 ? type : fmt::format("{} ({} times)", type, count));
  throw Error(ErrorCode::kUnsupported,
              fmt::format("the evaluator of ML Programs does not support {}; run the package on a Mac",
                          fmt::join(names, ", ")),
              model_.path.string());
}

void Program::describe(const coreml::Function& function, const coreml::Block& block) {
  for (const auto& input : function.inputs) {
    data::ValueDescription description = description_of(input->name, input->type);
    if (input->type.kind == coreml::ValueType::Kind::kState)
      state_types_.emplace(description.name, description);
    else
      inputs_.push_back(std::move(description));
  }
  for (const coreml::Bytes output : block.outputs) {
    const coreml::NamedType* found = nullptr;
    for (const auto& operation : block.operations)
      for (const auto& candidate : operation->outputs)
        if (candidate->name == output) found = &*candidate;
    for (const auto& candidate : function.inputs)
      if (candidate->name == output) found = &*candidate;
    if (found == nullptr)
      throw Error(ErrorCode::kBadInput, fmt::format("no operation computes the output '{}'", output),
                  model_.path.string());
    outputs_.push_back(description_of(output, found->type));
  }
}

std::size_t Program::add_body(const coreml::Block& block, int depth) {
  if (depth > kDeepest)
    throw Error(ErrorCode::kBadInput, "blocks are nested too deeply", model_.path.string());
  Body body;
  for (const auto& input : block.inputs) body.inputs.emplace_back(input->name);
  for (const coreml::Bytes output : block.outputs) body.outputs.emplace_back(output);
  for (const auto& operation : block.operations) body.steps.push_back(step_of(*operation, depth));
  blocks_.push_back(std::move(body));
  return blocks_.size() - 1;
}

Program::Step Program::step_of(const coreml::Operation& operation, int depth) {
  Step step;
  step.type = std::string(operation.type);
  step.name = coreml::describe(operation);
  step.function = find_operation(step.type);
  for (const auto& input : operation.inputs) {
    std::vector<Operand>& operands = step.inputs[std::string(input->name)];
    for (const auto& binding : input->argument->bindings) {
      if (binding->value.empty())
        operands.push_back({std::string(binding->name), nullptr});
      else
        operands.push_back({"", std::make_shared<const Array>(array_of(*binding->value[0]))});
    }
  }
  std::map<std::string, Array> attributes;
  for (const auto& attribute : operation.attributes)
    if (attribute->name != "name")
      attributes.emplace(std::string(attribute->name), array_of(*attribute->value));
  unpack_codes(step.type, attributes);
  for (auto& [name, value] : attributes)
    step.inputs[name].push_back({"", std::make_shared<const Array>(std::move(value))});
  for (const auto& output : operation.outputs) {
    step.outputs.emplace_back(output->name);
    step.types.push_back(output->type.is_tensor() ? element_of(output->type.type) : ElementType::kUndefined);
  }
  for (const auto& inner : operation.blocks) step.blocks.push_back(add_body(*inner, depth + 1));
  step.time = times_.size();
  times_.push_back({step.name, step.type, 0});
  return step;
}

// Evaluates all steps that depend only on constants, once, and removes them from the steps of a run.
void Program::fold_constants(Body& body) {
  std::vector<Step> rest;
  for (Step& step : body.steps) {
    bool is_constant = step.blocks.empty() && step.type != "read_state" && step.type != "coreml_update_state";
    for (const auto& [name, operands] : step.inputs)
      for (const Operand& operand : operands)
        is_constant &= operand.constant != nullptr || constants_.contains(operand.name);
    if (!is_constant) {
      rest.push_back(std::move(step));
      continue;
    }
    const std::vector<ArrayPtr> results = evaluate(step, constants_);
    for (std::size_t at = 0; at < step.outputs.size() && at < results.size(); ++at)
      constants_[step.outputs[at]] = results[at];
  }
  body.steps = std::move(rest);
}

void Program::find_last_uses(Body& body) const {
  std::map<std::string, std::size_t> last;
  const auto visit = [&](auto&& self, const Step& step, std::size_t at) -> void {
    for (const auto& [name, operands] : step.inputs)
      for (const Operand& operand : operands)
        if (operand.constant == nullptr) last[operand.name] = at;
    for (const std::size_t inner : step.blocks) {
      for (const Step& nested : blocks_[inner].steps) self(self, nested, at);
      for (const std::string& output : blocks_[inner].outputs) last[output] = at;
    }
  };
  std::set<std::string> made;
  for (std::size_t at = 0; at < body.steps.size(); ++at) {
    visit(visit, body.steps[at], at);
    made.insert(body.steps[at].outputs.begin(), body.steps[at].outputs.end());
  }
  const std::set<std::string> kept(body.outputs.begin(), body.outputs.end());
  for (const auto& [name, at] : last)
    if (made.contains(name) && !kept.contains(name)) body.steps[at].last_uses.push_back(name);
}

void Program::bind(std::span<const data::TensorView> inputs) {
  if (inputs.size() != inputs_.size())
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} inputs were given, but the program has {}", inputs.size(), inputs_.size()));
  bound_.clear();
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    const data::ValueDescription& wanted = inputs_[at];
    const data::TensorView& given = inputs[at];
    bool fits = given.type == wanted.element && given.dims.size() == wanted.shape.size() &&
                given.bytes.size() == data::byte_count(given.type, given.dims, wanted.name);
    for (std::size_t axis = 0; fits && axis < given.dims.size(); ++axis)
      fits = wanted.shape[axis].value < 0 || wanted.shape[axis].value == given.dims[axis];
    if (!fits)
      throw Error(ErrorCode::kBadInput,
                  fmt::format("input '{}' is {}, but the program needs {}", wanted.name,
                              data::describe(given.type, given.dims), data::describe(wanted)));
    bound_[wanted.name] = std::make_shared<const Array>(array_of(given));
  }
}

ArrayPtr Program::value_of(const Operand& operand, const Values& values) const {
  if (operand.constant != nullptr) return operand.constant;
  if (const auto found = values.find(operand.name); found != values.end()) return found->second;
  if (const auto found = constants_.find(operand.name); found != constants_.end()) return found->second;
  throw Error(ErrorCode::kBadInput,
              fmt::format("the value '{}' is used before it is computed", operand.name));
}

Call Program::call_of(const Step& step, const Values& values) const {
  Call call;
  call.type = step.type;
  call.name = step.name;
  call.output_types = step.types;
  for (const auto& [name, operands] : step.inputs) {
    if (step.type == "read_state" || (step.type == "coreml_update_state" && name == "state")) continue;
    std::vector<ArrayPtr>& list = call.inputs[name];
    for (const Operand& operand : operands) list.push_back(value_of(operand, values));
  }
  return call;
}

std::vector<ArrayPtr> Program::evaluate(const Step& step, Values& values) {
  if (is_stopped_) throw Error(ErrorCode::kCancelled, "the run was stopped");
  const Stopwatch time;
  const Call call = call_of(step, values);
  std::vector<ArrayPtr> results;
  if (step.function == nullptr) {
    results = evaluate_flow(step, call, values);
  } else {
    std::vector<Array> made = step.function(call);
    if (made.size() < step.outputs.size()) call.fail("the operation has fewer outputs than declared");
    for (std::size_t at = 0; at < step.outputs.size(); ++at) {
      Array& array = made[at];
      const ElementType type = step.types[at];
      const bool is_float = type == ElementType::kFloat || type == ElementType::kFloat16;
      if (is_float != array.is_float())
        call.fail(fmt::format("the result is {}, but {} is declared", name_of(array.type), name_of(type)));
      array.type = type;
      round_to_type(array);
      results.push_back(std::make_shared<const Array>(std::move(array)));
    }
  }
  if (is_profiled_) times_[step.time].seconds += time.seconds();
  return results;
}

std::vector<ArrayPtr> Program::evaluate_flow(const Step& step, const Call& call, Values& values) {
  if (step.type == "const") return {call.list("val").front()};
  const auto state_name = [&](const char* input) -> const std::string& {
    const auto found = step.inputs.find(input);
    if (found == step.inputs.end() || found->second.empty() || !states_.contains(found->second[0].name))
      call.fail("the operation does not name a state");
    return found->second[0].name;
  };
  if (step.type == "read_state") return {states_.at(state_name("input"))};
  if (step.type == "coreml_update_state") {
    const ArrayPtr value = call.list("value").front();
    states_[state_name("state")] = value;
    return {value};
  }
  if (step.type == "cond") {
    call.require(step.blocks.size() == 2, "the operation must have two blocks");
    return evaluate_body(blocks_[step.blocks[call.flag("pred", false) ? 0 : 1]], values);
  }
  call.require(step.blocks.size() == 2, "the operation must have two blocks");
  const Body &condition = blocks_[step.blocks[0]], &body = blocks_[step.blocks[1]];
  std::vector<ArrayPtr> loop(call.list("loop_vars").begin(), call.list("loop_vars").end());
  const auto enter = [&](const Body& block) {
    call.require(block.inputs.size() == loop.size(),
                 "the number of loop variables does not match the blocks");
    for (std::size_t at = 0; at < loop.size(); ++at) values[block.inputs[at]] = loop[at];
    return evaluate_body(block, values);
  };
  for (;;) {
    const std::vector<ArrayPtr> goes_on = enter(condition);
    call.require(goes_on.size() == 1 && goes_on[0]->size() == 1, "the loop condition must be a single value");
    if (goes_on[0]->number(0) == 0) return loop;
    loop = enter(body);
  }
}

std::vector<ArrayPtr> Program::evaluate_body(const Body& body, Values& values) {
  for (const Step& step : body.steps) {
    std::vector<ArrayPtr> results = evaluate(step, values);
    for (std::size_t at = 0; at < step.outputs.size() && at < results.size(); ++at)
      values[step.outputs[at]] = std::move(results[at]);
    for (const std::string& name : step.last_uses) values.erase(name);
  }
  std::vector<ArrayPtr> results;
  for (const std::string& output : body.outputs) results.push_back(value_of({output, nullptr}, values));
  return results;
}

void Program::run() {
  if (bound_.size() != inputs_.size())
    throw Error(ErrorCode::kInternal, "inputs are missing: call bind() before run()");
  for (const auto& [name, type] : state_types_) {
    if (states_.contains(name)) continue;
    Dims dims;
    for (const auto& dimension : type.shape) dims.push_back(dimension.value);
    const bool is_float = type.element == ElementType::kFloat || type.element == ElementType::kFloat16;
    states_[name] = std::make_shared<const Array>(is_float ? Array::floats(type.element, dims)
                                                           : Array::integers(type.element, dims));
  }
  Values values = bound_;
  const std::vector<ArrayPtr> results = evaluate_body(blocks_[main_], values);
  tensors_.clear();
  for (const ArrayPtr& result : results) tensors_.push_back(tensor_of(*result));
  views_.assign(tensors_.begin(), tensors_.end());
  ++runs_;
}

}  // namespace ounce::mil
