#include "formats/tflite/emit/integer_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "formats/tflite/edit/parts.h"
#include "formats/tflite/file/ops.h"
#include "io/rope.h"

namespace ounce::tflite {
namespace {

constexpr std::int32_t kUint8Shift = 128;  // from int8 codes to uint8 codes of the same values

Quantization quantization_of(const ActivationQuantization& codes) {
  Quantization quantization;
  quantization.scale = {codes.scale};
  quantization.zero_point = {codes.zero};
  return quantization;
}

ActivationQuantization as_uint8(ActivationQuantization codes) {
  codes.type = ElementType::kUint8;
  codes.zero += kUint8Shift;
  return codes;
}

class WeightProduction final : public io::Production {
 public:
  WeightProduction(std::shared_ptr<const IntegerModel> prepared, const OpWeights& weights)
      : prepared_(std::move(prepared)), tensor_(weights.weight), affine_(weights.affine) {}

  std::uint64_t source_bytes() const override {
    return data_of(prepared_->model(), prepared_->graph().tensors[tensor_]).size();
  }
  void run(std::span<const io::Place> parts, const ForEach&) const override {
    parts[0].write(0, *prepared_->weights().codes(tensor_, affine_));
  }

 private:
  std::shared_ptr<const IntegerModel> prepared_;
  std::size_t tensor_;
  std::vector<kernels::Affine> affine_;
};

template <class Code>
std::string bytes_of(const std::vector<std::int64_t>& codes) {
  std::string bytes;
  for (const std::int64_t code : codes) {
    const auto narrow = static_cast<Code>(code);
    bytes.append(reinterpret_cast<const char*>(&narrow), sizeof narrow);
  }
  return bytes;
}

std::vector<std::int64_t> codes_of(Bytes floats, const ActivationQuantization& quantization) {
  const plan::CodeLimits limits = plan::limits_of(quantization.type);
  std::vector<std::int64_t> codes;
  for (std::size_t at = 0; at + sizeof(float) <= floats.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, floats.data() + at, sizeof value);
    const double code = std::nearbyint(double{value} / quantization.scale) + quantization.zero;
    codes.push_back(std::isnan(code)
                        ? quantization.zero
                        : static_cast<std::int64_t>(std::clamp<double>(code, limits.low, limits.high)));
  }
  return codes;
}

class Emitter {
 public:
  Emitter(Model& model, const std::shared_ptr<const IntegerModel>& prepared, const IntegerPlan& plan)
      : model_(model),
        graph_(model.subgraphs[0]),
        prepared_(prepared),
        plan_(plan),
        flow_(prepared->flow()),
        codes_(flow_.names.size(), -1),
        place_(prepared->graph().operators.size()),
        before_(graph_.operators.size() + 1),
        after_(graph_.operators.size()) {
    for (std::size_t place = 0; place < graph_.operators.size(); ++place) {
      for (const std::int32_t output : graph_.operators[place].outputs) {
        if (output < 0 || static_cast<std::size_t>(output) >= flow_.names.size()) continue;
        const std::size_t op = flow_.producer[static_cast<std::size_t>(output)];
        if (op != Flow::kNone) place_[op] = place;
      }
    }
  }

  void emit() {
    const std::size_t tensors = flow_.names.size();
    for (std::size_t t = 0; t < tensors; ++t) add_codes(t);
    for (const auto& [at, codes] : plan_.scales.requantized) {
      if (is_integer(at.first)) requantize(at, codes);
    }
    for (const auto& [at, codes] : plan_.scales.numbers) {
      if (is_integer(at.first)) code_number(at, codes);
    }
    for (const auto& [op, weights] : plan_.weights) code_weights(op, weights);
    order();
    empty_unused_buffers(model_);
    set_versions(model_);
  }

 private:
  bool is_integer(std::size_t op) const { return plan_.ops[op].is_integer(); }
  Tensor& tensor(std::int32_t index) { return graph_.tensors[static_cast<std::size_t>(index)]; }
  std::int32_t& input(const OpInput& at) { return operator_at(at.first).inputs[at.second]; }
  Operator& operator_at(std::size_t op) { return graph_.operators[place_[op]]; }
  std::int32_t source_input(const OpInput& at) const {
    return prepared_->graph().operators[at.first].inputs[at.second];
  }

  // Does the operator take this input as codes of the value's own scale?
  bool takes_codes(const Flow::Use& use) const {
    const auto& data = prepared_->candidates()[use.op].data;
    return is_integer(use.op) && std::find(data.begin(), data.end(), use.input) != data.end() &&
           !plan_.scales.requantized.contains({use.op, use.input});
  }

  void set_codes(Tensor& changed, const ActivationQuantization& codes) {
    changed.type = *tensor_type_of(codes.type);
    changed.quantization = quantization_of(codes);
  }
  std::int32_t add_like(std::size_t t, const char* ending, const ActivationQuantization& codes) {
    Tensor added;
    const Tensor& like = graph_.tensors[t];
    added.shape = like.shape;
    added.shape_signature = like.shape_signature;
    added.has_rank = like.has_rank;
    added.name = model_.intern(fmt::format("{}_{}", like.name, ending));
    set_codes(added, codes);
    return add_tensor(graph_, std::move(added));
  }
  Operator conversion(Builtin code, std::int32_t from, std::int32_t to) {
    Operator op;
    op.opcode_index = operator_code(model_, code);
    op.inputs = {from};
    op.outputs = {to};
    return op;
  }

