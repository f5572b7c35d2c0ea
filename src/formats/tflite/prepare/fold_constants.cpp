#include "formats/tflite/prepare/fold_constants.h"

#include <algorithm>
#include <array>

#include "base/cancel.h"
#include "formats/tflite/edit/graph_editor.h"
#include "formats/tflite/prepare/constant_ops.h"
#include "formats/tflite/prepare/known_shapes.h"
#include "formats/tflite/prepare/work_limit.h"

namespace ounce::tflite {
namespace {

class Folding {
 public:
  Folding(Model& model, std::size_t graph, bool is_called, WorkLimit& limit)
      : model_(model), editor_(model, graph), shapes_(editor_, is_called), limit_(limit) {}

  std::size_t run() {
    std::size_t count = 0;
    for (std::size_t op = 0; op < editor_.size(); ++op) {
      count_step();
      shapes_.visit(op);
      if (is_foldable(editor_.code(op)) && fold_operator(op)) ++count;
    }
    editor_.finish();
    return count;
  }

 private:
  // Without its values, if only the shape is asked for.
  std::optional<Constant> constant_of(std::int32_t tensor, bool wants_values) const {
    if (tensor < 0 || (wants_values && !editor_.is_constant(tensor))) return std::nullopt;
    const Tensor& found = editor_.tensor(tensor);
    if (!byte_count(found)) return std::nullopt;
    const Data values = wants_values ? data_of(model_, found) : Data();
    return Constant{found.type, found.shape, values};
  }

  bool fold_operator(std::size_t op) {
    const Builtin code = editor_.code(op);
    const std::int32_t output = editor_.output(op);
    const bool is_shape = code == Builtin::kShape;
    if (output < 0 || editor_.op(op).outputs.size() != 1 || editor_.is_fixed(output) ||
        !byte_count(editor_.tensor(output)) || !shapes_.has(is_shape ? editor_.input(op, 0) : output))
      return false;
    // The shape that RESHAPE and its like make is the one in the file, which the values fit.
    const bool keeps_values =
        code == Builtin::kReshape || code == Builtin::kSqueeze || code == Builtin::kExpandDims;
    std::vector<Constant> inputs;
    const std::size_t count =
        keeps_values ? std::min<std::size_t>(editor_.op(op).inputs.size(), 1) : editor_.op(op).inputs.size();
    for (std::size_t i = 0; i < count; ++i) {
      auto input = constant_of(editor_.input(op, i), !is_shape);
      if (!input) return false;
      // Read again for each operator, however many share them.
      const bool is_index = input->type == TensorType::kInt32 || input->type == TensorType::kInt64;
      if (is_index && !keeps_values && !limit_.take(input->values.size())) return false;
      inputs.push_back(std::move(*input));
    }
    const Operator& found = editor_.op(op);
    const Record* options = found.options.table ? &*found.options.table : nullptr;
    const Tensor target = editor_.tensor(output);
    if (!keeps_values && !limit_.take(byte_count(target).value_or(WorkLimit::kAll))) return false;
    const auto folded = fold(code, inputs, options, target.shape, target.type);
    if (!folded) return false;
    editor_.make_constant(output, folded->values);
    return true;
  }

  const Model& model_;
  GraphEditor editor_;
  KnownShapes shapes_;
  WorkLimit& limit_;
};

}  // namespace

Changes fold_constants(Model& model) {
  Changes changes;
  WorkLimit limit(model);
  const std::vector<bool> is_called = called_graphs(model);
  for (std::size_t graph = 0; graph < model.subgraphs.size(); ++graph)
    changes.count += Folding(model, graph, is_called[graph], limit).run();
  return changes;
}

}  // namespace ounce::tflite
