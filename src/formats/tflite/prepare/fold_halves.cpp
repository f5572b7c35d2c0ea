#include "formats/tflite/prepare/fold_halves.h"

#include <functional>
#include <map>

#include "base/cancel.h"
#include "formats/tflite/edit/float_values.h"
#include "formats/tflite/edit/graph_editor.h"

namespace ounce::tflite {
namespace {

// An order of places, not of what is there.
struct ByPlace {
  bool operator()(Bytes a, Bytes b) const {
    return a.data() != b.data() ? std::less<>()(a.data(), b.data()) : a.size() < b.size();
  }
};

}  // namespace

Changes fold_halves(Model& model) {
  Changes changes;
  std::map<Bytes, Data, ByPlace> widened_halves;  // buffers may be at one place in the file
  for (std::size_t graph = 0; graph < model.subgraphs.size(); ++graph) {
    GraphEditor editor(model, graph);
    for (std::size_t op = 0; op < editor.size(); ++op) {
      count_step();
      const Builtin code = editor.code(op);
      const std::int32_t halves = editor.input(op, 0), floats = editor.output(op);
      if ((code != Builtin::kDequantize && code != Builtin::kCast) || halves < 0 || floats < 0 ||
          editor.op(op).inputs.size() != 1 || editor.op(op).outputs.size() != 1 ||
          editor.tensor(halves).type != TensorType::kFloat16)
        continue;
      if (!editor.is_constant(halves)) {
        const std::size_t producer = editor.producer(halves);
        if (producer == GraphEditor::kNone ? !editor.is_fixed(halves)
                                           : editor.code(producer) == Builtin::kDensify)
          changes.leave("its FP16 values are not a dense constant in the file", editor.label(op));
        continue;
      }
      const Tensor& target = editor.tensor(floats);
      if (target.type != TensorType::kFloat32 || target.shape != editor.tensor(halves).shape ||
          editor.is_fixed(floats)) {
        changes.leave("its FP32 values are not those of an inner FLOAT32 tensor of the same shape",
                      editor.label(op));
        continue;
      }
      const Data source = data_of(model, editor.tensor(halves));
      Data& values = widened_halves[source.bytes()];
      if (values.empty()) values = widened(source, ElementType::kFloat16);
      editor.make_constant(floats, values);
      ++changes.count;
    }
    editor.finish();
  }
  return changes;
}

}  // namespace ounce::tflite
