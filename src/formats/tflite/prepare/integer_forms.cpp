#include "formats/tflite/prepare/integer_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "formats/tflite/edit/float_values.h"
#include "formats/tflite/edit/graph_editor.h"
#include "formats/tflite/prepare/known_shapes.h"
#include "formats/tflite/prepare/work_limit.h"

namespace ounce::tflite {
namespace {

class IntegerForms {
 public:
  IntegerForms(Model& model, std::size_t graph, bool is_called, WorkLimit& limit)
      : model_(model), editor_(model, graph), shapes_(editor_, is_called), limit_(limit) {
    shapes_.visit_all();
  }

  std::size_t run() {
    std::size_t count = 0;
    const std::size_t size = editor_.size();
    for (std::size_t op = 0; op < size; ++op) {
      count_step();
      if (!editor_.is_removed(op) && editor_.op(op).outputs.size() == 1 && editor_.output(op) >= 0)
        count += rewrite(op) ? 1U : 0U;
    }
    editor_.finish();
    return count;
  }

 private:
  bool rewrite(std::size_t op) {
    switch (editor_.code(op)) {
      case Builtin::kSqueeze:
      case Builtin::kExpandDims: return make_reshape(op);
      case Builtin::kAveragePool2D: return make_mean(op);
      case Builtin::kPrelu: return make_leaky(op);
      case Builtin::kDiv: return make_product(op);
      case Builtin::kMaximum: return make_activation(op, 0, Builtin::kRelu);
      case Builtin::kMinimum: return make_activation(op, 6, Builtin::kRelu6);
      default: return false;
    }
  }

  bool is_float(std::int32_t tensor) const {
    return tensor >= 0 && editor_.tensor(tensor).type == TensorType::kFloat32;
  }
  const std::vector<std::int32_t>& shape(std::int32_t tensor) const { return editor_.tensor(tensor).shape; }

  std::int32_t integers(const std::string& name, const std::vector<std::int32_t>& values) {
    return editor_.add_constant(name, {static_cast<std::int32_t>(values.size())}, TensorType::kInt32,
                                Data(std::string(reinterpret_cast<const char*>(values.data()),
                                                 values.size() * sizeof(std::int32_t))));
  }

  bool make_reshape(std::size_t op) {
    const std::int32_t input = editor_.input(op, 0), output = editor_.output(op);
    if (input < 0 || !shapes_.has(input) || !shapes_.has(output) || shape(output).empty() ||
        element_count(editor_.tensor(input)) != element_count(editor_.tensor(output)))
      return false;
    const std::int32_t sizes = integers(fmt::format("{}_shape", editor_.tensor(output).name), shape(output));
    editor_.keep_inputs(op, 1);
    editor_.add_input(op, sizes);
    editor_.set_code(op, Builtin::kReshape, 1);
    editor_.set_options(op, "ReshapeOptions");
    return true;
  }

  bool make_mean(std::size_t op) {
    const std::int32_t input = editor_.input(op, 0), output = editor_.output(op);
    const Record* options = editor_.options(op, "Pool2DOptions");
    if (!is_float(input) || !is_float(output) || options == nullptr || !shapes_.has(input) ||
        shape(input).size() != 4 || options->integer("fused_activation_function") != 0 ||
        options->integer("filter_height") != shape(input)[1] ||
        options->integer("filter_width") != shape(input)[2] ||
        shape(output) != std::vector<std::int32_t>{shape(input)[0], 1, 1, shape(input)[3]})
      return false;
    editor_.add_input(op, integers(fmt::format("{}_axes", editor_.tensor(output).name), {1, 2}));
    editor_.set_code(op, Builtin::kMean, 1);
    editor_.set_options(op, "ReducerOptions").set("keep_dims", std::int64_t{1});
    return true;
  }

