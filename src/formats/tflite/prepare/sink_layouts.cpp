#include "formats/tflite/prepare/sink_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "formats/tflite/edit/graph_editor.h"
#include "formats/tflite/prepare/known_shapes.h"

namespace ounce::tflite {
namespace {

constexpr std::uint64_t kTransposeCost = 4;
constexpr std::size_t kMostDimensionsMoved = 8;

constexpr auto kOnSingleValues = std::to_array<Builtin>({Builtin::kRelu,
                                                         Builtin::kRelu6,
                                                         Builtin::kReluN1To1,
                                                         Builtin::kLeakyRelu,
                                                         Builtin::kElu,
                                                         Builtin::kTanh,
                                                         Builtin::kLogistic,
                                                         Builtin::kHardSwish,
                                                         Builtin::kGelu,
                                                         Builtin::kAbs,
                                                         Builtin::kNeg,
                                                         Builtin::kExp,
                                                         Builtin::kLog,
                                                         Builtin::kSqrt,
                                                         Builtin::kRsqrt,
                                                         Builtin::kSquare,
                                                         Builtin::kAdd,
                                                         Builtin::kSub,
                                                         Builtin::kMul,
                                                         Builtin::kDiv,
                                                         Builtin::kMaximum,
                                                         Builtin::kMinimum,
                                                         Builtin::kSquaredDifference});
constexpr auto kReductions =
    std::to_array<Builtin>({Builtin::kMean, Builtin::kSum, Builtin::kReduceMax, Builtin::kReduceMin});

template <class List>
bool lists(const List& list, Builtin code) {
  return std::find(list.begin(), list.end(), code) != list.end();
}

bool is_layout(Builtin code) {
  return code == Builtin::kTranspose || code == Builtin::kReshape || code == Builtin::kSqueeze ||
         code == Builtin::kExpandDims;
}

using Axes = std::vector<std::size_t>;

// The axes of more than one element.
Axes long_axes(const std::vector<std::int32_t>& shape) {
  Axes axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) axes.push_back(i);
  }
  return axes;
}

std::string bytes_of(const std::vector<std::int32_t>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int32_t)};
}

class Sinking {
 public:
  Sinking(Model& model, std::size_t graph, bool is_called)
      : editor_(model, graph), shapes_(editor_, is_called) {
    shapes_.visit_all();
    is_static_.resize(editor_.graph().tensors.size());
    for (std::size_t i = 0; i < is_static_.size(); ++i) {
      const Tensor& tensor = editor_.graph().tensors[i];
      is_static_[i] =
          tensor.type == TensorType::kFloat32 && tensor.shape.size() <= kMostDimensionsMoved &&
          shapes_.has(static_cast<std::int32_t>(i)) &&
          std::all_of(tensor.shape.begin(), tensor.shape.end(), [](std::int32_t d) { return d > 0; });
    }
  }

  void run() {
    const std::size_t count = editor_.size();
    for (std::size_t op = 0; op < count; ++op) {
      count_step();
      if (editor_.is_removed(op)) continue;
      const Builtin code = editor_.code(op);
      if (is_layout(code) && note_layout(op)) continue;
      if (lists(kOnSingleValues, code) && sink_single(op)) continue;
      if (lists(kReductions, code) && sink_reduction(op)) continue;
      for (std::size_t i = 0; i < editor_.op(op).inputs.size(); ++i) {
        if (const std::int32_t input = editor_.input(op, i); input >= 0 && views_.contains(input))
          editor_.set_input(op, i, value_of(input, op));
      }
    }
    for (const auto& [moved, original] : renamed_) {
      if (editor_.producer(original) == GraphEditor::kNone) editor_.swap_names(moved, original);
    }
    editor_.finish();
  }

 private:
  // A tensor is the base with its long axes in this order, and with dimensions of size 1 anywhere.
  struct View {
    std::int32_t base = -1;
    Axes order;  // of axes of the base
    bool is_made = false;
  };

  // A copy: tensors move when one is added.
  std::vector<std::int32_t> shape(std::int32_t tensor) const { return editor_.tensor(tensor).shape; }
  bool is_static(std::int32_t tensor) const {
    return tensor >= 0 && (static_cast<std::size_t>(tensor) >= is_static_.size() ||
                           is_static_[static_cast<std::size_t>(tensor)]);
  }
  View view_of(std::int32_t tensor) const {
    const auto found = views_.find(tensor);
    return found == views_.end() ? View{tensor, long_axes(shape(tensor))} : found->second;
  }
  bool is_simple(std::size_t op) const {
    return editor_.op(op).outputs.size() == 1 && is_static(editor_.output(op)) &&
           !editor_.is_fixed(editor_.output(op));
  }