  // A value in its own codes, as floats, or both.
  void add_codes(std::size_t t) {
    const std::optional<ActivationQuantization>& codes = plan_.scales.codes[t];
    if (!codes) return;
    const std::size_t maker = flow_.producer[t];
    const bool is_made = maker != Flow::kNone && is_integer(maker);
    std::vector<Flow::Use> takers, others;
    for (const Flow::Use& use : flow_.uses[t]) {
      if (takes_codes(use))
        takers.push_back(use);
      else if (!plan_.scales.requantized.contains({use.op, use.input}) || !is_integer(use.op))
        others.push_back(use);
    }
    const bool is_input = flow_.is_input[t], is_output = flow_.is_output[t];
    const bool is_port = plan_.io != ElementType::kUndefined && (is_input || (is_output && is_made));
    if (is_port && is_input && !is_output) return add_input(t, *codes, takers, others);
    if (is_made) return add_made(t, maker, *codes, takers, others, is_output, is_port);
    if (takers.empty()) return;
    codes_[t] = add_like(t, "codes", *codes);
    auto& place = maker == Flow::kNone ? before_[0] : after_[place_[maker]];
    place.push_back(conversion(Builtin::kQuantize, static_cast<std::int32_t>(t), codes_[t]));
    for (const Flow::Use& use : takers) input({use.op, use.input}) = codes_[t];
  }

  void add_made(std::size_t t, std::size_t maker, const ActivationQuantization& codes,
                const std::vector<Flow::Use>& takers, const std::vector<Flow::Use>& others, bool is_output,
                bool is_port) {
    const auto own = static_cast<std::int32_t>(t);
    const bool is_uint8 = is_port && plan_.io == ElementType::kUint8;
    const bool needs_floats = !others.empty() || (is_output && !is_port);
    if (!needs_floats && !is_uint8) {
      set_codes(graph_.tensors[t], codes);
      codes_[t] = own;
      return;
    }
    if (is_port && !is_uint8) {  // codes by its own name, floats for those inside
      set_codes(graph_.tensors[t], codes);
      codes_[t] = own;
      add_floats(t, own, others, after_[place_[maker]]);
      return;
    }
    codes_[t] = add_like(t, "codes", codes);
    for (std::int32_t& output : operator_at(maker).outputs) {
      if (output == own) output = codes_[t];
    }
    for (const Flow::Use& use : takers) input({use.op, use.input}) = codes_[t];
    if (!is_uint8) {
      after_[place_[maker]].push_back(conversion(Builtin::kDequantize, codes_[t], own));
      return;
    }
    if (!others.empty()) add_floats(t, codes_[t], others, after_[place_[maker]]);
    set_codes(graph_.tensors[t], as_uint8(codes));
    after_[place_[maker]].push_back(conversion(Builtin::kQuantize, codes_[t], own));
  }

  // An input of the model that becomes integers.
  void add_input(std::size_t t, const ActivationQuantization& codes, const std::vector<Flow::Use>& takers,
                 const std::vector<Flow::Use>& others) {
    const auto own = static_cast<std::int32_t>(t);
    codes_[t] = own;
    if (plan_.io == ElementType::kUint8) {
      codes_[t] = add_like(t, "codes", codes);
      before_[0].push_back(conversion(Builtin::kQuantize, own, codes_[t]));
      for (const Flow::Use& use : takers) input({use.op, use.input}) = codes_[t];
    }
    if (!others.empty()) add_floats(t, codes_[t], others, before_[0]);
    set_codes(graph_.tensors[t], plan_.io == ElementType::kUint8 ? as_uint8(codes) : codes);
  }

  void add_floats(std::size_t t, std::int32_t codes, const std::vector<Flow::Use>& users,
                  std::vector<Operator>& place) {
    Tensor floats;
    floats.shape = graph_.tensors[t].shape;
    floats.shape_signature = graph_.tensors[t].shape_signature;
    floats.has_rank = graph_.tensors[t].has_rank;
    floats.name = model_.intern(fmt::format("{}_floats", graph_.tensors[t].name));
    const std::int32_t added = add_tensor(graph_, std::move(floats));
    place.push_back(conversion(Builtin::kDequantize, codes, added));
    for (const Flow::Use& use : users) input({use.op, use.input}) = added;
  }

  void requantize(const OpInput& at, const ActivationQuantization& codes) {
    const std::int32_t source = source_input(at);
    const auto t = static_cast<std::size_t>(source);
    const std::size_t maker = flow_.producer[t];
    const bool is_coded = maker != Flow::kNone && is_integer(maker);
    const std::int32_t from = is_coded ? codes_[t] : source;
    const std::int32_t to = add_like(t, "requantized", codes);
    before_[place_[at.first]].push_back(conversion(Builtin::kQuantize, from, to));
    input(at) = to;
  }

