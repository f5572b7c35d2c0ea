#include "search/advise/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "formats/onnx/file/attributes.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/shapes.h"
#include "formats/onnx/plan/plan.h"

namespace ounce::search {
namespace {

using graph::Bytes;
using graph::Index;
using Ops = std::span<const Op>;

// Ops that may appear between Softmax and the two matrix products of attention.
constexpr auto kAroundSoftmax =
    std::to_array<Op>({Op::kAdd,      Op::kSub,     Op::kMul,       Op::kDiv,     Op::kWhere, Op::kCast,
                       Op::kIdentity, Op::kReshape, Op::kTranspose, Op::kClip,    Op::kMax,   Op::kMin,
                       Op::kTanh,     Op::kSqueeze, Op::kUnsqueeze, Op::kDropout, Op::kSlice, Op::kExpand,
                       Op::kNeg,      Op::kGather,  Op::kConcat,    Op::kTrilu});
constexpr auto kMovements = std::to_array<Op>(
    {Op::kIdentity, Op::kCast, Op::kReshape, Op::kSqueeze, Op::kUnsqueeze, Op::kFlatten, Op::kTranspose,
     Op::kConcat, Op::kSlice, Op::kGather, Op::kDropout, Op::kReduceMean, Op::kIf});
constexpr auto kBehindWave = std::to_array<Op>(
    {Op::kIdentity, Op::kCast, Op::kReshape, Op::kSqueeze, Op::kUnsqueeze, Op::kFlatten, Op::kTranspose,
     Op::kSlice, Op::kTanh, Op::kClip, Op::kMul, Op::kDiv, Op::kAdd, Op::kSub, Op::kIf});
constexpr std::int64_t kCornersOfABox = 4, kLeastAnchors = 1000, kLeastBoxValues = 5, kMostBoxValues = 512;

bool is_one_of(const onnx::Node& node, Ops ops) {
  return std::find(ops.begin(), ops.end(), node.op()) != ops.end();
}

bool is_product(const onnx::Node& node) {
  return node.op() == Op::kMatMul || node.op() == Op::kEinsum || node.op() == Op::kGemm;
}

// QAttention has another op class because it runs in INT8.
bool is_attention_op(const onnx::Node& node) {
  return node.info().op_class == ops::Class::kAttention || node.op() == Op::kQAttention;
}

// True if the value comes from a matrix product, possibly through ops of kAroundSoftmax.
bool has_product_behind(const Index& index, std::size_t body, Bytes name) {
  bool found = false;
  walk_back(index, body, name, [&](std::size_t, const onnx::Node& node) {
    found |= is_product(node);
    return !found && is_one_of(node, kAroundSoftmax);
  });
  return found;
}

bool has_product_ahead(const Index& index, std::size_t body, Bytes name) {
  bool found = false;
  walk_ahead(index, body, name, [&](std::size_t, const onnx::Node& node) {
    found |= is_product(node);
    return !found && is_one_of(node, kAroundSoftmax);
  });
  return found;
}

bool same_type(const onnx::ValueType& a, const onnx::ValueType& b) {
  if (a.kind != "tensor" || b.kind != "tensor" || a.element != b.element) return false;
  if (!a.has_shape || !b.has_shape || a.shape.size() != b.shape.size() || a.shape.size() < 2) return false;
  for (std::size_t i = 0; i < a.shape.size(); ++i) {
    const std::int64_t left = a.shape[i].value, right = b.shape[i].value;
    // Some exporters write 0 for an unknown dimension.
    if (left > 0 && right > 0 && left != right) return false;
  }
  return true;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? std::string() : text.replace(at, from.size(), to);
}

bool are_named_alike(const std::string& input, const std::string& output) {
  if (output.starts_with(input) || input.starts_with(output)) return true;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kPairs = {
      {{"past_key_values", "present"},
       {"past", "present"},
       {"_in", "_out"},
       {"prev", "next"},
       {"old", "new"},
       {"h0", "hn"},
       {"c0", "cn"}}};
  return std::any_of(kPairs.begin(), kPairs.end(),
                     [&](const auto& pair) { return replaced(input, pair.first, pair.second) == output; });
}

std::int64_t stride_of(const onnx::Node& node) {
  const auto strides = onnx::integers_attribute(node, "strides");
  return strides && strides->size() == 1 && strides->front() > 0 ? strides->front() : 1;
}

bool is_flat_weight(const std::optional<graph::Constant>& weight) {
  return weight && weight->tensor->dims.size() == 3;
}

}  // namespace

AttentionSigns find_attention(const Index& index) {
  AttentionSigns signs;
  graph::for_each_node(index, [&](std::size_t body, std::size_t, const onnx::Node& node) {
    if (is_attention_op(node)) ++signs.ops;
    if (node.op() != Op::kSoftmax || node.inputs.empty() || node.outputs.empty()) return;
    if (has_product_behind(index, body, node.inputs[0]) && has_product_ahead(index, body, node.outputs[0]))
      ++signs.written_out;
  });
  return signs;
}

std::vector<MaskConstant> find_masks(const onnx::Model& model, const Index& index) {
  std::vector<MaskConstant> masks;
  const auto look_at = [&](const std::string& name, const onnx::Tensor& tensor) {
    const bool is_known =
        std::any_of(masks.begin(), masks.end(), [&](const MaskConstant& mask) { return mask.name == name; });
    const std::optional<MaskConstant> mask = is_known ? std::nullopt : read_mask(model, name, tensor);
    if (mask) masks.push_back(*mask);
  };
  graph::for_each_node(index, [&](std::size_t home, std::size_t, const onnx::Node& softmax) {
    if (softmax.op() != Op::kSoftmax || softmax.inputs.empty()) return;
    walk_back(index, home, softmax.inputs[0], [&](std::size_t body, const onnx::Node& node) {
      if (node.op() == Op::kConstantOfShape) {
        const onnx::Attribute* value = onnx::find_attribute(node, "value");
        if (value != nullptr && value->tensors.size() == 1)
          look_at(std::string(node.outputs[0]), *value->tensors[0]);
      }
      if (!is_one_of(node, kAroundSoftmax)) return false;
      for (const Bytes name : node.inputs) {
        const auto constant = graph::find_constant(model, index, body, name);
        if (constant) look_at(std::string(name), *constant->tensor);
      }
      return true;
    });
  });
  return masks;
}

std::string find_causality(const Index& index, const std::vector<MaskConstant>& masks,
                           const std::vector<std::pair<std::string, std::string>>& states) {
  for (const MaskConstant& mask : masks) {
    if (mask.is_triangle) return fmt::format("'{}' is a causal mask", mask.name);
  }
  std::string sign;
  graph::for_each_node(index, [&](std::size_t, std::size_t position, const onnx::Node& node) {
    if (!sign.empty()) return;
    const bool is_causal = (is_attention_op(node) && (onnx::integer_attribute(node, "unidirectional") == 1 ||
                                                      onnx::integer_attribute(node, "is_causal") == 1)) ||
                           node.info().is_causal;
    if (is_causal) sign = fmt::format("{} is causal attention", graph::node_label(node, position));
    if (node.op() == Op::kTrilu) sign = "Trilu makes a causal mask";
  });
  if (sign.empty() && !states.empty())
    sign = fmt::format("input '{}' takes the past of an earlier run", states.front().first);
  return sign;
}

std::vector<std::pair<std::string, std::string>> find_states(const onnx::Model& model, const Index& index) {
  std::vector<std::pair<std::string, std::string>> states;
  const onnx::Graph& main = *model.proto->graph;
  for (const auto& input : main.inputs) {
    const auto value = index.main().values.find(input->name);
    if (value == index.main().values.end() || value->second.initializer != graph::kNone) continue;
    for (const auto& output : main.outputs) {
      const std::string from(input->name), to(output->name);
      if (!are_named_alike(from, to) ||
          !same_type(onnx::read_type(input->type), onnx::read_type(output->type)))
        continue;
      states.emplace_back(from, to);
      break;
    }
  }
  return states;
}

WaveSigns find_wave(const onnx::Model& model, const Index& index) {
  WaveSigns signs;
  graph::for_each_node(index, [&](std::size_t body, std::size_t, const onnx::Node& node) {
    if (node.op() != Op::kConvTranspose || node.inputs.size() < 2) return;
    if (!is_flat_weight(graph::find_constant(model, index, body, node.inputs[1])) || stride_of(node) < 2)
      return;
    ++signs.upsamplings;
    signs.growth *= static_cast<double>(stride_of(node));
  });
  for (const auto& output : model.proto->graph->outputs) {
    walk_back(index, 0, output->name, [&](std::size_t body, const onnx::Node& node) {
      signs.ends_in_tanh |= node.op() == Op::kTanh;
      const bool is_conv = node.op() == Op::kConv, is_transposed = node.op() == Op::kConvTranspose;
      if ((is_conv || is_transposed) && node.inputs.size() >= 2) {
        const auto weight = graph::find_constant(model, index, body, node.inputs[1]);
        if (is_flat_weight(weight) && weight->tensor->dims[is_conv ? 0 : 1] == 1)
          signs.has_one_channel = true;
      }
      return is_one_of(node, kBehindWave);
    });
  }
  return signs;
}

std::string find_boxes(const onnx::Model& model, const Index& index) {
  std::string sign;
  graph::for_each_node(index, [&](std::size_t, std::size_t position, const onnx::Node& node) {
    if (node.op() == Op::kNonMaxSuppression)
      sign = fmt::format("{} selects boxes", graph::node_label(node, position));
  });
  const graph::Shapes shapes(index);
  const auto& outputs = model.proto->graph->outputs;
  for (const auto& boxes : outputs) {
    const graph::Dims* dims = shapes.of(0, boxes->name);
    if (!sign.empty() || dims == nullptr || dims->size() != 3) continue;
    const std::int64_t few = std::min((*dims)[1], (*dims)[2]), many = std::max((*dims)[1], (*dims)[2]);
    if (outputs.size() == 1 && few >= kLeastBoxValues && few <= kMostBoxValues && many >= kLeastAnchors)
      sign = fmt::format("'{}' has {} values for each of {} anchors", boxes->name, few, many);
    if ((*dims)[2] != kCornersOfABox) continue;
    for (const auto& scores : outputs) {
      const graph::Dims* other = shapes.of(0, scores->name);
      if (&scores == &boxes || other == nullptr || other->size() < 2 || (*other)[1] != (*dims)[1]) continue;
      sign = fmt::format("'{}' has boxes and '{}' their scores", boxes->name, scores->name);
    }
  }
  return sign;
}

bool ends_in(const onnx::Model& model, const Index& index, Op op) {
  bool found = false;
  for (const auto& output : model.proto->graph->outputs) {
    walk_back(index, 0, output->name, [&](std::size_t, const onnx::Node& node) {
      found |= node.op() == op;
      return !found && is_one_of(node, kMovements);
    });
  }
  return found;
}

bool ends_in_logistic(const onnx::Model& model, const Index& index) {
  // The mean of probabilities and 1 - p are probabilities, too.
  constexpr auto kMixing = std::to_array<Op>({Op::kAdd, Op::kSum, Op::kMean, Op::kSub, Op::kDiv});
  const auto is_logistic = [&](std::size_t body, const onnx::Node& node) {
    bool has_exp = false;
    if (node.op() != Op::kDiv || node.inputs.size() != 2) return false;
    walk_back(index, body, node.inputs[1], [&](std::size_t, const onnx::Node& below) {
      has_exp |= below.op() == Op::kExp;
      return below.op() == Op::kAdd;
    });
    return has_exp;
  };
  bool found = false;
  for (const auto& output : model.proto->graph->outputs) {
    walk_back(index, 0, output->name, [&](std::size_t body, const onnx::Node& node) {
      found |= is_logistic(body, node);
      return !found && (is_one_of(node, kMovements) || is_one_of(node, kMixing));
    });
  }
  return found;
}

namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 26;  // a mask of 8192 × 8192 positions

// Masked elements in the first matrix of a tensor.
struct Pattern {
  std::vector<bool> hides;
  std::size_t side = 0;  // 0: not square
};

std::size_t side_of(const onnx::Tensor& tensor) {
  const std::size_t rank = tensor.dims.size();
  if (rank < 2 || tensor.dims[rank - 1] != tensor.dims[rank - 2] || tensor.dims[rank - 1] < 2) return 0;
  return static_cast<std::size_t>(tensor.dims[rank - 1]);
}

// True if exactly the elements right of the diagonal are masked; with `inverted`, exactly the other ones.
bool is_triangle(const Pattern& pattern, bool inverted) {
  if (pattern.side == 0) return false;
  for (std::size_t row = 0; row < pattern.side; ++row) {
    for (std::size_t column = 0; column < pattern.side; ++column) {
      if (pattern.hides[row * pattern.side + column] != ((column > row) != inverted)) return false;
    }
  }
  return true;
}

std::optional<MaskConstant> read_floats(const onnx::Model& model, const std::string& name,
                                        const onnx::Tensor& tensor) {
  const plan::TensorSource source(model, tensor);
  const std::size_t count = source.floats().size();
  std::vector<float> scratch;
  const std::byte* bytes = source.floats().values(0, count, scratch);
  Pattern pattern{{}, side_of(tensor)};
  MaskConstant mask{name, 0, false};
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, bytes + i * sizeof value, sizeof value);
    mask.value = std::min(mask.value, value);
    if (i < pattern.side * pattern.side) pattern.hides.push_back(value <= kMaskFloor);
  }
  if (!(mask.value <= kMaskFloor)) return std::nullopt;
  mask.is_triangle = is_triangle(pattern, false);
  return mask;
}