  // Leaves a layout to those that need its result.
  bool note_layout(std::size_t op) {
    const std::int32_t from = editor_.input(op, 0), to = editor_.output(op);
    if (!is_simple(op) || !is_static(from) || editor_.is_constant(from)) return false;
    const View before = view_of(from);
    View view{before.base, {}};
    if (editor_.code(op) == Builtin::kTranspose) {
      const auto order = editor_.integers(editor_.input(op, 1), kMostDimensionsMoved);
      const auto shape_before = shape(from);
      if (!order || order->size() != shape_before.size() || shape(to).size() != shape_before.size())
        return false;
      const Axes axes = long_axes(shape_before);
      for (std::size_t i = 0; i < order->size(); ++i) {
        const std::int64_t axis =
            (*order)[i] < 0 ? (*order)[i] + static_cast<std::int64_t>(order->size()) : (*order)[i];
        if (axis < 0 || axis >= static_cast<std::int64_t>(order->size()) ||
            shape(to)[i] != shape_before[static_cast<std::size_t>(axis)])
          return false;
        const auto place = std::find(axes.begin(), axes.end(), static_cast<std::size_t>(axis));
        if (place != axes.end())
          view.order.push_back(before.order[static_cast<std::size_t>(place - axes.begin())]);
      }
      Axes sorted = view.order;
      std::sort(sorted.begin(), sorted.end());
      if (sorted.size() != axes.size() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        return false;
    } else {
      const Axes old_axes = long_axes(shape(from)), new_axes = long_axes(shape(to));
      if (!std::equal(old_axes.begin(), old_axes.end(), new_axes.begin(), new_axes.end(),
                      [&](std::size_t a, std::size_t b) { return shape(from)[a] == shape(to)[b]; }))
        return false;
      view.order = before.order;
    }
    views_[to] = std::move(view);
    editor_.remove(op);
    return true;
  }

  // The result of a row of layouts, for an operator: the base, or made of it in front of the operator.
  std::int32_t value_of(std::int32_t tensor, std::size_t op) {
    View& view = views_.at(tensor);
    if (view.is_made) return tensor;
    const std::vector<std::int32_t> from = shape(view.base), to = shape(tensor);
    const bool keeps_order = std::is_sorted(view.order.begin(), view.order.end());
    if (keeps_order && from == to) return view.base;
    view.is_made = true;
    if (keeps_order) {
      reshape(op, view.base, tensor);
      return tensor;
    }
    // With as many dimensions as the result: those of size 1 go to the front.
    std::int32_t base = view.base;
    std::vector<std::int32_t> sizes = from;
    if (from.size() != to.size()) {
      sizes.assign(to.size() - view.order.size(), 1);
      for (const std::size_t axis : long_axes(from)) sizes.push_back(from[axis]);
      base = editor_.add_tensor(view.base, "_reshaped");
      editor_.set_shape(base, sizes);
      reshape(op, view.base, base);
    }
    const Axes axes = long_axes(sizes), base_axes = long_axes(from);
    Axes short_axes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 1) short_axes.push_back(i);
    }
    std::vector<std::int32_t> order;
    std::size_t next_long = 0, next_short = 0;
    for (const std::int32_t size : to) {
      if (size == 1) {
        order.push_back(static_cast<std::int32_t>(short_axes[next_short++]));
        continue;
      }
      const auto place = std::find(base_axes.begin(), base_axes.end(), view.order[next_long++]);
      order.push_back(static_cast<std::int32_t>(axes[static_cast<std::size_t>(place - base_axes.begin())]));
    }
    editor_.insert(op, Builtin::kTranspose, 1, {base, constant(order)}, {tensor});
    return tensor;
  }

  void reshape(std::size_t op, std::int32_t from, std::int32_t to) {
    const std::size_t added = editor_.insert(op, Builtin::kReshape, 1, {from, constant(shape(to))}, {to});
    editor_.set_options(added, "ReshapeOptions");
  }

  std::int32_t constant(const std::vector<std::int32_t>& values) {
    const auto [found, is_new] = constants_.try_emplace(values, -1);
    if (is_new)
      found->second = editor_.add_constant(fmt::format("layout_{}", fmt::join(values, "_")),
                                           {static_cast<std::int32_t>(values.size())}, TensorType::kInt32,
                                           Data(bytes_of(values)));
    return found->second;
  }

  // An output like the one of an operator, before the layout.
  std::int32_t moved_output(std::size_t op, std::vector<std::int32_t> sizes, Axes order) {
    const std::int32_t output = editor_.output(op);
    const std::int32_t moved = editor_.add_tensor(output, "_moved");
    editor_.set_shape(moved, std::move(sizes));
    editor_.set_output(op, 0, moved);
    views_[output] = {moved, std::move(order)};
    renamed_.emplace_back(moved, output);
    return moved;
  }

  bool sink_single(std::size_t op) {
    const std::int32_t output = editor_.output(op);
    if (!is_simple(op)) return false;
    std::optional<View> view;
    std::vector<std::pair<std::size_t, std::int32_t>> bases;
    for (std::size_t i = 0; i < editor_.op(op).inputs.size(); ++i) {
      const std::int32_t input = editor_.input(op, i);
      if (!is_static(input)) return false;
      if (element_count(editor_.tensor(input)) == 1U && editor_.is_constant(input) &&
          shape(input).size() <= 1)
        continue;
      if (shape(input) != shape(output)) return false;
      const View each = view_of(input);
      if (view && (view->order != each.order || shape(view->base) != shape(each.base))) return false;
      view = each;
      bases.emplace_back(i, each.base);
    }
    if (!view ||
        (shape(view->base) == shape(output) && std::is_sorted(view->order.begin(), view->order.end())))
      return false;
    for (const auto& [i, base] : bases) editor_.set_input(op, i, base);
    moved_output(op, shape(view->base), view->order);
    return true;
  }

  bool sink_reduction(std::size_t op) {
    const std::int32_t input = editor_.input(op, 0), output = editor_.output(op);
    const auto axes = editor_.integers(editor_.input(op, 1), kMostDimensionsMoved);
    if (!is_simple(op) || !is_static(input) || !axes || !views_.contains(input) ||
        editor_.op(op).inputs.size() != 2)
      return false;
    const View view = view_of(input);
    const Axes longs = long_axes(shape(input));
    std::vector<std::int32_t> sizes = shape(view.base), reduced;
    for (const std::int64_t each : *axes) {
      const auto rank = static_cast<std::int64_t>(shape(input).size());
      const std::int64_t axis = each < 0 ? each + rank : each;
      if (axis < 0 || axis >= rank) return false;
      const auto place = std::find(longs.begin(), longs.end(), static_cast<std::size_t>(axis));
      if (place == longs.end()) continue;
      const std::size_t base_axis = view.order[static_cast<std::size_t>(place - longs.begin())];
      sizes[base_axis] = 1;
      reduced.push_back(static_cast<std::int32_t>(base_axis));
    }
    std::sort(reduced.begin(), reduced.end());
    if (reduced.empty() || std::adjacent_find(reduced.begin(), reduced.end()) != reduced.end()) return false;
    Axes order;
    std::vector<std::int32_t> left;
    for (const std::size_t axis : view.order) {
      if (sizes[axis] == 1) continue;
      order.push_back(axis);
      left.push_back(sizes[axis]);
    }
    std::vector<std::int32_t> expected;
    for (const std::size_t axis : long_axes(shape(output))) expected.push_back(shape(output)[axis]);
    if (left != expected) return false;
    editor_.set_input(op, 0, view.base);
    editor_.set_input(op, 1, constant(reduced));
    editor_.set_options(op, "ReducerOptions").set("keep_dims", std::int64_t{1});
    moved_output(op, sizes, order);
    return true;
  }

  GraphEditor editor_;
  KnownShapes shapes_;
  std::vector<bool> is_static_;  // of the tensors of the file
  std::map<std::int32_t, View> views_;
  std::map<std::vector<std::int32_t>, std::int32_t> constants_;
  std::vector<std::pair<std::int32_t, std::int32_t>> renamed_;
};

