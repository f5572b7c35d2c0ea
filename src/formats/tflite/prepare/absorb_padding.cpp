#include "formats/tflite/prepare/absorb_padding.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "formats/tflite/edit/graph_editor.h"
#include "formats/tflite/prepare/known_shapes.h"

namespace ounce::tflite {
namespace {

constexpr std::int64_t kSame = 0, kValid = 1;  // Padding of the schema
constexpr std::size_t kHeight = 1, kWidth = 2;

// The window of a convolution in one direction.
struct Window {
  std::int64_t kernel = 1, stride = 1, dilation = 1;

  bool is_sound() const {
    constexpr std::int64_t kLargest = 1 << 20;
    return kernel > 0 && kernel < kLargest && stride > 0 && stride < kLargest && dilation > 0 &&
           dilation < kLargest;
  }
  std::int64_t small_side(std::int64_t n) const { return (n + stride - 1) / stride; }
  std::int64_t total(std::int64_t n) const {
    return std::max<std::int64_t>((small_side(n) - 1) * stride + (kernel - 1) * dilation + 1 - n, 0);
  }
  std::int64_t before(std::int64_t n) const { return total(n) / 2; }
};

class Absorbing {
 public:
  Absorbing(Model& model, std::size_t graph, bool is_called)
      : editor_(model, graph), shapes_(editor_, is_called) {
    shapes_.visit_all();
  }

  std::size_t run() {
    std::size_t count = 0;
    const std::size_t size = editor_.size();
    for (std::size_t op = 0; op < size; ++op) {
      count_step();
      const Builtin code = editor_.code(op);
      bool is_done = false;
      if (code == Builtin::kConv2D) is_done = absorb_pad(op, "Conv2DOptions");
      if (code == Builtin::kDepthwiseConv2D) is_done = absorb_pad(op, "DepthwiseConv2DOptions");
      if (code == Builtin::kTransposeConv) is_done = absorb_slice(op);
      count += is_done ? 1U : 0U;
    }
    editor_.finish();
    return count;
  }

 private:
  bool is_image(std::int32_t tensor) const {
    return tensor >= 0 && shapes_.has(tensor) && editor_.tensor(tensor).type == TensorType::kFloat32 &&
           editor_.tensor(tensor).shape.size() == 4;
  }
  const std::vector<std::int32_t>& shape(std::int32_t tensor) const { return editor_.tensor(tensor).shape; }

  Window window(const Record& options, std::int32_t weight, std::size_t axis) const {
    const bool is_height = axis == kHeight;
    const bool is_dilated = options.info().name != std::string_view("TransposeConvOptions");
    return {shape(weight)[axis], options.integer(is_height ? "stride_h" : "stride_w"),
            is_dilated ? options.integer(is_height ? "dilation_h_factor" : "dilation_w_factor") : 1};
  }

  bool absorb_pad(std::size_t op, const char* table) {
    const std::int32_t padded = editor_.input(op, 0), weight = editor_.input(op, 1),
                       output = editor_.output(op);
    const Record* options = editor_.options(op, table);
    if (!is_image(padded) || !is_image(output) || weight < 0 || shape(weight).size() != 4 ||
        options == nullptr || options->integer("padding") != kValid)
      return false;
    const std::size_t pad = editor_.producer(padded);
    if (pad == GraphEditor::kNone || editor_.code(pad) != Builtin::kPad || editor_.op(pad).inputs.size() != 2)
      return false;
    const std::int32_t source = editor_.input(pad, 0);
    const auto amounts = editor_.integers(editor_.input(pad, 1), 8);
    if (!is_image(source) || !amounts || amounts->size() != 8) return false;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      const std::int64_t before = (*amounts)[2 * axis], after = (*amounts)[2 * axis + 1];
      if (axis != kHeight && axis != kWidth) {
        if (before != 0 || after != 0) return false;
        continue;
      }
      const Window each = window(*options, weight, axis);
      const std::int64_t n = shape(source)[axis];
      if (!each.is_sound() || before != each.before(n) || after != each.total(n) - each.before(n) ||
          shape(output)[axis] != each.small_side(n))
        return false;
    }
    editor_.set_input(op, 0, source);
    editor_.set_options(op, table).set("padding", kSame);
    if (editor_.use_count(padded) == 0 && !editor_.is_fixed(padded)) editor_.remove(pad);
    return true;
  }

  // The begin of a slice with a step of 1 whose end is known from its output.
  std::optional<std::vector<std::int64_t>> begins_of(std::size_t op) const {
    const auto begins = editor_.integers(editor_.input(op, 1), 4);
    if (editor_.code(op) == Builtin::kSlice) return begins;
    const Record* options = editor_.options(op, "StridedSliceOptions");
    const auto steps = editor_.integers(editor_.input(op, 3), 4);
    if (editor_.code(op) != Builtin::kStridedSlice || options == nullptr || !begins || !steps ||
        std::any_of(steps->begin(), steps->end(), [](std::int64_t step) { return step != 1; }))
      return std::nullopt;
    for (const char* field : {"begin_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
      if (options->integer(field) != 0) return std::nullopt;
    }
    return begins;
  }

  bool absorb_slice(std::size_t op) {
    const std::int32_t weight = editor_.input(op, 1), source = editor_.input(op, 2),
                       whole = editor_.output(op);
    const Record* options = editor_.options(op, "TransposeConvOptions");
    const auto sizes = editor_.integers(editor_.input(op, 0), 4);
    if (!is_image(source) || !is_image(whole) || weight < 0 || shape(weight).size() != 4 ||
        options == nullptr || options->integer("padding") != kValid ||
        options->integer("fused_activation_function") != 0 || !sizes || sizes->size() != 4)
      return false;
    const auto use = editor_.sole_use(whole);
    if (!use || use->input != 0) return false;
    const auto begins = begins_of(use->op);
    const std::int32_t output = editor_.output(use->op);
    if (!begins || begins->size() != 4 || !is_image(output) || editor_.op(use->op).outputs.size() != 1)
      return false;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      if ((*sizes)[axis] != shape(whole)[axis]) return false;
      const std::int64_t n = shape(output)[axis], begin = (*begins)[axis];
      if (axis != kHeight && axis != kWidth) {
        if (begin != 0 || n != shape(whole)[axis]) return false;
        continue;
      }
      const Window each = window(*options, weight, axis);
      const std::int64_t m = shape(source)[axis];
      // VALID gives all that the kernel reaches.
      if (!each.is_sound() || each.small_side(n) != m || begin != each.before(n) ||
          shape(whole)[axis] != (m - 1) * each.stride + each.kernel || begin + n > shape(whole)[axis])
        return false;
    }
    std::string bytes;
    for (const std::int32_t size : shape(output))
      bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    const std::string name = fmt::format("{}_shape", editor_.tensor(output).name);
    editor_.set_input(op, 0, editor_.add_constant(name, {4}, TensorType::kInt32, Data(std::move(bytes))));
    editor_.set_options(op, "TransposeConvOptions").set("padding", kSame);
    editor_.remove(use->op);
    editor_.set_output(op, 0, output);
    return true;
  }

  GraphEditor editor_;
  KnownShapes shapes_;
};

}  // namespace

Changes absorb_padding(Model& model) {
  Changes changes;
  const std::vector<bool> called = called_graphs(model);
  for (std::size_t graph = 0; graph < called.size(); ++graph)
    changes.count += Absorbing(model, graph, called[graph]).run();
  return changes;
}

}  // namespace ounce::tflite
