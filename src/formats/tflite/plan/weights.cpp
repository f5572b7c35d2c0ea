#include "formats/tflite/plan/weights.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/cancel.h"
#include "formats/tflite/file/ops.h"

namespace ounce::tflite {
namespace {

using model::ChannelAxes;
using model::Role;

// Matrices of recurrent operators, [units, inputs] each, and the axes of convolutions that OpInfo does not
// have.
struct WeightInputs {
  Builtin code;
  std::size_t first, last;  // inputs
  std::size_t axis;
};
constexpr auto kWeightInputs = std::to_array<WeightInputs>({
    {Builtin::kUnidirectionalSequenceLstm, 1, 8, 0},
    {Builtin::kLstm, 1, 8, 0},
    {Builtin::kSvdf, 1, 2, 0},
    {Builtin::kRnn, 1, 2, 0},
    {Builtin::kUnidirectionalSequenceRnn, 1, 2, 0},
    {Builtin::kConv3D, 1, 1, 4},
    {Builtin::kConv3DTranspose, 1, 1, 3},
});

struct Purpose {
  Role role = Role::kOther;
  std::optional<ChannelAxes> channels;
  std::size_t taps = 1;
  bool is_lookup = false;
};

Purpose weight_with(std::size_t axis, std::size_t rank) {
  Purpose purpose;
  purpose.role = Role::kWeight;
  if (axis < rank) purpose.channels = ChannelAxes{axis, axis + 1};
  return purpose;
}

// 0 where the options are of another operator, which a hostile file may have.
std::int64_t integer_option(const Operator& op, std::string_view table, std::string_view name) {
  const bool is_of_table = op.options.table && op.options.table->info().name == table;
  return is_of_table ? op.options.table->integer(name) : 0;
}

Purpose of_table(const Operator& op, std::size_t rank) {
  Purpose purpose = weight_with(0, rank);
  purpose.role = Role::kTable;
  const bool is_of_rows = integer_option(op, "GatherOptions", "axis") == 0 &&
                          integer_option(op, "GatherOptions", "batch_dims") == 0;
  purpose.is_lookup = is_of_rows && rank == 2;
  if (!is_of_rows) purpose.channels.reset();
  return purpose;
}

// The columns of the right factor and the rows of the left one belong to one channel of the product each.
Purpose of_matrix(const Operator& op, std::size_t input, std::size_t rank) {
  const bool is_transposed = integer_option(op, "BatchMatMulOptions", input == 0 ? "adj_x" : "adj_y") != 0;
  const bool is_last = (input == 1) != is_transposed;
  return weight_with(is_last ? rank - 1 : rank - 2, rank);
}

bool is_float(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kFloat16 || type == ElementType::kBfloat16;
}

// Collects the weights of one subgraph.
class Finder {
 public:
  Finder(const Model& model, const SubGraph& graph)
      : model_(model),
        graph_(graph),
        producers_(graph.tensors.size(), model::kNone),
        is_output_(graph.tensors.size()),
        uses_(graph.tensors.size()) {
    for (const std::int32_t output : graph.outputs) is_output_[static_cast<std::size_t>(output)] = true;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      const Operator& op = graph.operators[i];
      for (const std::int32_t output : op.outputs) {
        if (output >= 0) producers_[static_cast<std::size_t>(output)] = i;
      }
      for (std::size_t k = 0; k < op.inputs.size(); ++k) {
        if (op.inputs[k] >= 0) uses_[static_cast<std::size_t>(op.inputs[k])].push_back({i, k});
      }
      computes_on_codes_.push_back(computes_on_codes(op));
    }
  }

  void describe(const model::GraphView& view, Weight& weight) const {
    weight.is_sparse = graph_.tensors[weight.tensor].sparsity.has_value();
    weight.is_output = is_output_[weight.tensor];
    weight.uses = uses_[weight.tensor];
    weight.is_used = weight.is_looked_up = !weight.uses.empty();
    for (const WeightUse& use : weight.uses) {
      const Purpose purpose = purpose_of(use, weight.dims);
      weight.is_looked_up &= purpose.is_lookup;
      weight.feeds_quantized_op |= computes_on_codes_[use.op];
      if (!weight.op_type.empty() && purpose.role <= weight.role) continue;
      weight.role = purpose.role;
      weight.channels = purpose.channels;
      weight.kernel_taps = purpose.taps;
      weight.op = info(code_of(model_, graph_.operators[use.op])).op;
      weight.op_type = view.nodes[use.op].op;
    }
  }