  // A constant with codes: the tensor itself if all who use it want the same, or a copy.
  template <class Make>
  std::int32_t constant(std::size_t t, const Quantization& quantization, TensorType type, const Make& make) {
    std::vector<std::pair<Quantization, std::int32_t>>& known = constants_[{t, type}];
    for (const auto& [its, index] : known) {
      if (its == quantization) return index;
    }
    Tensor changed = graph_.tensors[t];
    changed.type = type;
    changed.quantization = quantization;
    changed.buffer = add_buffer(model_, make());
    std::int32_t index = static_cast<std::int32_t>(t);
    if (is_own(t, quantization)) {
      graph_.tensors[t] = std::move(changed);
    } else {
      changed.name = model_.intern(fmt::format("{}_codes", changed.name));
      index = add_tensor(graph_, std::move(changed));
    }
    known.emplace_back(quantization, index);
    return index;
  }
  // Does every operator that uses this constant take it as these codes?
  bool is_own(std::size_t t, const Quantization& quantization) const {
    if (has_one_form(*prepared_, plan_, t)) return true;
    const auto is_same = [&](const Flow::Use& use) {
      const auto number = plan_.scales.numbers.find({use.op, use.input});
      return is_integer(use.op) && number != plan_.scales.numbers.end() &&
             quantization_of(number->second) == quantization;
    };
    return !flow_.is_output[t] && std::all_of(flow_.uses[t].begin(), flow_.uses[t].end(), is_same);
  }

  void code_number(const OpInput& at, const ActivationQuantization& codes) {
    const auto t = static_cast<std::size_t>(source_input(at));
    input(at) = constant(t, quantization_of(codes), *tensor_type_of(codes.type), [&] {
      const auto values = codes_of(data_of(prepared_->model(), prepared_->graph().tensors[t]).bytes(), codes);
      return Data(codes.type == ElementType::kInt16 ? bytes_of<std::int16_t>(values)
                                                    : bytes_of<std::int8_t>(values));
    });
  }

  static Quantization weight_quantization(const OpWeights& weights) {
    Quantization quantization;
    for (const kernels::Affine& affine : weights.affine) quantization.scale.push_back(affine.scale);
    quantization.zero_point.assign(weights.affine.size(), 0);
    quantization.dimension = static_cast<std::int32_t>(weights.affine.size() == 1 ? 0 : weights.axis);
    return quantization;
  }
  static Quantization bias_quantization(const OpWeights& weights) {
    Quantization quantization;
    quantization.scale = weights.bias_scale;
    quantization.zero_point.assign(weights.bias_scale.size(), 0);
    return quantization;
  }
  TensorType bias_type() const { return plan_.is_wide() ? TensorType::kInt64 : TensorType::kInt32; }

  void code_weights(std::size_t op, const OpWeights& weights) {
    const OpInfo& row = *prepared_->candidates()[op].row;
    input({op, row.weight}) = constant(weights.weight, weight_quantization(weights), TensorType::kInt8, [&] {
      const std::uint64_t size =
          data_of(prepared_->model(), prepared_->graph().tensors[weights.weight]).size() / sizeof(float);
      return Data(io::Computed{std::make_shared<WeightProduction>(prepared_, weights), 0, size});
    });
    if (weights.bias == Flow::kNone) return;
    const Quantization units = bias_quantization(weights);
    // The mean error that a bias makes up for is that of one operator.
    if (!weights.shift.empty() && !has_one_form(*prepared_, plan_, weights.bias))
      constants_.erase({weights.bias, bias_type()});
    input({op, row.bias}) = constant(weights.bias, units, bias_type(), [&] {
      const auto codes = bias_codes(prepared_->model(), weights, plan_.is_wide());
      return Data(plan_.is_wide() ? bytes_of<std::int64_t>(codes) : bytes_of<std::int32_t>(codes));
    });
  }

  void order() {
    std::vector<Operator> ordered;
    for (std::size_t op = 0; op < after_.size(); ++op) {
      std::move(before_[op].begin(), before_[op].end(), std::back_inserter(ordered));
      ordered.push_back(std::move(graph_.operators[op]));
      std::move(after_[op].begin(), after_[op].end(), std::back_inserter(ordered));
    }
    graph_.operators = std::move(ordered);
  }

  Model& model_;
  SubGraph& graph_;
  std::shared_ptr<const IntegerModel> prepared_;
  const IntegerPlan& plan_;
  const Flow& flow_;
  std::vector<std::int32_t> codes_;                    // the tensor with the codes of a value; -1: none
  std::vector<std::size_t> place_;                     // of the operators of the prepared model, in this one
  std::vector<std::vector<Operator>> before_, after_;  // conversions, by place
  std::map<std::pair<std::size_t, TensorType>, std::vector<std::pair<Quantization, std::int32_t>>> constants_;
};

}  // namespace

void apply_integers(Model& model, const std::shared_ptr<const IntegerModel>& prepared,
                    const IntegerPlan& plan) {
  Emitter(model, prepared, plan).emit();
}

}  // namespace ounce::tflite
