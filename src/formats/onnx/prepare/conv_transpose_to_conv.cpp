#include "formats/onnx/prepare/integer_rewrites.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/emit/integer_ops.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/plan/op_rules.h"

namespace ounce::passes {
namespace {

using graph::kNone;
using graph::Use;
using Integers = std::vector<std::int64_t>;

constexpr std::int64_t kFewestInputs = 4;  // per group
constexpr double kMostWork = 2;            // limit for the factor on multiplications

// One spatial axis.
struct SpatialAxis {
  std::int64_t taps = 1, stride = 1, dilation = 1, pad_before = 0, pad_after = 0, more = 0;
  // Fields of the new Conv.
  std::int64_t new_taps = 1, new_pad_before = 0, new_pad_after = 0, cut_before = 0, cut_after = 0;
};

// Every phase uses all its taps; surplus outputs at the ends are not computed, or cut off.
bool solve(SpatialAxis& axis) {
  const std::int64_t width = (axis.taps - 1) * axis.dilation + 1, s = axis.stride;
  axis.new_taps = (width + s - 1) / s;
  axis.new_pad_before = axis.new_pad_after = axis.new_taps - 1;
  axis.cut_before = axis.pad_before;
  axis.cut_after = s * axis.new_taps - width + axis.pad_after - axis.more;
  const auto even_out = [s](std::int64_t& pad, std::int64_t& cut) {
    const std::int64_t steps = cut >= 0 ? cut / s : -((-cut + s - 1) / s);
    pad -= steps;
    cut -= steps * s;
  };
  even_out(axis.new_pad_before, axis.cut_before);
  even_out(axis.new_pad_after, axis.cut_after);
  return axis.new_pad_before >= 0 && axis.new_pad_after >= 0;
}

struct Transposed {
  const onnx::Tensor* weight = nullptr;
  const onnx::Tensor* bias = nullptr;
  std::int64_t groups = 1, inputs = 0, outputs = 0;  // channels; outputs per group
  std::vector<SpatialAxis> axes;