std::optional<MaskConstant> read_answers(const std::string& name, const onnx::Tensor& tensor) {
  const onnx::RawValues values(tensor);
  Pattern pattern{{}, side_of(tensor)};
  const std::size_t count = pattern.side * pattern.side;
  if (count == 0 || values.bytes().size() < count) return std::nullopt;
  for (const char byte : values.bytes().substr(0, count)) pattern.hides.push_back(byte == 0);
  if (!is_triangle(pattern, false) && !is_triangle(pattern, true)) return std::nullopt;
  return MaskConstant{name, 0, true};
}

}  // namespace

std::optional<MaskConstant> read_mask(const onnx::Model& model, const std::string& name,
                                      const onnx::Tensor& tensor) {
  if (tensor.element_count() == 0 || tensor.element_count() > kMostElements) return std::nullopt;
  if (is_float_weight_type(tensor.type)) return read_floats(model, name, tensor);
  if (tensor.type == ElementType::kBool) return read_answers(name, tensor);
  return std::nullopt;
}

namespace {

constexpr std::int64_t kLeastPicture = 8;  // rows and columns of a map
constexpr std::int64_t kHighestLine = 64;  // rows of an image of one text line
constexpr std::int64_t kLeastCharacters = 11, kMostTags = 64, kLeastEmbedding = 96;
constexpr std::int64_t kColours = 3;

bool is_wide(std::int64_t dimension) { return dimension < 0 || dimension >= kLeastPicture; }

class TaskProposal {
 public:
  TaskProposal(const onnx::Model& model, const graph::Index& index, FamilyFinding& finding)
      : model_(model), index_(index), finding_(finding), shapes_(index) {}

