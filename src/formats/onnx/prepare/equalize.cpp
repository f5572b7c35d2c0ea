#include "formats/onnx/prepare/equalize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <variant>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/edit/linear_op.h"
#include "formats/onnx/file/attributes.h"
#include "model/model_file.h"

namespace ounce::passes {
namespace {

using graph::Use;
using model::Layout;

// A constant whose values each belong to a channel.
struct ChannelConstant {
  Constant constant;
  ChannelMap channels;
};

// An op that can apply a factor to each output channel.
struct Producer {
  std::size_t body = 0, position = 0;
  Bytes output;
  Layout layout = Layout::kChannelsLast;
  std::size_t channels = 0;
  std::vector<ChannelConstant> parameters;
};

// An op that multiplies its input by a constant.
struct Consumer {
  Bytes input;
  ChannelConstant weight;  // by input channel
  ChannelMap outputs;      // of the weight
};

// Everything between a producer and its consumers.
struct Region {
  std::vector<Bytes> values;
  std::vector<Consumer> consumers;
};

ChannelMap outputs_of(const LinearOp& op) { return {op.channels, op.inner, op.per_group, op.rows_per_group}; }

// A constant with one value per channel along the last axis, repeated for all rows; empty for a single
// channel.
std::optional<ChannelConstant> along_last_axis(const std::optional<Constant>& constant) {
  if (!constant || constant->tensor->dims.empty() || constant->tensor->element_count() == 0)
    return std::nullopt;
  const auto channels = static_cast<std::size_t>(constant->tensor->dims.back());
  if (channels < 2) return std::nullopt;
  return ChannelConstant{*constant, ChannelMap::along(1, channels)};
}

std::string why_fixed(const ChannelConstant& parameter) {
  if (parameter.constant.tensor->type != ElementType::kFloat) return "its parameters are not float32";
  return parameter.constant.is_shared() ? "its parameters are shared with other nodes" : "";
}

// A value followed through ops that commute with positive factors.
struct Passing {
  Bytes value;
  Layout layout;
  bool is_point = false;  // all axes after the second one are 1
};

// The output of a node for this input; empty if factors cannot pass through the node.
std::optional<Passing> pass_through(const onnx::Node& node, Passing from) {
  if (node.outputs.size() != 1 || node.outputs[0].empty()) return std::nullopt;
  from.value = node.outputs[0];
  const ops::OpInfo& op = node.info();
  if (op.is_homogeneous && op.channels == ops::Channels::kKept) return from;
  if (from.layout != Layout::kChannelsSecond) return std::nullopt;
  if (op.is_homogeneous && op.channels == ops::Channels::kKeptInWindow)
    return Passing{from.value, from.layout, from.is_point || op.shape == ops::Shape::kGlobalPool};
  if (node.op() == Op::kFlatten && from.is_point && onnx::integer_setting(node, "axis", 1) == 1)
    return Passing{from.value, Layout::kChannelsLast};
  return std::nullopt;
}

// The input channels of the weight of a Conv or Gemm read by read_linear_op().
std::optional<ChannelMap> inputs_of(const onnx::Node& node, const LinearOp& op) {
  const auto& dims = op.weight.tensor->dims;
  const auto axis = [&](std::size_t i) { return static_cast<std::size_t>(dims[i]); };
  if (node.op() == Op::kGemm) {
    if (onnx::integer_setting(node, "transA", 0) != 0) return std::nullopt;
    const bool is_transposed = onnx::integer_setting(node, "transB", 0) != 0;
    return is_transposed ? ChannelMap::along(1, axis(1)) : ChannelMap::along(axis(1), axis(0));
  }
  const auto groups = onnx::integer_setting(node, "group", 1);
  if (!groups || *groups < 1 || dims[0] % *groups != 0) return std::nullopt;
  const auto count = static_cast<std::size_t>(*groups);
  return ChannelMap{axis(1) * count, op.inner / axis(1), axis(1), axis(0) / count};
}

class Equalizing {
 public:
  Equalizing(onnx::Model& model, const calibration::Ranges& ranges)
      : model_(model), ranges_(ranges), index_(model) {}