 private:
  Purpose purpose_of(const WeightUse& use, const std::vector<std::int64_t>& dims) const {
    const Operator& op = graph_.operators[use.op];
    const OpInfo& row = info(code_of(model_, op));
    const std::size_t rank = dims.size();
    Purpose purpose;
    if (row.bias == use.input) purpose.role = Role::kParameter;
    if (row.code == Builtin::kAdd && is_bias_of_product(op, use.input, dims)) purpose.role = Role::kParameter;
    if (rank < 2) return purpose;
    if (row.code == Builtin::kEmbeddingLookup && use.input == row.weight) return of_table(op, rank);
    if (row.code == Builtin::kGather && use.input == 0) return of_table(op, rank);
    if (row.code == Builtin::kBatchMatmul && use.input < 2) return of_matrix(op, use.input, rank);
    if (row.has_weight() && use.input == row.weight) {
      purpose = weight_with(row.weight_axis, rank);
      if (rank == 4) purpose.taps = static_cast<std::size_t>(dims[1] * dims[2]);
      return purpose;
    }
    for (const WeightInputs& each : kWeightInputs) {
      if (row.code == each.code && use.input >= each.first && use.input <= each.last)
        return weight_with(each.axis, rank);
    }
    return purpose;
  }

  // The ADD behind a product that has no bias of its own.
  bool is_bias_of_product(const Operator& op, std::size_t input,
                          const std::vector<std::int64_t>& dims) const {
    if (op.inputs.size() != 2 || op.inputs[1 - input] < 0) return false;
    const bool is_vector =
        !dims.empty() && std::all_of(dims.begin(), dims.end() - 1, [](std::int64_t dim) { return dim == 1; });
    const std::size_t producer = producers_[static_cast<std::size_t>(op.inputs[1 - input])];
    if (!is_vector || producer == model::kNone) return false;
    const OpInfo& row = info(code_of(model_, graph_.operators[producer]));
    return row.code == Builtin::kBatchMatmul || row.int8 == IntegerRule::kWeights;
  }

  bool computes_on_codes(const Operator& op) const {
    if (Builtin{code_of(model_, op)} == Builtin::kQuantize) return true;
    return std::any_of(op.outputs.begin(), op.outputs.end(), [&](std::int32_t output) {
      if (output < 0) return false;
      const Tensor& tensor = graph_.tensors[static_cast<std::size_t>(output)];
      return tensor.quantization && !tensor.quantization->scale.empty() &&
             tensor.type != TensorType::kFloat32;
    });
  }

  const Model& model_;
  const SubGraph& graph_;
  std::vector<std::size_t> producers_;
  std::vector<bool> is_output_;
  std::vector<std::vector<WeightUse>> uses_;  // by tensor
  std::vector<bool> computes_on_codes_;       // by operator
};

}  // namespace

std::vector<Weight> find_weights(const TfliteFile& file) {
  const Model& model = file.model();
  std::vector<Weight> weights;
  for (std::size_t g = 0; g < model.subgraphs.size(); ++g) {
    const model::GraphView& graph = file.graphs()[g];
    const Finder finder(model, model.subgraphs[g]);
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
      count_step();
      const model::ValueView& value = graph.values[i];
      if (!value.constant || !is_float(value.constant->type)) continue;
      Weight weight;
      weight.graph = g;
      weight.tensor = i;
      weight.name = value.name;
      weight.type = value.constant->type;
      weight.dims.assign(value.constant->dims.begin(), value.constant->dims.end());
      finder.describe(graph, weight);
      weights.push_back(std::move(weight));
    }
  }
  return weights;
}

std::size_t quantized_constants(const Model& model) {
  std::size_t count = 0;
  for (const SubGraph& graph : model.subgraphs) {
    for (const Tensor& tensor : graph.tensors) {
      const bool is_quantized = tensor.quantization && (!tensor.quantization->scale.empty() ||
                                                        tensor.quantization->details.table.has_value());
      count += is_quantized && is_constant(model, tensor) ? 1U : 0U;
    }
  }
  return count;
}

plan::Selection::Texts texts_of(const TfliteFile& file, const Weight& weight) {
  plan::Selection::Texts texts = {weight.name};
  for (const WeightUse& use : weight.uses) {
    const model::NodeView& node = file.graphs()[weight.graph].nodes[use.op];
    if (!node.name.empty()) texts.push_back(node.name);
    texts.push_back(node.op);
  }
  return texts;
}

}  // namespace ounce::tflite
