// Recognizes the family of a model (CNN, transformer, detector …) from the structure of its graph and its
// weights. The model is not run, and names do not matter. Subgraphs of If and Loop and functions are searched
// like the main graph.
//
//   MatMul ─ Div ─ Add(mask) ─ Softmax ─ MatMul      attention: a transformer
//   ConvTranspose[·,·,k] … Conv[1,·,k] ─ Tanh        a one-channel waveform: an audio generator
//   boxes [·,n,4] and scores [·,n,c]                 a detector
#pragma once

#include <ounce/search.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/file/model.h"
#include "formats/onnx/graph/index.h"
#include "formats/tflite/view/tflite_file.h"
#include "model/model_file.h"

namespace ounce::search {

FamilyFinding find_family(const model::ModelFile& file);  // ONNX or TFLite
FamilyFinding find_family(const onnx::Model& model, const graph::Index& index);
FamilyFinding find_family(const tflite::TfliteFile& file);

// "autoregressive transformer"
std::string describe_family(const FamilyFinding& finding);
// The most bytes first, or the most often counted.
std::vector<NamedCount> sorted_counts(const std::map<std::string, NamedCount>& counts, bool by_bytes);
std::string bytes_text(std::uint64_t bytes);
// "weights: 80 % Conv, 20 % Gemm"
std::string weights_text(const FamilyFinding& finding);

// Attention in a graph.
struct AttentionSigns {
  std::size_t written_out = 0;  // patterns MatMul … Softmax … MatMul
  std::size_t ops = 0;          // single ops such as Attention and MultiHeadAttention
  std::size_t count() const { return written_out + ops; }
};
AttentionSigns find_attention(const graph::Index& index);

// A constant so negative that Softmax gives 0 at every position that it is added to, or a Boolean mask.
struct MaskConstant {
  std::string name;
  float value = 0;           // the smallest one, may be -inf; 0 for a Boolean mask
  bool is_triangle = false;  // a causal mask: hides all later positions
};
// The masks of all Softmax nodes, found through ops that keep or move values.
std::vector<MaskConstant> find_masks(const onnx::Model& model, const graph::Index& index);

// Returns the evidence that the model is autoregressive; empty if there is none.
std::string find_causality(const graph::Index& index, const std::vector<MaskConstant>& masks,
                           const std::vector<std::pair<std::string, std::string>>& states);

// Pairs of a recurrent state's input and output, matched by name and type: state → stateN, past_0 →
// present_0.
std::vector<std::pair<std::string, std::string>> find_states(const onnx::Model& model,
                                                             const graph::Index& index);

// Upsampling layers that lead to a one-channel waveform.
struct WaveSigns {
  std::size_t upsamplings = 0;
  double growth = 1;  // product of the strides
  bool has_one_channel = false, ends_in_tanh = false;
};
WaveSigns find_wave(const onnx::Model& model, const graph::Index& index);

// Returns the evidence that the model detects boxes; empty if there is none.
std::string find_boxes(const onnx::Model& model, const graph::Index& index);

// True if an output of the model comes from `op`, possibly through ops that only move values.
bool ends_in(const onnx::Model& model, const graph::Index& index, Op op);
// True if an output comes from 1 / (1 + Exp) or a mixture of such values (calibrated classifiers).
bool ends_in_logistic(const onnx::Model& model, const graph::Index& index);

inline constexpr float kMaskFloor = -1000;  // e^-1000 is 0 in FP32

// Reads a constant as a mask. Returns nullopt for other constants. A Boolean tensor counts only if it is
// triangular.
std::optional<MaskConstant> read_mask(const onnx::Model& model, const std::string& name,
                                      const onnx::Tensor& tensor);

// Proposes the task that fits the model's outputs (ounce/verify.h: Task), by their shapes, types and last
// ops. Sets task and task_reason; leaves both unchanged if the outputs do not fit any task.
void propose_task(const onnx::Model& model, const graph::Index& index, FamilyFinding& finding);

// Receives the index of the node's (sub)graph and the node. Returns true to continue beyond the node.
using Visit = std::function<bool(std::size_t, const onnx::Node&)>;

// Walk from a value through the nodes of a graph, backward or forward, as long as the visitor returns true.
// Visit each value once and a bounded number of values, so that cycles cannot trap them. walk_back() also
// enters the branches of an If.
//
//   walk_back(index, body, name, [&](std::size_t, const onnx::Node& node) { return node.op() == Op::kAdd; });
void walk_back(const graph::Index& index, std::size_t body, graph::Bytes name, const Visit& visit);
void walk_ahead(const graph::Index& index, std::size_t body, graph::Bytes name, const Visit& visit);

}  // namespace ounce::search
