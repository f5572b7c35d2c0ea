// Which family of models a graph belongs to, found in its nodes and weights alone: nothing is run, and no
// name decides. Branches of If, bodies of Loop and functions are looked into like the main graph.
//
//   MatMul ─ Div ─ Add(mask) ─ Softmax ─ MatMul      attention: a transformer
//   ConvTranspose[·,·,k] … Conv[1,·,k] ─ Tanh        a wave of one channel: an audio generator
//   boxes [·,n,4] beside scores [·,n,c]              a detector
#pragma once

#include <ounce/advise.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"

namespace ounce::search {

FamilyFinding find_family(const onnx::Model& model, const graph::Index& index);

// The signs by which families of models are told apart, each looked for in a graph alone.

// Attention that is written out, or that is one op.
struct AttentionSigns {
  std::size_t written_out = 0;  // MatMul … Softmax … MatMul
  std::size_t ops = 0;          // Attention, MultiHeadAttention …
  std::size_t count() const { return written_out + ops; }
};
AttentionSigns find_attention(const graph::Index& index);

// A number so negative that Softmax forgets what it is added to.
struct MaskConstant {
  std::string name;
  float value = 0;           // may be -inf
  bool is_triangle = false;  // hides what lies behind each position
};
// All that reach a Softmax through ops that keep or move values.
std::vector<MaskConstant> find_masks(const onnx::Model& model, const graph::Index& index);

// Why the model must be autoregressive; empty when no sign of it was found.
std::string find_causality(const graph::Index& index, const std::vector<MaskConstant>& masks,
                           const std::vector<std::pair<std::string, std::string>>& states);

// Inputs and outputs of the model whose names and types belong together: state → stateN, past_0 → present_0.
std::vector<std::pair<std::string, std::string>> find_states(const onnx::Model& model,
                                                             const graph::Index& index);

// A wave of one channel that grows on its way.
struct WaveSigns {
  std::size_t upsamplings = 0;
  double growth = 1;  // product of the strides
  bool has_one_channel = false, ends_in_tanh = false;
};
WaveSigns find_wave(const onnx::Model& model, const graph::Index& index);

// What looks like boxes; empty when nothing does.
std::string find_boxes(const onnx::Model& model, const graph::Index& index);

// Does an output of the model come out of such an op, moved at most?
bool ends_in(const onnx::Model& model, const graph::Index& index, Op op);
// Does one come out of 1 / (1 + Exp), or of a mixture of such values, as calibrated classifiers are exported?
bool ends_in_logistic(const onnx::Model& model, const graph::Index& index);

// Is a constant a mask: so negative that Softmax gives nothing to what it is added to, or yes and no?

inline constexpr float kMaskFloor = -1000;  // e^-1000 is nothing

// Nothing for tensors of ordinary numbers. A mask of yes and no has the value 0, and is one only as a
// triangle.
std::optional<MaskConstant> read_mask(const onnx::Model& model, const std::string& name,
                                      const onnx::Tensor& tensor);

// What a model's outputs look like, and so how its quality is told (ounce/verify.h: Task). Shapes, types and
// the last ops tell; names do not.

// Fills in task and task_reason; both stay as they are where the outputs do not tell.
void propose_task(const onnx::Model& model, const graph::Index& index, FamilyFinding& finding);

// Walks from a value through the nodes of a graph, backwards or ahead, as far as the visitor wants to go:
// each value once, and not endlessly in a graph that somebody made to be endless. Backwards it also goes into
// the branches of an If.
//
//   walk_back(index, body, name, [&](std::size_t body, const onnx::Node& node) { return node.op_type() ==
//   "Add"; });

// Is called with the body that a node stands in; true to go on beyond the node.
using Visit = std::function<bool(std::size_t, const onnx::Node&)>;

void walk_back(const graph::Index& index, std::size_t body, graph::Bytes name, const Visit& visit);
void walk_ahead(const graph::Index& index, std::size_t body, graph::Bytes name, const Visit& visit);

}  // namespace ounce::search
