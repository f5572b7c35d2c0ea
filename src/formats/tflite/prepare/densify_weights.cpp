#include "formats/tflite/prepare/densify_weights.h"

#include <ounce/error.h>

#include <map>

#include "base/cancel.h"
#include "formats/tflite/edit/graph_editor.h"
#include "formats/tflite/file/sparsity.h"
#include "formats/tflite/prepare/work_limit.h"

namespace ounce::tflite {

Changes densify_weights(Model& model) {
  Changes changes;
  WorkLimit limit(model);
  for (std::size_t graph = 0; graph < model.subgraphs.size(); ++graph) {
    GraphEditor editor(model, graph);
    std::map<std::int32_t, Data> made;  // by the sparse tensor
    for (std::size_t op = 0; op < editor.size(); ++op) {
      count_step();
      const std::int32_t sparse = editor.input(op, 0), dense = editor.output(op);
      if (editor.code(op) != Builtin::kDensify || sparse < 0 || dense < 0 ||
          editor.op(op).outputs.size() != 1 || !editor.tensor(sparse).sparsity)
        continue;
      const Tensor& source = editor.tensor(sparse);
      const Tensor& target = editor.tensor(dense);
      if (source.type != target.type || source.shape != target.shape || editor.is_fixed(dense) ||
          editor.producer(sparse) != GraphEditor::kNone || editor.is_fixed(sparse)) {
        changes.leave("its output is not an inner tensor of the same type and shape", editor.label(op));
        continue;
      }
      Data& values = made[sparse];
      if (values.empty()) {
        if (!limit.take(byte_count(source).value_or(WorkLimit::kAll))) {
          changes.leave(WorkLimit::kReason, editor.label(op));
          continue;
        }
        try {
          values = Data(densify(source, data_of(model, source).bytes()));
        } catch (const Error& error) {
          if (error.code() != ErrorCode::kUnsupported) throw;
          changes.leave("its values are of less than 8 bits, or hardly any is stored", editor.label(op));
          continue;
        }
      }
      editor.make_constant(dense, values);
      ++changes.count;
    }
    editor.finish();
  }
  return changes;
}

}  // namespace ounce::tflite