  std::int64_t phases() const {
    std::int64_t count = 1;
    for (const SpatialAxis& axis : axes) count *= axis.stride;
    return count;
  }
};

std::optional<Integers> list_of(const onnx::Node& node, Bytes name, std::size_t size,
                                std::int64_t otherwise) {
  if (onnx::find_attribute(node, name) == nullptr) return Integers(size, otherwise);
  auto list = onnx::integers_attribute(node, name);
  return list && list->size() == size ? list : std::nullopt;
}

std::variant<Transposed, Reason> read(const onnx::Model& model, const graph::Index& index, std::size_t body,
                                      const onnx::Node& node) {
  const auto weight = find_constant(model, index, body, input_of(node, 1));
  const auto bias = find_constant(model, index, body, input_of(node, 2));
  if (!weight || weight->tensor->type != ElementType::kFloat)
    return Reason{"its weight is not an FP32 constant"};
  if (!input_of(node, 2).empty() && (!bias || bias->tensor->type != ElementType::kFloat))
    return Reason{"its bias is not an FP32 constant"};
  const Integers& dims = weight->tensor->dims;
  if (dims.size() != 3 && dims.size() != 4) return Reason{"it does not have one or two spatial dimensions"};
  const std::size_t rank = dims.size() - 2;
  const auto groups = onnx::integer_setting(node, "group", 1);
  const auto padding = onnx::string_setting(node, "auto_pad", "NOTSET");
  const auto strides = list_of(node, "strides", rank, 1), dilations = list_of(node, "dilations", rank, 1);
  const auto pads = list_of(node, "pads", 2 * rank, 0), more = list_of(node, "output_padding", rank, 0);
  const bool is_plain = padding && (*padding == "NOTSET" || padding->empty()) &&
                        onnx::find_attribute(node, "output_shape") == nullptr;
  if (!is_plain || !groups || !strides || !dilations || !pads || !more)
    return Reason{"its pads are not explicit"};
  Transposed op{weight->tensor, bias ? bias->tensor : nullptr, *groups, dims[0], dims[1], {}};
  if (op.groups < 1 || op.inputs % op.groups != 0 || op.inputs / op.groups < kFewestInputs || op.outputs < 1)
    return Reason{"its groups are too small"};
  if (op.bias != nullptr && op.bias->element_count() != static_cast<std::uint64_t>(op.groups * op.outputs))
    return Reason{"its bias is not one value per channel"};
  double work = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    SpatialAxis axis{dims[i + 2], (*strides)[i], (*dilations)[i], (*pads)[i], (*pads)[rank + i], (*more)[i]};
    constexpr std::int64_t kMost = 1 << 16;
    for (const std::int64_t number : {axis.taps, axis.stride, axis.dilation}) {
      if (number < 1 || number > kMost) return Reason{"its attributes are invalid"};
    }
    if (std::min({axis.pad_before, axis.pad_after, axis.more}) < 0 || !solve(axis))
      return Reason{"its pads are too large to rewrite it as a convolution"};
    work *= static_cast<double>(axis.new_taps * axis.stride) / static_cast<double>(axis.taps);
    op.axes.push_back(axis);
  }
  if (work > kMostWork) return Reason{fmt::format("it would take {:.1f} times the multiplications", work)};
  return op;
}

// One phase of the output positions. The last axis comes first, because it is interleaved first.
struct Phase {
  std::vector<std::int64_t> remainders;  // by axis
};
std::vector<Phase> phases_of(const Transposed& op) {
  std::vector<Phase> phases;
  for (std::int64_t number = 0; number < op.phases(); ++number) {
    Phase phase{std::vector<std::int64_t>(op.axes.size())};
    std::int64_t left = number;
    for (std::size_t i = 0; i < op.axes.size(); ++i) {  // rows change fastest, so columns come first
      phase.remainders[i] = left % op.axes[i].stride;
      left /= op.axes[i].stride;
    }
    phases.push_back(std::move(phase));
  }
  return phases;
}

// [groups·phases·M, C/group, taps…]
onnx::Tensor new_weight(const Transposed& op) {
  const std::vector<float> old = floats_of(*op.weight);
  const std::int64_t inputs = op.inputs / op.groups;
  Integers dims = {op.groups * op.phases() * op.outputs, inputs};
  std::int64_t positions = 1, old_positions = 1;
  for (const SpatialAxis& axis : op.axes) {
    dims.push_back(axis.new_taps);
    positions *= axis.new_taps;
    old_positions *= axis.taps;
  }
  std::vector<float> made(count_of(dims));
  const std::vector<Phase> phases = phases_of(op);
  // The original tap for a position of a phase; empty if the tap is zero.
  const auto source = [&](const Phase& phase, std::int64_t position) -> std::optional<std::int64_t> {
    std::int64_t place = 0, factor = 1;
    for (std::size_t i = op.axes.size(); i-- > 0;) {
      const SpatialAxis& axis = op.axes[i];
      const std::int64_t q = axis.new_taps - 1 - position % axis.new_taps;
      const std::int64_t wide = axis.stride * q + phase.remainders[i];
      position /= axis.new_taps;
      if (wide % axis.dilation != 0 || wide / axis.dilation >= axis.taps) return std::nullopt;
      place += factor * (wide / axis.dilation);
      factor *= axis.taps;
    }
    return place;
  };
  std::size_t at = 0;
  for (std::int64_t g = 0; g < op.groups; ++g) {
    for (const Phase& phase : phases) {
      for (std::int64_t m = 0; m < op.outputs; ++m) {
        for (std::int64_t c = 0; c < inputs; ++c) {
          for (std::int64_t position = 0; position < positions; ++position, ++at) {
            const auto tap = source(phase, position);
            if (tap)
              made[at] =
                  old[static_cast<std::size_t>(((g * inputs + c) * op.outputs + m) * old_positions + *tap)];
          }
        }
      }
    }
  }
  return float_tensor(dims, made);
}

onnx::Tensor new_bias_of(const Transposed& op) {
  const std::vector<float> old = floats_of(*op.bias);
  std::vector<float> made;
  for (std::int64_t g = 0; g < op.groups; ++g) {
    for (std::int64_t phase = 0; phase < op.phases(); ++phase) {
      const auto begin = old.begin() + static_cast<std::ptrdiff_t>(g * op.outputs);
      made.insert(made.end(), begin, begin + static_cast<std::ptrdiff_t>(op.outputs));
    }
  }
  return float_tensor({static_cast<std::int64_t>(made.size())}, made);
}

class TransposedRewrite : GraphRewrite {
 public:
  TransposedRewrite(onnx::Model& model, const std::function<bool(const onnx::Node&)>& is_wanted)
      : GraphRewrite(model), limit_(index_), is_wanted_(is_wanted) {}

  Changes run() {
    return edit([&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (node.op() != Op::kConvTranspose || node.outputs.size() != 1 || node.outputs[0].empty()) return;
      if (!is_wanted_(node) || !leads_to_integers(index_, body, node.outputs[0])) return;
      const auto op = read(model_, index_, body, node);
      if (const auto* reason = std::get_if<Reason>(&op)) return leave(body, position, reason->text);
      rewrite(body, position, node, std::get<Transposed>(op));
    });
  }

 private:
  // A Relu or Clip that is the only user of the node's output.
  const Use* clamp_behind(std::size_t body, Bytes output) const {
    const graph::Value& value = *index_.find(body, output).value;
    const bool is_alone = !value.is_output && value.uses.size() == 1 && value.uses[0].body == body;
    if (!is_alone || value.uses[0].input != 0) return nullptr;
    const onnx::Node& next = index_.node(value.uses[0]);
    return next.info().is_clamp() && next.outputs.size() == 1 ? &value.uses[0] : nullptr;
  }