  void run() {
    const auto& outputs = model_.proto->graph->outputs;
    if (finding_.family == ModelFamily::kDetector) return say(Task::kDetect, "its outputs are boxes");
    if (finding_.family == ModelFamily::kAudioGenerator) return say(Task::kAudio, "its output is a waveform");
    if (finding_.family == ModelFamily::kTrees || finding_.is_autoregressive || outputs.empty()) return;
    const graph::Dims* dims = shapes_.of(0, outputs.front()->name);
    if (dims == nullptr) return;
    output_ = std::string(outputs.front()->name);
    if (dims->size() == 4) return judge_map(*dims);
    if (dims->size() == 3) return judge_sequence(*dims);
    if (dims->size() == 2) return judge_vector((*dims)[1]);
  }

 private:
  void judge_map(const graph::Dims& dims) {
    if (!is_wide(dims[2])) return;
    const std::int64_t channels = dims[3] > 0 && dims[3] < dims[1] ? dims[3] : dims[1];
    const bool is_sure = ends_in(model_, index_, Op::kSigmoid) || ends_in(model_, index_, Op::kSoftmax) ||
                         ends_in(model_, index_, Op::kArgMax);
    if (channels > 1 ? channels != kColours || is_sure : is_sure)
      return say(Task::kSegment,
                 fmt::format("'{}' is a map of {}", output_,
                             channels > 1 ? fmt::format("{} classes", channels) : "one class"));
    say(Task::kRegress, fmt::format("'{}' is a map of numbers", output_));
  }

