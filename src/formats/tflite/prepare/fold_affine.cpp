#include "formats/tflite/prepare/fold_affine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "formats/tflite/edit/float_values.h"
#include "formats/tflite/edit/graph_editor.h"
#include "formats/tflite/prepare/work_limit.h"

namespace ounce::tflite {
namespace {

constexpr const char* kActivation = "fused_activation_function";

struct LinearCode {
  Builtin code;
  const char* options;
  std::int32_t with_bias = 1;  // the first version that has one
};

constexpr auto kLinearCodes = std::to_array<LinearCode>({
    {Builtin::kConv2D, "Conv2DOptions"},
    {Builtin::kDepthwiseConv2D, "DepthwiseConv2DOptions"},
    {Builtin::kFullyConnected, "FullyConnectedOptions"},
    {Builtin::kTransposeConv, "TransposeConvOptions", 3},
});

const char* affine_options(Builtin code) {
  switch (code) {
    case Builtin::kAdd: return "AddOptions";
    case Builtin::kSub: return "SubOptions";
    case Builtin::kMul: return "MulOptions";
    case Builtin::kDiv: return "DivOptions";
    default: return nullptr;
  }
}

// y · scale + shift, for each channel.
struct Affine {
  std::vector<double> scale, shift;

  bool changes_weights() const {
    return std::any_of(scale.begin(), scale.end(), [](double each) { return each < 1 || each > 1; });
  }
};

bool is_sound(double value, double original) {
  const auto rounded = static_cast<float>(value);
  return std::isfinite(rounded) && (std::isnormal(rounded) || original == 0);
}

class AffineFolding {
 public:
  AffineFolding(Model& model, std::size_t graph, WorkLimit& limit, Changes& changes)
      : model_(model), editor_(model, graph), limit_(limit), changes_(changes) {}

  void run() {
    const std::size_t count = editor_.size();
    for (std::size_t op = 0; op < count; ++op) {
      count_step();
      const auto row = std::find_if(kLinearCodes.begin(), kLinearCodes.end(),
                                    [&](const LinearCode& each) { return each.code == editor_.code(op); });
      if (row != kLinearCodes.end()) fold_behind(op, *row);
    }
    editor_.finish();
  }

 private:
  struct Chain {
    Affine affine;
    std::vector<std::size_t> ops;
    std::int64_t activation = 0;  // of the last one
  };

  void fold_behind(std::size_t op, const LinearCode& row) {
    const std::int32_t output = editor_.output(op);
    const Record* options = editor_.options(op, row.options);
    if (output < 0 || editor_.op(op).outputs.size() != 1 || options == nullptr ||
        options->integer(kActivation) != 0 || editor_.tensor(output).type != TensorType::kFloat32 ||
        editor_.tensor(output).shape.empty() || !editor_.sole_use(output))
      return;
    const std::int32_t channels = editor_.tensor(output).shape.back();
    const OpInfo& known = info(static_cast<std::int32_t>(row.code));
    const std::int32_t weight = editor_.input(op, known.weight);
    if (weight < 0 || editor_.tensor(weight).shape.size() <= known.weight_axis ||
        editor_.tensor(weight).shape[known.weight_axis] != channels || channels < 1)
      return;
    if (affine_options(editor_.code(editor_.sole_use(output)->op)) == nullptr) return;
    const Chain chain = collect(op, static_cast<std::size_t>(channels));
    if (chain.ops.empty()) return;
    const auto bias = bias_of(editor_.input(op, known.bias), static_cast<std::size_t>(channels));
    if (!bias) return;
    const auto new_bias = bias_with(*bias, chain.affine);
    if (!new_bias) return;
    std::optional<std::string> new_weight;
    if (chain.affine.changes_weights()) {
      new_weight = weight_with(op, row, weight, known.weight_axis, chain.affine);
      if (!new_weight) return;
    }
    apply(op, row, known, chain, *new_bias, new_weight);
  }

  Chain collect(std::size_t op, std::size_t channels) {
    Chain chain;
    chain.affine.scale.assign(channels, 1);
    chain.affine.shift.assign(channels, 0);
    std::int32_t value = editor_.output(op);
    while (chain.activation == 0) {
      count_step();
      const auto use = editor_.sole_use(value);
      if (!use || affine_options(editor_.code(use->op)) == nullptr ||
          !limit_.take(channels * sizeof(float)) || !append(chain, *use, value))
        break;
      value = editor_.output(chain.ops.back());
    }
    return chain;
  }

  bool append(Chain& chain, const GraphEditor::Use& use, std::int32_t value) const {
    const Builtin code = editor_.code(use.op);
    const char* table = affine_options(code);
    const std::int32_t result = editor_.output(use.op);
    if (table == nullptr || editor_.op(use.op).inputs.size() != 2 || editor_.op(use.op).outputs.size() != 1 ||
        result < 0 || editor_.tensor(result).type != TensorType::kFloat32 ||
        editor_.tensor(result).shape != editor_.tensor(value).shape)
      return false;
    const std::size_t channels = chain.affine.scale.size();
    const bool is_first = use.input == 0;
    const auto constant =
        channel_values(editor_.input(use.op, 1 - use.input), editor_.tensor(value).shape.size(), channels);
    const Record* options = editor_.options(use.op, table);
    if (!constant || options == nullptr || (code == Builtin::kDiv && !is_first)) return false;
    for (std::size_t c = 0; c < channels; ++c) {
      double &scale = chain.affine.scale[c], &shift = chain.affine.shift[c];
      const double number = (*constant)[constant->size() == 1 ? 0 : c];
      if (code == Builtin::kAdd) {
        shift += number;
      } else if (code == Builtin::kSub) {
        scale = is_first ? scale : -scale;
        shift = is_first ? shift - number : number - shift;
      } else {
        const double factor = code == Builtin::kMul ? number : 1 / number;
        scale *= factor;
        shift *= factor;
      }
    }
    chain.ops.push_back(use.op);
    chain.activation = options->integer(kActivation);
    return true;
  }