  Equalization run() {
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) {
      for (std::size_t i = 0; i < index_.bodies()[body].nodes().size(); ++i) visit(body, i);
    }
    write();
    return std::move(result_);
  }

 private:
  const onnx::Node& node_at(std::size_t body, std::size_t position) const {
    return *index_.bodies()[body].nodes()[position];
  }
  std::optional<Constant> constant_at(std::size_t body, const onnx::Node& node, std::size_t input) const {
    return find_constant(model_, index_, body, input_of(node, input));
  }

  void visit(std::size_t body, std::size_t position) {
    const onnx::Node& node = node_at(body, position);
    if (node.outputs.empty() || node.outputs[0].empty()) return;
    const auto reason = [&]() -> std::optional<Reason> {
      auto producer = read_producer(body, position);
      if (auto* why = std::get_if<Reason>(&producer)) return std::move(*why);
      if (std::get<Producer>(producer).parameters.empty()) return std::nullopt;
      return equalize_behind(std::get<Producer>(producer));
    }();
    if (reason)
      result_.left_alone.push_back(fmt::format("{}: {}", place_of(index_, body, position), reason->text));
  }

  // Returns a Producer without parameters if the node is none of these ops.
  std::variant<Producer, Reason> read_producer(std::size_t body, std::size_t position) const {
    const onnx::Node& node = node_at(body, position);
    Producer producer{body, position, node.outputs[0], Layout::kChannelsLast, 0, {}};
    if (is_linear_op(node)) {
      if (auto reason = read_linear_producer(producer)) return std::move(*reason);
    } else if (node.op() == Op::kLayerNormalization) {
      if (auto reason = read_norm(node, producer)) return std::move(*reason);
    } else if (node.op() == Op::kMatMul || node.op() == Op::kMul) {
      read_product(node, producer);
    }
    if (producer.parameters.empty()) return producer;
    producer.channels = producer.parameters.front().channels.count;
    for (const ChannelConstant& parameter : producer.parameters) {
      if (const std::string why = why_fixed(parameter); !why.empty()) return Reason{why};
      if (parameter.channels.count != producer.channels)
        return Reason{"its parameters are not one per channel"};
    }
    return producer;
  }

  std::optional<Reason> read_linear_producer(Producer& producer) const {
    auto read = read_linear_op(model_, index_, producer.body, producer.position);
    if (auto* reason = std::get_if<Reason>(&read)) return std::move(*reason);
    const auto& op = std::get<LinearOp>(read);
    if (op.channels < 2) return std::nullopt;
    if (node_at(producer.body, producer.position).op() != Op::kGemm)
      producer.layout = Layout::kChannelsSecond;
    producer.parameters.push_back({op.weight, outputs_of(op)});
    if (op.bias)
      producer.parameters.push_back({*op.bias, ChannelMap::along(1, op.bias->tensor->element_count())});
    return std::nullopt;
  }

  std::optional<Reason> read_norm(const onnx::Node& node, Producer& producer) const {
    const bool has_bias = !input_of(node, 2).empty();
    const auto scale = along_last_axis(constant_at(producer.body, node, 1)),
               bias = along_last_axis(constant_at(producer.body, node, 2));
    if (!scale || (has_bias && !bias)) return Reason{"its scale or bias is not one constant per channel"};
    producer.parameters.push_back(*scale);
    if (bias) producer.parameters.push_back(*bias);
    return std::nullopt;
  }

