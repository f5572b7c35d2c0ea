#include "formats/onnx/prepare/raise_opset.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"
#include "kernels/half.h"

namespace ounce::passes {
namespace {

// --- Attributes that become inputs.

// A list of integers; an optional input that is not set is omitted.
template <std::size_t kInput>
void move_integers(NodeUpgrade& upgrade, Bytes attribute) {
  if (!upgrade.has(attribute)) return;
  upgrade.set_input(kInput, upgrade.add_integers(upgrade.integers(attribute)));
  upgrade.drop(attribute);
}

void axes_to_input(NodeUpgrade& upgrade) { move_integers<1>(upgrade, "axes"); }
void split_to_input(NodeUpgrade& upgrade) { move_integers<1>(upgrade, "split"); }

void slice_to_inputs(NodeUpgrade& upgrade) {
  move_integers<1>(upgrade, "starts");
  move_integers<2>(upgrade, "ends");
  move_integers<3>(upgrade, "axes");
}

void k_to_input(NodeUpgrade& upgrade) {
  if (!upgrade.has("k")) upgrade.refuse("it has no attribute k");
  upgrade.set_input(1, upgrade.add_integers({upgrade.integer("k", 0)}));
  upgrade.drop("k");
}

// The old default is the second axis, the new one the second to last.
void dft_axis_to_input(NodeUpgrade& upgrade) {
  upgrade.set_input(2, upgrade.add_integer(upgrade.integer("axis", 1)));
  upgrade.drop("axis");
}

void clip_to_inputs(NodeUpgrade& upgrade) {
  const Bytes x = input_of(upgrade.node(), 0);
  const auto move = [&](Bytes attribute, std::size_t input) {
    if (!upgrade.has(attribute)) return;
    upgrade.set_input(input, upgrade.add_number_like(x, upgrade.number(attribute, 0)));
    upgrade.drop(attribute);
  };
  move("min", 1);
  move("max", 2);
}

void pad_to_inputs(NodeUpgrade& upgrade) {
  move_integers<1>(upgrade, "pads");
  const float value = upgrade.number("value", 0);
  if (value != 0) upgrade.set_input(2, upgrade.add_number_like(input_of(upgrade.node(), 0), value));
  upgrade.drop("value");
}

void scales_to_input(NodeUpgrade& upgrade) {
  upgrade.set_input(1, upgrade.add_numbers(upgrade.numbers("scales")));
  upgrade.drop("scales");
}

// --- Attributes that are removed, or become mandatory.

void drop_spatial(NodeUpgrade& upgrade) {
  if (upgrade.integer("spatial", 1) != 1)
    upgrade.refuse("it normalizes each position separately (spatial=0), which opset 9 removed");
  upgrade.drop("spatial");
}

// More than one output used to mean training mode, which is now an attribute.
void drop_training_outputs(NodeUpgrade& upgrade) {
  for (std::size_t i = 1; i < upgrade.node().outputs.size(); ++i) {
    if (upgrade.is_used(i)) upgrade.refuse("it is in training mode; export the model for inference");
  }
  upgrade.drop_outputs_from(1);
}

// The mask changed its type in opset 10. The ratio, which has no effect at inference, became an input in 12.
void refuse_mask(NodeUpgrade& upgrade) {
  if (upgrade.is_used(1)) upgrade.refuse("its mask is used; export the model for inference");
}
void drop_ratio(NodeUpgrade& upgrade) { upgrade.drop("ratio"); }

void count_outputs(NodeUpgrade& upgrade) {
  if (!input_of(upgrade.node(), 1).empty()) return;
  upgrade.set_integer("num_outputs", static_cast<std::int64_t>(upgrade.node().outputs.size()));
}

void keep_output_pixels(NodeUpgrade& upgrade) {
  if (!upgrade.has("coordinate_transformation_mode"))
    upgrade.set_text("coordinate_transformation_mode", "output_half_pixel");
}

void rename_grid_modes(NodeUpgrade& upgrade) {
  const std::string mode = upgrade.text("mode", "bilinear");
  if (!upgrade.has("mode") || mode == "nearest") return;
  upgrade.set_text("mode", mode == "bicubic" ? "cubic" : "linear");
}

// --- Attributes that change their meaning.

// Softmax and similar ops used to interpret their input as a matrix: the axes before `axis` were its rows,
// all others its columns. Now they work along one axis, which is the same only for the last one.
//
//   x ─ Softmax(axis) ─ y   →   x ─ Flatten(axis) ─ Softmax(-1) ─ Reshape ─ y
//                               └ Shape ──────────────────────────┘
void widen_axis(NodeUpgrade& upgrade) {
  const std::int64_t axis = upgrade.integer("axis", 1);
  const Bytes x = input_of(upgrade.node(), 0);
  if (x.empty() || upgrade.node().outputs.size() != 1) upgrade.refuse("it lacks its input or its output");
  std::optional<std::size_t> rank = upgrade.rank_of(x);
  if (!rank) rank = upgrade.rank_of(upgrade.node().outputs[0]);
  const bool is_last = axis == -1 || (rank && axis + 1 == static_cast<std::int64_t>(*rank));
  if (is_last && upgrade.has("axis")) return;
  upgrade.set_integer("axis", -1);
  if (is_last) return;
  upgrade.set_input(0, upgrade.add_in_front(Op::kFlatten, x, {{"axis", axis}}));
  upgrade.add_behind(Op::kReshape, upgrade.add_in_front(Op::kShape, x, {}));
}

// --- Resize.

// X, scales → X, no region, scales; with the coordinate mode that used to be the only one.
void to_asymmetric_resize(NodeUpgrade& upgrade, const char* nearest_mode) {
  const Bytes scales = input_of(upgrade.node(), 1);
  upgrade.set_input(1, "");
  upgrade.set_input(2, scales);
  upgrade.set_text("coordinate_transformation_mode", "asymmetric");
  if (upgrade.text("mode", "nearest") == "nearest") upgrade.set_text("nearest_mode", nearest_mode);
}

void upsample_to_resize(NodeUpgrade& upgrade) {
  upgrade.set_op(Op::kResize);
  to_asymmetric_resize(upgrade, "floor");
}

// Nearest used to round down if an axis grows, and up if it shrinks.
void resize_to_regions(NodeUpgrade& upgrade) {
  if (upgrade.text("mode", "nearest") != "nearest") return to_asymmetric_resize(upgrade, "floor");
  const onnx::Tensor* scales = upgrade.constant(input_of(upgrade.node(), 1));
  if (scales == nullptr || scales->type != ElementType::kFloat)
    upgrade.refuse("its rounding depends on computed scales; make them constants");
  const std::vector<float> values = floats_of(*scales);
  const auto grows = [](float scale) { return scale >= 1; };
  const auto shrinks = [](float scale) { return scale <= 1; };
  if (std::all_of(values.begin(), values.end(), grows)) return to_asymmetric_resize(upgrade, "floor");
  if (std::all_of(values.begin(), values.end(), shrinks)) return to_asymmetric_resize(upgrade, "ceil");
  upgrade.refuse("it enlarges one axis and shrinks another, and no newer Resize rounds in the same way");
}

void refuse_half_pixel_for_nn(NodeUpgrade& upgrade) {
  if (upgrade.text("coordinate_transformation_mode", "half_pixel") == "tf_half_pixel_for_nn")
    upgrade.refuse("its mode tf_half_pixel_for_nn was removed in opset 13");
}

// --- Renamed ops, and changes that cannot be converted.

void scatter_to_elements(NodeUpgrade& upgrade) { upgrade.set_op(Op::kScatterElements); }

void refuse_scan(NodeUpgrade& upgrade) {
  upgrade.refuse("the Scan of opset 8 takes batches, which opset 9 removed; export the model again");
}

void refuse_group_norm(NodeUpgrade& upgrade) {
  upgrade.refuse(
      "its scale and bias belong to groups, but to channels from opset 21 on; "
      "export the model again or use an opset below 21");
}

constexpr auto kChanges = std::to_array<OpsetChange>({
    {Op::kBatchNormalization, 9, drop_spatial},
    {Op::kBatchNormalization, 14, drop_training_outputs},
    {Op::kClip, 11, clip_to_inputs},
    {Op::kDFT, 20, dft_axis_to_input},
    {Op::kDropout, 10, refuse_mask},
    {Op::kDropout, 12, drop_ratio},
    {Op::kGridSample, 20, rename_grid_modes},
    {Op::kGroupNormalization, 21, refuse_group_norm},
    {Op::kHardmax, 13, widen_axis},
    {Op::kLogSoftmax, 13, widen_axis},
    {Op::kPad, 11, pad_to_inputs},
    {Op::kReduceL1, 18, axes_to_input},
    {Op::kReduceL2, 18, axes_to_input},
    {Op::kReduceLogSum, 18, axes_to_input},
    {Op::kReduceLogSumExp, 18, axes_to_input},
    {Op::kReduceMax, 18, axes_to_input},
    {Op::kReduceMean, 18, axes_to_input},
    {Op::kReduceMin, 18, axes_to_input},
    {Op::kReduceProd, 18, axes_to_input},
    {Op::kReduceSum, 13, axes_to_input},
    {Op::kReduceSumSquare, 18, axes_to_input},
    {Op::kResize, 11, resize_to_regions},
    {Op::kResize, 13, refuse_half_pixel_for_nn},
    {Op::kRoiAlign, 16, keep_output_pixels},
    {Op::kScan, 9, refuse_scan},
    {Op::kScatter, 11, scatter_to_elements},
    {Op::kSlice, 10, slice_to_inputs},
    {Op::kSoftmax, 13, widen_axis},
    {Op::kSplit, 13, split_to_input},
    {Op::kSplit, 18, count_outputs},
    {Op::kSqueeze, 13, axes_to_input},
    {Op::kTopK, 10, k_to_input},
    {Op::kUnsqueeze, 13, axes_to_input},
    {Op::kUpsample, 9, scales_to_input},
    {Op::kUpsample, 10, upsample_to_resize},
});

}  // namespace

std::span<const OpsetChange> opset_changes() { return kChanges; }

namespace {

template <class T>
std::string bytes_of(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

using Narrow = void (*)(const std::byte*, std::size_t, std::uint16_t*, kernels::HalfStats&);

std::string narrow_bytes(float number, Narrow narrow) {
  std::uint16_t bits = 0;
  kernels::HalfStats stats;
  narrow(reinterpret_cast<const std::byte*>(&number), 1, &bits, stats);
  return bytes_of(bits);
}

std::optional<std::string> bytes_as(ElementType type, float number) {
  switch (type) {
    case ElementType::kFloat: return bytes_of(number);
    case ElementType::kDouble: return bytes_of(double{number});
    case ElementType::kFloat16: return narrow_bytes(number, kernels::f32_to_f16);
    case ElementType::kBfloat16: return narrow_bytes(number, kernels::f32_to_bf16);
    default: return std::nullopt;
  }
}

}  // namespace

NodeUpgrade::NodeUpgrade(BodyEditor& editor, const graph::Index& index, const ValueTypes& types,
                         std::size_t body, std::size_t position)
    : editor_(editor), index_(index), types_(types), body_(body), position_(position) {
  const onnx::Node& old = editor.node(position);
  made_.name = old.name;
  made_.set_op(old.domain(), old.op_type());
  made_.inputs = old.inputs;
  made_.outputs = old.outputs;
  made_.carried = old.carried;
  for (const auto& attribute : old.attributes) {
    has_body_ |= !attribute->graphs.empty();
    if (attribute->graphs.empty()) made_.attributes.push_back(copy_of(attribute));
  }
}

void NodeUpgrade::refuse(const std::string& why) const {
  throw Error(ErrorCode::kUnsupported, "the model cannot be converted to a newer opset: " + why,
              fmt::format("{} ({})", place_of(index_, body_, position_), editor_.node(position_).op_type()));
}

bool NodeUpgrade::has(Bytes attribute) const { return onnx::find_attribute(made_, attribute) != nullptr; }

namespace {

template <class T>
T known(const NodeUpgrade& upgrade, Bytes attribute, std::optional<T> value) {
  if (!value)
    upgrade.refuse(fmt::format("its attribute '{}' cannot be read; export the model again", attribute));
  return *std::move(value);
}

}  // namespace

std::int64_t NodeUpgrade::integer(Bytes attribute, std::int64_t otherwise) const {
  return known(*this, attribute, integer_setting(made_, attribute, otherwise));
}
float NodeUpgrade::number(Bytes attribute, float otherwise) const {
  return known(*this, attribute, float_setting(made_, attribute, otherwise));
}
std::string NodeUpgrade::text(Bytes attribute, const char* otherwise) const {
  return std::string(known(*this, attribute, string_setting(made_, attribute, otherwise)));
}
std::vector<std::int64_t> NodeUpgrade::integers(Bytes attribute) const {
  return known(*this, attribute, onnx::integers_attribute(made_, attribute));
}
std::vector<float> NodeUpgrade::numbers(Bytes attribute) const {
  return known(*this, attribute, floats_setting(made_, attribute));
}

const onnx::Tensor* NodeUpgrade::constant(Bytes value) const {
  const auto found = find_constant(editor_.model(), index_, body_, value);
  return found ? found->tensor : nullptr;
}

bool NodeUpgrade::is_used(std::size_t output) const {
  if (output >= made_.outputs.size() || made_.outputs[output].empty()) return false;
  const graph::Value* value = index_.find(body_, made_.outputs[output]).value;
  return value != nullptr && (value->is_output || !value->uses.empty());
}

void NodeUpgrade::set_op(Op op) {
  made_.set_op(op);
  is_changed_ = true;
}

void NodeUpgrade::drop(Bytes attribute) {
  is_changed_ |=
      std::erase_if(made_.attributes, [&](const auto& entry) { return entry->name == attribute; }) != 0;
}

void NodeUpgrade::set_integer(Bytes attribute, std::int64_t value) {
  drop(attribute);
  made_.attributes.emplace_back(onnx::make_integer_attribute(editor_.model(), attribute, value));
  is_changed_ = true;
}

void NodeUpgrade::set_text(Bytes attribute, const std::string& value) {
  drop(attribute);
  made_.attributes.emplace_back(onnx::make_string_attribute(editor_.model(), attribute, value));
  is_changed_ = true;
}

void NodeUpgrade::set_input(std::size_t input, Bytes name) {
  if (made_.inputs.size() <= input) made_.inputs.resize(input + 1, Bytes(""));
  made_.inputs[input] = name;
  is_changed_ = true;
}

void NodeUpgrade::drop_outputs_from(std::size_t output) {
  if (made_.outputs.size() <= output) return;
  made_.outputs.resize(output);
  is_changed_ = true;
}

Bytes NodeUpgrade::add_integers(const std::vector<std::int64_t>& values) {
  return editor_.add_integers(position_, values);
}

Bytes NodeUpgrade::add_integer(std::int64_t value) {
  return editor_.add_tensor(position_, make_tensor(ElementType::kInt64, {}, bytes_of(value)));
}

Bytes NodeUpgrade::add_numbers(const std::vector<float>& values) {
  return editor_.add_tensor(position_, float_tensor({static_cast<std::int64_t>(values.size())}, values));
}

Bytes NodeUpgrade::add_number_like(Bytes value, float number) {
  const auto type = types_.float_type(body_, value);
  if (!type) {
    refuse(fmt::format("the type of '{}' is not declared and the model has several; infer its types first",
                       value));
  }
  auto bytes = bytes_as(*type, number);
  if (!bytes) refuse(fmt::format("'{}' does not have a float type", value));
  return editor_.add_tensor(position_, make_tensor(*type, {}, *std::move(bytes)));
}

Bytes NodeUpgrade::add_in_front(Op op, Bytes input,
                                const std::vector<std::pair<Bytes, std::int64_t>>& attributes) {
  onnx::Node node;
  node.set_op(op);
  node.inputs = {input};
  node.outputs = {editor_.names().fresh("v")};
  for (const auto& [name, value] : attributes)
    node.attributes.emplace_back(onnx::make_integer_attribute(editor_.model(), name, value));
  return in_front_.emplace_back(std::move(node)).outputs[0];
}

void NodeUpgrade::add_behind(Op op, Bytes second) {
  const Bytes between = editor_.names().fresh("v");
  onnx::Node node;
  node.set_op(op);
  node.inputs = {between, second};
  node.outputs = made_.outputs;
  made_.outputs = {between};
  behind_.insert(behind_.begin(), std::move(node));
  is_changed_ = true;
}

void NodeUpgrade::finish() {
  if (has_body_) refuse("it has a subgraph, which this op does not support; export the model again");
  editor_.replace_node(position_);
  for (onnx::Node& node : in_front_) editor_.add_node(position_, std::move(node));
  editor_.add_node(position_, std::move(made_));
  for (onnx::Node& node : behind_) editor_.add_node(position_, std::move(node));
}

}  // namespace ounce::passes