  // One value, or one for each channel, the last dimension.
  std::optional<std::vector<float>> channel_values(std::int32_t tensor, std::size_t rank,
                                                   std::size_t channels) const {
    if (tensor < 0 || !editor_.is_constant(tensor)) return std::nullopt;
    const Tensor& found = editor_.tensor(tensor);
    if (found.type != TensorType::kFloat32 || found.shape.size() > rank) return std::nullopt;
    const auto size = element_count(found);
    const bool is_per_channel =
        size == channels && !found.shape.empty() && static_cast<std::size_t>(found.shape.back()) == channels;
    if (size != 1U && !is_per_channel) return std::nullopt;
    return floats(found);
  }

  std::vector<float> floats(const Tensor& tensor) const {
    const quant::FloatSource source = floats_of(model_, tensor);
    std::vector<float> values;
    const std::byte* from = source.values(0, source.size(), values);
    if (values.empty()) {
      values.resize(source.size());
      if (!values.empty()) std::memcpy(values.data(), from, values.size() * sizeof(float));
    }
    return values;
  }

  std::optional<std::vector<float>> bias_of(std::int32_t tensor, std::size_t channels) const {
    if (tensor < 0) return std::vector<float>(channels);
    const Tensor& found = editor_.tensor(tensor);
    if (!editor_.is_constant(tensor) || found.type != TensorType::kFloat32 ||
        element_count(found) != channels)
      return std::nullopt;
    return floats(found);
  }

  static std::optional<std::string> bias_with(const std::vector<float>& bias, const Affine& affine) {
    std::string bytes(bias.size() * sizeof(float), '\0');
    for (std::size_t c = 0; c < bias.size(); ++c) {
      const double value = double{bias[c]} * affine.scale[c] + affine.shift[c];
      if (!std::isfinite(static_cast<float>(value))) return std::nullopt;
      const auto rounded = static_cast<float>(value);
      std::memcpy(bytes.data() + c * sizeof rounded, &rounded, sizeof rounded);
    }
    return bytes;
  }

  std::optional<std::string> weight_with(std::size_t op, const LinearCode& row, std::int32_t weight,
                                         std::size_t axis, const Affine& affine) {
    const Tensor& found = editor_.tensor(weight);
    if (!editor_.is_constant(weight) || found.type != TensorType::kFloat32 ||
        (row.code == Builtin::kFullyConnected &&
         editor_.options(op, row.options)->integer("weights_format") != 0))
      return std::nullopt;
    if (!limit_.take(byte_count(found).value_or(WorkLimit::kAll))) {
      changes_.leave(WorkLimit::kReason, editor_.label(op));
      return std::nullopt;
    }
    std::vector<float> values = floats(found);
    std::size_t inner = 1;  // values from one channel to the next
    for (std::size_t i = axis + 1; i < found.shape.size(); ++i)
      inner *= static_cast<std::size_t>(found.shape[i]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = double{values[i]} * affine.scale[i / inner % affine.scale.size()];
      if (!is_sound(value, double{values[i]})) return std::nullopt;
      values[i] = static_cast<float>(value);
    }
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }

  void apply(std::size_t op, const LinearCode& row, const OpInfo& known, const Chain& chain,
             const std::string& bias, const std::optional<std::string>& weight) {
    const std::int32_t result = editor_.output(chain.ops.back());
    const std::string name(editor_.tensor(result).name);
    const auto channels = static_cast<std::int32_t>(chain.affine.scale.size());
    const std::int32_t new_bias =
        editor_.add_constant(fmt::format("{}_bias", name), {channels}, TensorType::kFloat32, Data(bias));
    while (editor_.op(op).inputs.size() <= known.bias) editor_.add_input(op, -1);
    editor_.set_input(op, known.bias, new_bias);
    if (weight) {
      const std::vector<std::int32_t> shape = editor_.tensor(editor_.input(op, known.weight)).shape;
      editor_.set_input(
          op, known.weight,
          editor_.add_constant(fmt::format("{}_weight", name), shape, TensorType::kFloat32, Data(*weight)));
    }
    std::int32_t version = std::max(editor_.version(op), row.with_bias);
    if (chain.activation != 0) {
      editor_.set_options(op, row.options).set(kActivation, chain.activation);
      if (row.code == Builtin::kTransposeConv) version = std::max(version, 4);
    }
    if (version != editor_.version(op)) editor_.set_code(op, row.code, version);
    for (const std::size_t gone : chain.ops) editor_.remove(gone);
    editor_.set_output(op, 0, result);
    changes_.count += chain.ops.size();
  }

  Model& model_;
  GraphEditor editor_;
  WorkLimit& limit_;
  Changes& changes_;
};

}  // namespace

Changes fold_affine(Model& model) {
  Changes changes;
  WorkLimit limit(model);
  for (std::size_t graph = 0; graph < model.subgraphs.size(); ++graph)
    AffineFolding(model, graph, limit, changes).run();
  return changes;
}

}  // namespace ounce::tflite
