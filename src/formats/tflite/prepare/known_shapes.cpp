#include "formats/tflite/prepare/known_shapes.h"

#include <algorithm>
#include <array>

#include "base/cancel.h"

namespace ounce::tflite {
namespace {

// Operators that may take integers for numbers: the shape of their outputs follows from those of their
// inputs.
constexpr auto kShapedByShapes = std::to_array<Builtin>({Builtin::kAdd,
                                                         Builtin::kSub,
                                                         Builtin::kMul,
                                                         Builtin::kDiv,
                                                         Builtin::kFloorDiv,
                                                         Builtin::kFloorMod,
                                                         Builtin::kMaximum,
                                                         Builtin::kMinimum,
                                                         Builtin::kPow,
                                                         Builtin::kNeg,
                                                         Builtin::kAbs,
                                                         Builtin::kSign,
                                                         Builtin::kSquare,
                                                         Builtin::kCast,
                                                         Builtin::kSelect,
                                                         Builtin::kSelectV2,
                                                         Builtin::kEqual,
                                                         Builtin::kNotEqual,
                                                         Builtin::kLess,
                                                         Builtin::kLessEqual,
                                                         Builtin::kGreater,
                                                         Builtin::kGreaterEqual,
                                                         Builtin::kGather,
                                                         Builtin::kGatherNd,
                                                         Builtin::kConcatenation,
                                                         Builtin::kPack,
                                                         Builtin::kUnpack,
                                                         Builtin::kEmbeddingLookup,
                                                         Builtin::kShape,
                                                         Builtin::kRank,
                                                         Builtin::kZerosLike,
                                                         Builtin::kCumsum,
                                                         Builtin::kSquaredDifference});

// The same for their first input; the others say how it is moved.
constexpr auto kMovers = std::to_array<Builtin>(
    {Builtin::kReshape, Builtin::kTranspose, Builtin::kSlice, Builtin::kStridedSlice, Builtin::kExpandDims,
     Builtin::kSqueeze, Builtin::kPad, Builtin::kPadv2, Builtin::kMirrorPad, Builtin::kTile,
     Builtin::kBroadcastTo, Builtin::kSum, Builtin::kMean, Builtin::kReduceMax, Builtin::kReduceMin,
     Builtin::kReduceProd, Builtin::kTopkV2, Builtin::kArgMax, Builtin::kArgMin});

// Operators of which nothing is known, whatever their inputs are.
constexpr auto kShapedByValues = std::to_array<Builtin>(
    {Builtin::kCustom, Builtin::kCall, Builtin::kIf, Builtin::kWhile, Builtin::kWhere, Builtin::kUnique,
     Builtin::kHashtableFind, Builtin::kReadVariable, Builtin::kStablehloComposite, Builtin::kStablehloWhile,
     Builtin::kStablehloCase, Builtin::kStablehloCustomCall});

template <class List>
bool is_in(const List& list, Builtin code) {
  return std::find(list.begin(), list.end(), code) != list.end();
}

}  // namespace

std::vector<bool> called_graphs(const Model& model) {
  std::vector<bool> called(model.subgraphs.size());
  for (const SubGraph& graph : model.subgraphs) {
    for (const Operator& op : graph.operators) {
      for (const Union* options : {&op.options, &op.options_2}) {
        if (options->table)
          options->table->each_subgraph(
              [&](std::int64_t each) { called[static_cast<std::size_t>(each)] = true; });
      }
    }
  }
  return called;
}

KnownShapes::KnownShapes(const GraphEditor& editor, bool is_called)
    : editor_(editor), known_(editor.graph().tensors.size()) {
  if (is_called) return;
  for (const std::int32_t input : editor.graph().inputs) {
    const Tensor& tensor = editor.tensor(input);
    bool is_static = true;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i)
      is_static = is_static && !is_dynamic(tensor, i) && tensor.shape[i] >= 0;
    known_[static_cast<std::size_t>(input)] = is_static;
  }
}

bool KnownShapes::has(std::int32_t tensor) const {
  if (tensor < 0) return false;
  const auto& shape = editor_.tensor(tensor).shape;
  if (std::any_of(shape.begin(), shape.end(), [](std::int32_t size) { return size < 0; })) return false;
  const auto place = static_cast<std::size_t>(tensor);
  return (place < known_.size() && known_[place]) || editor_.is_constant(tensor) ||
         editor_.tensor(tensor).is_variable;
}

void KnownShapes::visit(std::size_t op) {
  count_step();
  const Builtin code = editor_.code(op);
  if (editor_.is_removed(op) || is_in(kShapedByValues, code)) return;
  const auto& inputs = editor_.op(op).inputs;
  // Integers from this input on may decide on the shape.
  const std::size_t first = is_in(kShapedByShapes, code) ? inputs.size() : is_in(kMovers, code) ? 1 : 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::int32_t input = inputs[i];
    if (input < 0) continue;
    const TensorType type = editor_.tensor(input).type;
    const bool may_decide = i >= first && (type == TensorType::kInt32 || type == TensorType::kInt64) &&
                            !editor_.is_constant(input);
    if (may_decide || !has(input)) return;
  }
  if (known_.size() < editor_.graph().tensors.size()) known_.resize(editor_.graph().tensors.size());
  for (const std::int32_t output : editor_.op(op).outputs) {
    if (output >= 0) known_[static_cast<std::size_t>(output)] = true;
  }
}

void KnownShapes::visit_all() {
  for (std::size_t op = 0; op < editor_.size(); ++op) visit(op);
}

}  // namespace ounce::tflite