// The cost and the number of layouts.
struct Moved {
  std::uint64_t cost = 0;
  std::size_t count = 0;
};

Moved moved_by(const Model& model, std::size_t graph) {
  Moved moved;
  for (const Operator& op : model.subgraphs[graph].operators) {
    const Builtin code = info(code_of(model, op)).code;
    if (!is_layout(code) || op.outputs.empty() || op.outputs[0] < 0) continue;
    const auto elements =
        element_count(model.subgraphs[graph].tensors[static_cast<std::size_t>(op.outputs[0])]);
    moved.cost += std::min<std::uint64_t>(elements.value_or(0), 0xffffffff) *
                  (code == Builtin::kTranspose ? kTransposeCost : 1);
    ++moved.count;
  }
  return moved;
}

}  // namespace

Changes sink_layouts(Model& model) {
  Changes changes;
  const std::vector<bool> called = called_graphs(model);
  for (std::size_t graph = 0; graph < called.size(); ++graph) {
    const Moved before = moved_by(model, graph);
    if (before.count < 2) continue;
    const SubGraph original = model.subgraphs[graph];
    const std::size_t codes = model.operator_codes.size(), buffers = model.buffers.size();
    Sinking(model, graph, called[graph]).run();
    const Moved after = moved_by(model, graph);
    if (after.cost < before.cost) {
      changes.count += before.count > after.count ? before.count - after.count : 1;
    } else {
      model.subgraphs[graph] = original;
      model.operator_codes.resize(codes);
      model.buffers.resize(buffers);
    }
  }
  return changes;
}

}  // namespace ounce::tflite