  // A MatMul or Mul, and the Add after it.
  void read_product(const onnx::Node& node, Producer& producer) const {
    if (node.inputs.size() != 2) return;
    auto factor = along_last_axis(constant_at(producer.body, node, 1));
    if (!factor && node.op() == Op::kMul) factor = along_last_axis(constant_at(producer.body, node, 0));
    if (!factor || (node.op() == Op::kMatMul && factor->constant.tensor->dims.size() < 2)) return;
    producer.parameters.push_back(*factor);
    const graph::Value& value = *index_.find(producer.body, node.outputs[0]).value;
    if (value.is_output || value.uses.size() != 1 || value.uses[0].body != producer.body) return;
    const onnx::Node& next = index_.node(value.uses[0]);
    if (next.op() != Op::kAdd || next.inputs.size() != 2 || next.outputs.size() != 1) return;
    const auto bias = along_last_axis(constant_at(producer.body, next, 1 - value.uses[0].input));
    if (!bias || next.outputs[0].empty()) return;
    producer.parameters.push_back(*bias);
    producer.output = next.outputs[0];
  }

  std::variant<Region, Reason> explore(const Producer& producer) const {
    Region region;
    std::vector<Passing> open = {{producer.output, producer.layout}};
    while (!open.empty()) {
      const Passing from = open.back();
      open.pop_back();
      region.values.push_back(from.value);
      const graph::Value& value = *index_.find(producer.body, from.value).value;
      if (value.is_output) return Reason{fmt::format("'{}' is an output", from.value)};
      for (const Use& use : value.uses) {
        if (use.body != producer.body) return Reason{fmt::format("'{}' is used in a subgraph", from.value)};
        const auto to = use.input == 0 ? pass_through(index_.node(use), from) : std::nullopt;
        if (to) {
          open.push_back(*to);
          continue;
        }
        auto consumer = read_consumer(use, from);
        if (auto* reason = std::get_if<Reason>(&consumer)) return std::move(*reason);
        if (std::get<Consumer>(consumer).weight.channels.count != producer.channels)
          return Reason{fmt::format("'{}' and its weight differ in the number of channels", from.value)};
        region.consumers.push_back(std::get<Consumer>(std::move(consumer)));
      }
    }
    if (region.consumers.empty()) return Reason{"no product uses its output"};
    return region;
  }

  std::variant<Consumer, Reason> read_consumer(const Use& use, const Passing& from) const {
    const onnx::Node& node = index_.node(use);
    const auto stop = [&](std::string_view why) {
      return Reason{fmt::format("'{}' goes to {} '{}': {}", from.value, node.op_type(),
                                graph::node_label(node, use.node), why)};
    };
    const Layout layout = node.op() == Op::kConv ? Layout::kChannelsSecond : Layout::kChannelsLast;
    const bool is_product = node.op() == Op::kConv || node.op() == Op::kGemm || node.op() == Op::kMatMul;
    if (!is_product || use.input != 0) return stop("factors cannot be folded into it");
    if (layout != from.layout) return stop("it multiplies along another axis");
    Consumer consumer;
    consumer.input = from.value;
    if (node.op() == Op::kMatMul) {
      if (!read_matmul(use, consumer)) return stop("its right input is not a constant matrix");
    } else {
      auto read = read_linear_op(model_, index_, use.body, use.node);
      if (const auto* reason = std::get_if<Reason>(&read)) return stop(reason->text);
      const auto& op = std::get<LinearOp>(read);
      const auto inputs = inputs_of(node, op);
      if (!inputs) return stop("its input channels are unknown");
      consumer.weight = {op.weight, *inputs};
      consumer.outputs = outputs_of(op);
    }
    if (const std::string why = why_fixed(consumer.weight); !why.empty()) return stop(why);
    return consumer;
  }

  bool read_matmul(const Use& use, Consumer& consumer) const {
    const auto weight = constant_at(use.body, index_.node(use), 1);
    if (!weight || weight->tensor->dims.size() != 2 || weight->tensor->element_count() == 0) return false;
    const auto rows = static_cast<std::size_t>(weight->tensor->dims[0]),
               columns = static_cast<std::size_t>(weight->tensor->dims[1]);
    consumer.weight = {*weight, ChannelMap::along(columns, rows)};
    consumer.outputs = ChannelMap::along(1, columns);
    return true;
  }