  void rewrite(std::size_t body, std::size_t position, const onnx::Node& node, const Transposed& op) {
    onnx::Tensor weight = new_weight(op);
    if (!limit_.take(weight.byte_count())) return leave(body, position, WorkLimit::kReason);
    BodyEditor& editor = editors_.of(body);
    const Use* clamp = clamp_behind(body, node.outputs[0]);
    const std::size_t place = clamp == nullptr ? position : clamp->node;
    const Bytes output = clamp == nullptr ? node.outputs[0] : index_.node(*clamp).outputs[0];
    std::vector<Bytes> more = {editor.add_tensor(place, std::move(weight))};
    if (op.bias != nullptr) more.push_back(editor.add_tensor(place, new_bias_of(op)));
    Chain chain(editor, place, node.inputs[0]);
    Integers pads;
    for (const SpatialAxis& axis : op.axes) pads.push_back(axis.new_pad_before);
    for (const SpatialAxis& axis : op.axes) pads.push_back(axis.new_pad_after);
    chain.node(Op::kConv, more, chain.integers("pads", pads), chain.integer("group", op.groups))
        .named(node.name);
    if (clamp != nullptr) {
      const onnx::Node& next = index_.node(*clamp);
      chain.node(next.op(), std::vector<Bytes>(next.inputs.begin() + 1, next.inputs.end()));
      chain.copy_attributes(next);
      editor.remove_node(clamp->node);
    }
    put_in_order(chain, op, place, editor);
    chain.finish(output);
    editor.remove_node(position);
    ++changes_.count;
  }

  // Moves channels last, interleaves the phases into positions, and moves channels back.
  static void put_in_order(Chain& chain, const Transposed& op, std::size_t place, BodyEditor& editor) {
    const std::size_t rank = op.axes.size();
    const std::int64_t channels = op.groups * op.outputs;
    const auto cut = [&] {
      Integers starts, ends, axes;
      for (std::size_t i = 0; i < rank; ++i) {
        const SpatialAxis& axis = op.axes[i];
        if (axis.cut_before == 0 && axis.cut_after == 0) continue;
        constexpr std::int64_t kEnd = std::int64_t{1} << 40;
        starts.push_back(axis.cut_before);
        ends.push_back(axis.cut_after == 0 ? kEnd : -axis.cut_after);
        axes.push_back(static_cast<std::int64_t>(i) + 1);
      }
      if (axes.empty()) return;
      chain.node(Op::kSlice, {editor.add_integers(place, starts), editor.add_integers(place, ends),
                              editor.add_integers(place, axes)});
    };
    const bool is_one = rank == 1;
    chain.node(Op::kTranspose, {}, chain.integers("perm", is_one ? Integers{0, 2, 1} : Integers{0, 2, 3, 1}));
    if (op.groups > 1 && op.phases() > 1) {  // (group, phase, m) → (phase, group, m)
      Integers split(rank + 1, 0), joined(rank + 1, 0), swap;
      split.insert(split.end(), {op.groups, op.phases(), op.outputs});
      joined.push_back(op.phases() * channels);
      for (std::size_t i = 0; i <= rank; ++i) swap.push_back(static_cast<std::int64_t>(i));
      const auto last = static_cast<std::int64_t>(rank);
      swap.insert(swap.end(), {last + 2, last + 1, last + 3});
      chain.reshape(split).node(Op::kTranspose, {}, chain.integers("perm", swap)).reshape(joined);
    }
    if (is_one) {
      if (op.phases() > 1) chain.reshape({0, -1, channels});
      cut();
      chain.node(Op::kTranspose, {}, chain.integers("perm", {0, 2, 1}));
      return;
    }
    const std::int64_t rows = op.axes[0].stride, columns = op.axes[1].stride;
    if (columns > 1) chain.reshape({0, 0, -1, rows * channels});
    if (rows > 1) {
      chain.node(Op::kTranspose, {}, chain.integers("perm", {0, 2, 1, 3})).reshape({0, 0, -1, channels});
      chain.node(Op::kTranspose, {}, chain.integers("perm", {0, 2, 1, 3}));
    }
    cut();
    chain.node(Op::kTranspose, {}, chain.integers("perm", {0, 3, 1, 2}));
  }

  WorkLimit limit_;
  const std::function<bool(const onnx::Node&)>& is_wanted_;
};

}  // namespace

Changes conv_transpose_to_conv(onnx::Model& model, const std::function<bool(const onnx::Node&)>& is_wanted) {
  return TransposedRewrite(model, is_wanted).run();
}

}  // namespace ounce::passes