  std::optional<std::vector<float>> floats(std::int32_t tensor) {
    if (!is_float(tensor) || !editor_.is_constant(tensor)) return std::nullopt;
    const quant::FloatSource source = floats_of(model_, editor_.tensor(tensor));
    if (!limit_.take(source.size() * sizeof(float))) return std::nullopt;
    std::vector<float> values;
    const std::byte* from = source.values(0, source.size(), values);
    if (values.empty() && source.size() != 0) {
      values.resize(source.size());
      std::memcpy(values.data(), from, values.size() * sizeof(float));
    }
    return values;
  }

  bool make_leaky(std::size_t op) {
    const std::int32_t input = editor_.input(op, 0), output = editor_.output(op);
    if (!is_float(input) || !is_float(output) || shape(input) != shape(output)) return false;
    const auto slopes = floats(editor_.input(op, 1));
    if (!slopes || slopes->empty() || !(slopes->front() >= 0 && slopes->front() <= 1) ||
        std::adjacent_find(slopes->begin(), slopes->end(), std::not_equal_to<>()) != slopes->end())
      return false;
    const float slope = slopes->front();
    editor_.keep_inputs(op, 1);
    if (slope > 0) {
      editor_.set_code(op, Builtin::kLeakyRelu, 1);
      editor_.set_options(op, "LeakyReluOptions").set("alpha", slope);
    } else {
      editor_.set_code(op, Builtin::kRelu, 1);
      editor_.clear_options(op);
    }
    return true;
  }

  bool make_product(std::size_t op) {
    const std::int32_t input = editor_.input(op, 0), divisor = editor_.input(op, 1);
    const Record* options = editor_.options(op, "DivOptions");
    if (!is_float(input) || editor_.is_constant(input) || options == nullptr) return false;
    const auto values = floats(divisor);
    if (!values) return false;
    std::string bytes;
    for (const float value : *values) {
      const auto inverse = static_cast<float>(1 / double{value});
      if (!std::isnormal(inverse)) return false;
      bytes.append(reinterpret_cast<const char*>(&inverse), sizeof inverse);
    }
    const std::int64_t activation = options->integer("fused_activation_function");
    const std::int32_t factor =
        editor_.add_constant(fmt::format("{}_inverse", editor_.tensor(divisor).name), shape(divisor),
                             TensorType::kFloat32, Data(std::move(bytes)));
    editor_.set_input(op, 1, factor);
    editor_.set_code(op, Builtin::kMul, 1);
    editor_.set_options(op, "MulOptions").set("fused_activation_function", activation);
    return true;
  }

  bool make_activation(std::size_t op, float bound, Builtin activation) {
    const std::int32_t output = editor_.output(op);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int32_t input = editor_.input(op, i);
      const auto number = editor_.scalar(editor_.input(op, 1 - i));
      if (!number || *number < bound || *number > bound || !is_float(input) || !is_float(output) ||
          shape(input) != shape(output))
        continue;
      if (activation == Builtin::kRelu6) {
        const std::size_t relu = editor_.producer(input);
        if (relu == GraphEditor::kNone || editor_.code(relu) != Builtin::kRelu || !editor_.sole_use(input))
          continue;
        editor_.set_input(op, i, editor_.input(relu, 0));
        editor_.remove(relu);
      }
      if (i == 1) editor_.set_input(op, 0, editor_.input(op, 1));
      editor_.keep_inputs(op, 1);
      editor_.set_code(op, activation, 1);
      editor_.clear_options(op);
      return true;
    }
    return false;
  }

  Model& model_;
  GraphEditor editor_;
  KnownShapes shapes_;
  WorkLimit& limit_;
};

}  // namespace

Changes make_integer_forms(Model& model) {
  Changes changes;
  WorkLimit limit(model);
  const std::vector<bool> called = called_graphs(model);
  for (std::size_t graph = 0; graph < called.size(); ++graph)
    changes.count += IntegerForms(model, graph, called[graph], limit).run();
  return changes;
}

}  // namespace ounce::tflite