  void judge_sequence(const graph::Dims& dims) {
    const std::int64_t last = dims[2];
    const graph::Dims* picture = input_of_rank(4);
    if (picture != nullptr && (*picture)[2] > 0 && (*picture)[2] <= kHighestLine && last >= kLeastCharacters)
      return say(Task::kCtc, fmt::format("'{}' has {} scores for each step along an image {} pixels high",
                                         output_, last, (*picture)[2]));
    if (finding_.family != ModelFamily::kTransformer && finding_.family != ModelFamily::kRecurrent) return;
    if (picture != nullptr) return;
    if (last >= kLeastEmbedding)
      return say(Task::kEmbed,
                 fmt::format("'{}' has {} numbers for each position, and no scores", output_, last));
    if (last > 1 && last <= kMostTags && last % 2 == 1)
      say(Task::kTag, fmt::format("'{}' has {} scores for each position", output_, last));
  }

  void judge_vector(std::int64_t last) {
    if (last == 1 && !ends_in(model_, index_, Op::kSigmoid))
      return say(Task::kRegress, fmt::format("'{}' is one number", output_));
    if (last < 2) return;
    const bool is_sure = ends_in(model_, index_, Op::kSoftmax) || ends_in(model_, index_, Op::kSigmoid);
    const bool is_usual = last % 64 == 0 && last >= 2 * 64;  // a typical embedding length
    if (is_usual && !is_sure)
      return say(Task::kEmbed, fmt::format("'{}' has {} numbers, and no scores", output_, last));
    say(Task::kClassify, fmt::format("'{}' has {} scores", output_, last));
  }