  // Empty on success.
  std::optional<Reason> equalize_behind(const Producer& producer) {
    auto explored = explore(producer);
    if (auto* reason = std::get_if<Reason>(&explored)) return std::move(*reason);
    const auto& region = std::get<Region>(explored);
    auto products = read_products(producer, region);
    if (auto* reason = std::get_if<Reason>(&products)) return std::move(*reason);
    const auto best = best_factors(std::get<std::vector<Product>>(products));
    if (!best) return Reason{"no factors are predicted to improve it"};
    if (!scale(producer, region, best->factors)) return Reason{"its new parameters would not be finite"};
    result_.done.push_back(fmt::format("{}: alpha {}, predicted {:.1f} dB better",
                                       place_of(index_, producer.body, producer.position), best->alpha,
                                       best->gain_db));
    for (const Bytes value : region.values)
      result_.rescaled.push_back(graph::value_path(index_, producer.body, value));
    ++result_.count;
    return std::nullopt;
  }

  std::variant<std::vector<Product>, Reason> read_products(const Producer& producer,
                                                           const Region& region) const {
    std::vector<Product> products;
    for (const Consumer& consumer : region.consumers) {
      const auto seen = ranges_.values.find(graph::value_path(index_, producer.body, consumer.input));
      auto extents = seen == ranges_.values.end() ? std::vector<ChannelExtent>() : extents_of(seen->second);
      if (extents.size() != producer.channels)
        return Reason{fmt::format("the channels of '{}' were not observed", consumer.input)};
      products.push_back({std::move(extents), values_of(consumer.weight.constant), consumer.weight.channels,
                          consumer.outputs});
    }
    return products;
  }

  // Changes all parameters or none.
  bool scale(const Producer& producer, const Region& region, const std::vector<double>& factors) {
    std::vector<double> inverse = factors;
    for (double& factor : inverse) factor = 1 / factor;
    std::vector<std::pair<Constant, std::vector<float>>> scaled;
    for (const ChannelConstant& parameter : producer.parameters)
      scaled.emplace_back(parameter.constant, scaled_values(parameter, inverse));
    for (const Consumer& consumer : region.consumers)
      scaled.emplace_back(consumer.weight.constant, scaled_values(consumer.weight, factors));
    for (const auto& [constant, values] : scaled) {
      if (!are_finite(values)) return false;
    }
    for (auto& [constant, values] : scaled) changed_[constant.value] = {constant, std::move(values)};
    return true;
  }

  std::vector<float> scaled_values(const ChannelConstant& parameter,
                                   const std::vector<double>& factors) const {
    std::vector<float> values = values_of(parameter.constant);
    ChannelWalk walk(parameter.channels);
    for (float& value : values) {
      value = static_cast<float>(value * factors[walk.channel()]);
      walk.advance();
    }
    return values;
  }

  // A weight may get factors on both sides.
  std::vector<float> values_of(const Constant& constant) const {
    const auto changed = changed_.find(constant.value);
    return changed == changed_.end() ? floats_of(*constant.tensor) : changed->second.values;
  }

  void write() {
    Editors editors(model_, index_);
    for (auto& [value, changed] : changed_) {
      const auto dims = changed.constant.tensor->dims;
      editors.of(changed.constant.body).change_tensor(*value, float_tensor(dims, changed.values));
      changed.values = {};
    }
    editors.finish();
  }

  struct Changed {
    Constant constant;
    std::vector<float> values;
  };

  onnx::Model& model_;
  const calibration::Ranges& ranges_;
  graph::Index index_;
  std::map<const graph::Value*, Changed> changed_;
  Equalization result_;
};

}  // namespace

Equalization equalize(onnx::Model& model, const calibration::Ranges& ranges) {
  return Equalizing(model, ranges).run();
}

}  // namespace ounce::passes
