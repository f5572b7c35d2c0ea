#include "formats/tflite/prepare/fuse_activations.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/cancel.h"
#include "formats/tflite/edit/graph_editor.h"

namespace ounce::tflite {
namespace {

constexpr const char* kField = "fused_activation_function";

struct Producer {
  Builtin code;
  const char* options;
  std::int32_t version = 1;  // the first one with an activation
};

constexpr auto kProducers = std::to_array<Producer>({
    {Builtin::kConv2D, "Conv2DOptions"},
    {Builtin::kDepthwiseConv2D, "DepthwiseConv2DOptions"},
    {Builtin::kFullyConnected, "FullyConnectedOptions"},
    {Builtin::kTransposeConv, "TransposeConvOptions", 4},
    {Builtin::kAdd, "AddOptions"},
    {Builtin::kSub, "SubOptions"},
    {Builtin::kMul, "MulOptions"},
    {Builtin::kDiv, "DivOptions"},
    {Builtin::kAveragePool2D, "Pool2DOptions"},
    {Builtin::kMaxPool2D, "Pool2DOptions"},
});

bool moves_values(Builtin code) {
  return code == Builtin::kReshape || code == Builtin::kTranspose || code == Builtin::kSqueeze ||
         code == Builtin::kExpandDims;
}

Activation activation_of(Builtin code) {
  switch (code) {
    case Builtin::kRelu: return Activation::kRelu;
    case Builtin::kRelu6: return Activation::kRelu6;
    case Builtin::kReluN1To1: return Activation::kReluN1To1;
    default: return Activation::kNone;
  }
}

// One activation that does what both do, one after the other.
std::optional<Activation> both(Activation first, Activation second) {
  if (first == Activation::kNone || first == second) return second;
  const bool are_relus = (first == Activation::kRelu && second == Activation::kRelu6) ||
                         (first == Activation::kRelu6 && second == Activation::kRelu);
  return are_relus ? std::optional(Activation::kRelu6) : std::nullopt;
}

class Fusing {
 public:
  Fusing(Model& model, std::size_t graph) : editor_(model, graph) {}

  std::size_t run() {
    std::size_t count = 0;
    for (std::size_t op = 0; op < editor_.size(); ++op) {
      count_step();
      const Activation activation = activation_of(editor_.code(op));
      if (activation != Activation::kNone && fuse(op, activation)) ++count;
    }
    editor_.finish();
    return count;
  }

 private:
  bool is_inner_float(std::int32_t tensor) const {
    return tensor >= 0 && editor_.tensor(tensor).type == TensorType::kFloat32 &&
           editor_.sole_use(tensor).has_value();
  }

  bool fuse(std::size_t op, Activation activation) {
    const std::int32_t before = editor_.input(op, 0), after = editor_.output(op);
    if (!is_inner_float(before) || after < 0 || editor_.op(op).outputs.size() != 1 ||
        editor_.tensor(after).type != TensorType::kFloat32 ||
        editor_.tensor(after).shape != editor_.tensor(before).shape)
      return false;
    const std::size_t last = editor_.producer(before);
    std::size_t place = last;
    while (place != GraphEditor::kNone && moves_values(editor_.code(place))) {
      const std::int32_t moved = editor_.input(place, 0);
      if (!is_inner_float(moved)) return false;
      place = editor_.producer(moved);
    }
    if (place == GraphEditor::kNone || !set_activation(place, activation)) return false;
    editor_.remove(op);
    editor_.set_output(last, 0, after);
    return true;
  }

  bool set_activation(std::size_t op, Activation activation) {
    const auto row = std::find_if(kProducers.begin(), kProducers.end(),
                                  [&](const Producer& each) { return each.code == editor_.code(op); });
    if (row == kProducers.end() || editor_.op(op).outputs.size() != 1) return false;
    const Record* options = editor_.options(op, row->options);
    if (options == nullptr) return false;
    const auto together = both(static_cast<Activation>(options->integer(kField)), activation);
    if (!together) return false;
    editor_.set_options(op, row->options).set(kField, static_cast<std::int64_t>(*together));
    if (editor_.version(op) < row->version) editor_.set_code(op, row->code, row->version);
    return true;
  }

  GraphEditor editor_;
};

}  // namespace

Changes fuse_activations(Model& model) {
  Changes changes;
  for (std::size_t graph = 0; graph < model.subgraphs.size(); ++graph)
    changes.count += Fusing(model, graph).run();
  return changes;
}

}  // namespace ounce::tflite