  const graph::Dims* input_of_rank(std::size_t rank) const {
    for (const auto& input : model_.proto->graph->inputs) {
      const graph::Dims* dims = shapes_.of(0, input->name);
      if (dims != nullptr && dims->size() == rank) return dims;
    }
    return nullptr;
  }

  void say(Task task, std::string reason) {
    finding_.task = task;
    finding_.task_reason = std::move(reason);
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  FamilyFinding& finding_;
  graph::Shapes shapes_;
  std::string output_;
};

}  // namespace

void propose_task(const onnx::Model& model, const graph::Index& index, FamilyFinding& finding) {
  TaskProposal(model, index, finding).run();
}

namespace {

using graph::Bytes;
using graph::Index;

constexpr std::size_t kMostSeen = 256;  // values per walk; the patterns searched for are local

struct Spot {
  std::size_t body;
  Bytes name;
};

// Adds the outputs of an If's branches that become `name`.
void enter_branches(const Index& index, std::size_t body, const onnx::Node& node, Bytes name,
                    std::vector<Spot>& next) {
  const auto place = std::find(node.outputs.begin(), node.outputs.end(), name) - node.outputs.begin();
  for (std::size_t i = 0; i < index.bodies().size(); ++i) {
    const graph::Body& inner = index.bodies()[i];
    if (inner.graph == nullptr || inner.parent != body ||
        &*index.bodies()[body].nodes()[inner.owner] != &node)
      continue;
    if (static_cast<std::size_t>(place) < inner.graph->outputs.size())
      next.push_back({i, inner.graph->outputs[static_cast<std::size_t>(place)]->name});
  }
}

}  // namespace

void walk_back(const Index& index, std::size_t body, Bytes name, const Visit& visit) {
  std::unordered_set<const graph::Value*> seen;
  std::vector<Spot> next = {{body, name}};
  while (!next.empty() && seen.size() < kMostSeen) {
    const Spot spot = next.back();
    next.pop_back();
    if (spot.name.empty()) continue;
    const auto [value, home] = index.find(spot.body, spot.name);
    if (value == nullptr || value->producer == graph::kNone || !seen.insert(value).second) continue;
    const onnx::Node& node = *index.bodies()[home].nodes()[value->producer];
    if (!visit(home, node)) continue;
    for (const Bytes input : node.inputs) next.push_back({home, input});
    if (node.op() == Op::kIf) enter_branches(index, home, node, spot.name, next);
  }
}

void walk_ahead(const Index& index, std::size_t body, Bytes name, const Visit& visit) {
  std::unordered_set<const graph::Value*> seen;
  std::vector<Spot> next = {{body, name}};
  while (!next.empty() && seen.size() < kMostSeen) {
    const Spot spot = next.back();
    next.pop_back();
    if (spot.name.empty()) continue;
    const auto [value, home] = index.find(spot.body, spot.name);
    if (value == nullptr || !seen.insert(value).second) continue;
    for (const graph::Use& use : value->uses) {
      const onnx::Node& node = index.node(use);
      if (!visit(use.body, node)) continue;
      for (const Bytes output : node.outputs) next.push_back({use.body, output});
    }
  }
}

}  // namespace ounce::search
