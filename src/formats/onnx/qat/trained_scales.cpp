#include "formats/onnx/qat/trained_scales.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/edit/constants.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/qat/constant_subgraphs.h"
#include "kernels/pack.h"

namespace ounce::passes {
namespace {

using onnx::kContrib;
using Dims = std::vector<std::int64_t>;

bool holds_scales(ElementType type) {
  return type == ElementType::kFloat || type == ElementType::kFloat16 || type == ElementType::kBfloat16;
}

bool is_one_byte(ElementType type) { return type == ElementType::kInt8 || type == ElementType::kUint8; }

// Reads a scale or zero point; returns a Reason if it is not constant.
std::variant<FrozenValues, Reason> read_input(FrozenReader& reader, std::size_t body, Bytes name,
                                              const char* what) {
  auto read = reader.read(body, name);
  if (auto* values = std::get_if<FrozenValues>(&read)) return std::move(*values);
  if (const auto* reason = std::get_if<Reason>(&read))
    return Reason{fmt::format("its {}: {}", what, reason->text)};
  return Reason{fmt::format("its {} is not a constant", what)};
}

class GridReader {
 public:
  GridReader(FrozenReader& reader, std::int64_t opset, std::size_t body, const onnx::Node& node,
             const Dims& dims)
      : reader_(reader), opset_(opset), body_(body), node_(node), dims_(dims) {}

  std::variant<Grid, Reason> read(std::optional<ElementType> codes) {
    auto scale = read_input(reader_, body_, input_of(node_, 1), "scale");
    if (auto* reason = std::get_if<Reason>(&scale)) return std::move(*reason);
    const auto& scales = std::get<FrozenValues>(scale);
    if (auto reason = lay_out(scales)) return std::move(*reason);
    if (auto reason = take_scales(scales)) return std::move(*reason);
    if (auto reason = take_zeros(scales.dims(), codes)) return std::move(*reason);
    return std::move(grid_);
  }

 private:
  using Problem = std::optional<Reason>;

  // Computes which scale belongs to which value.
  Problem lay_out(const FrozenValues& scales) {
    const auto block = onnx::integer_setting(node_, "block_size", 0);
    const auto axis = onnx::integer_setting(node_, "axis", 1);
    if (!block || !axis || *block < 0) return Reason{"its axis or block size cannot be read"};
    if (scales.dims().size() <= 1 && scales.is_single() && *block == 0) {
      grid_.inner = count_of(dims_);
      return std::nullopt;
    }
    const auto rank = static_cast<std::int64_t>(dims_.size());
    const bool is_contrib = node_.domain() == kContrib;
    if (!is_contrib && opset_ < (*block == 0 ? 13 : 21))
      return Reason{fmt::format("opset {} supports only one scale for {}", opset_,
                                *block == 0 ? "all values" : "all values or per axis")};
    if (*axis < -rank || *axis >= rank)
      return Reason{fmt::format("its axis {} is not within the {} of its values", *axis, rank)};
    const auto at = static_cast<std::ptrdiff_t>(*axis < 0 ? *axis + rank : *axis);
    grid_.outer = count_of({dims_.begin(), dims_.begin() + at});
    grid_.length = static_cast<std::size_t>(dims_[static_cast<std::size_t>(at)]);
    grid_.inner = count_of({dims_.begin() + at + 1, dims_.end()});
    grid_.block = static_cast<std::size_t>(*block);
    return check_shape(scales.dims(), static_cast<std::size_t>(at));
  }

  Problem check_shape(const Dims& scales, std::size_t axis) const {
    Dims wanted{static_cast<std::int64_t>(grid_.length)};
    if (grid_.block != 0) {
      wanted = dims_;
      wanted[axis] = static_cast<std::int64_t>((grid_.length - 1) / grid_.block + 1);
    }
    if (scales == wanted) return std::nullopt;
    return Reason{fmt::format("its scale has {} values in {} axes where its axis of {} needs {} in {}",
                              count_of(scales), scales.size(), grid_.length, count_of(wanted),
                              wanted.size())};
  }

  Problem take_scales(const FrozenValues& scales) {
    if (!holds_scales(scales.type()))
      return Reason{fmt::format("its scale is of type {}", name_of(scales.type()))};
    grid_.scales = scales.all();
    for (std::size_t i = 0; i < grid_.scales.size(); ++i) {
      const float value = grid_.scales[i];
      if (!(value > 0) || !std::isfinite(value))
        return Reason{fmt::format("its scale {} (number {}) is not positive and finite", value, i)};
    }
    return std::nullopt;
  }

  Problem take_zeros(const Dims& wanted, std::optional<ElementType> codes) {
    const auto number = is_quantize(node_) ? onnx::integer_setting(node_, "output_dtype", 0) : 0;
    const auto written = number && *number != 0 ? ounce::element_type_of(*number) : ElementType::kUndefined;
    if (!number || !written) return Reason{"its output_dtype cannot be read"};
    grid_.zeros.assign(grid_.scales.size(), 0);
    grid_.type = *written != ElementType::kUndefined ? *written : codes.value_or(ElementType::kUint8);
    const Bytes name = input_of(node_, 2);
    if (!name.empty()) {
      auto read = read_input(reader_, body_, name, "zero point");
      if (auto* reason = std::get_if<Reason>(&read)) return std::move(*reason);
      const auto& zeros = std::get<FrozenValues>(read);
      const bool agrees = *written == ElementType::kUndefined || *written == zeros.type();
      if (!agrees || (codes && *codes != zeros.type()))
        return Reason{
            fmt::format("its zero point is of type {}, unlike its quantized values", name_of(zeros.type()))};
      const bool fits = zeros.dims() == wanted || (zeros.is_single() && zeros.dims().size() <= 1);
      if (!fits || zeros.size() != grid_.scales.size())
        return Reason{fmt::format("its zero point has {} values where its scale has {}", zeros.size(),
                                  grid_.scales.size())};
      grid_.type = zeros.type();
      grid_.zeros = zeros.all();
    }
    return check_type();
  }

  Problem check_type() const {
    const bool is_old = opset_ < 21 && node_.domain() != kContrib;
    if (!code_range(grid_.type) || (is_old && !is_one_byte(grid_.type)))
      return Reason{fmt::format("{} of opset {} does not support type {}", node_.op_type(), opset_,
                                name_of(grid_.type))};
    return std::nullopt;
  }

  FrozenReader& reader_;
  std::int64_t opset_;
  std::size_t body_;
  const onnx::Node& node_;
  const Dims& dims_;
  Grid grid_;
};

// Quantizes one row; the results are the low bytes of integers.
class RowCoder {
 public:
  RowCoder(CodeRange range, std::size_t width, std::string& codes)
      : lo_(static_cast<float>(range.lo)), hi_(static_cast<float>(range.hi)), width_(width), codes_(codes) {}

  // `step` is 1 if each value has its own scale, else 0. Returns false if a value is NaN.
  bool add(const std::byte* values, std::size_t count, const float* scales, const float* zeros,
           std::size_t step) {
    for (std::size_t i = 0; i < count; ++i) {
      float value;
      std::memcpy(&value, values + i * sizeof(float), sizeof value);
      const float code = std::nearbyint(value / scales[i * step]) + zeros[i * step];
      if (std::isnan(code)) return false;
      append(static_cast<int>(std::clamp(code, lo_, hi_)));
    }
    return true;
  }

 private:
  void append(int code) {
    const auto bits = static_cast<unsigned>(code);
    codes_ += static_cast<char>(bits & 0xffU);
    if (width_ == 2) codes_ += static_cast<char>((bits >> 8U) & 0xffU);
  }

  float lo_, hi_;
  std::size_t width_;
  std::string& codes_;
};

std::string packed(const std::string& codes) {
  std::string bytes((codes.size() + 1) / 2, '\0');
  kernels::pack_pairs(reinterpret_cast<const std::uint8_t*>(codes.data()), codes.size(),
                      reinterpret_cast<std::uint8_t*>(bytes.data()));
  return bytes;
}

}  // namespace

std::optional<CodeRange> code_range(ElementType type) {
  switch (type) {
    case ElementType::kInt8: return CodeRange{-128, 127};
    case ElementType::kUint8: return CodeRange{0, 255};
    case ElementType::kInt16: return CodeRange{-32768, 32767};
    case ElementType::kUint16: return CodeRange{0, 65535};
    case ElementType::kInt4: return CodeRange{-8, 7};
    case ElementType::kUint4: return CodeRange{0, 15};
    default: return std::nullopt;
  }
}

bool is_quantize(const onnx::Node& node) { return ops::is_quantize_linear(node.op()); }
bool is_dequantize(const onnx::Node& node) { return ops::is_dequantize_linear(node.op()); }

std::variant<Grid, Reason> read_grid(FrozenReader& reader, const onnx::Model& model,
                                     const graph::Index& index, std::size_t body, const onnx::Node& node,
                                     const Dims& dims, std::optional<ElementType> codes) {
  const auto precision = onnx::integer_setting(node, "precision", 0);
  if (!precision || (*precision != 0 && *precision != static_cast<std::int64_t>(ElementType::kFloat)))
    return Reason{"its precision is not float32"};
  return GridReader(reader, opset_of(model, index, body), body, node, dims).read(codes);
}

std::variant<onnx::Tensor, Reason> make_codes(const FrozenValues& values, const Grid& grid, CodeRange range) {
  const quant::FloatSource source = values.floats();
  const int bits = info_of(grid.type).bits;
  const std::size_t width = bits == 16 ? 2 : 1;
  std::string codes;
  codes.reserve(source.size() * width);
  RowCoder coder(range, width, codes);
  std::vector<float> scratch;
  const std::size_t blocks = grid.block == 0 ? 0 : (grid.length - 1) / grid.block + 1;
  for (std::size_t row = 0; row < grid.outer * grid.length; ++row) {
    const std::size_t place = row % grid.length;
    const std::size_t first =
        grid.block == 0 ? place : (row / grid.length * blocks + place / grid.block) * grid.inner;
    const std::byte* from = source.values(row * grid.inner, grid.inner, scratch);
    if (!coder.add(from, grid.inner, &grid.scales[first], &grid.zeros[first], grid.block == 0 ? 0 : 1))
      return Reason{"one of its values is NaN"};
  }
  source.release();
  return make_tensor(grid.type, values.dims(), bits == 4 ? packed(codes) : std::move(codes));
}

namespace {

using graph::Use;

bool is_weight_type(ElementType type) { return is_float_weight_type(type) && type != ElementType::kDouble; }

class Storing : GraphRewrite {
 public:
  explicit Storing(onnx::Model& model) : GraphRewrite(model), reader_(model, index_) {}

  Changes run() {
    return edit([&](std::size_t body, std::size_t position, const onnx::Node& node) {
      if (is_quantize(node)) visit(body, position);
    });
  }

 private:
  // The quantized weight for a group of users: the full range, or the range of a Clip.
  struct Version {
    CodeRange range;
    std::vector<Use> uses;
    std::optional<Use> clip;  // no longer needed
  };

  void visit(std::size_t body, std::size_t position) {
    const onnx::Node& node = *index_.bodies()[body].nodes()[position];
    if (node.outputs.size() != 1 || node.outputs[0].empty()) return;
    auto read = reader_.read(body, input_of(node, 0));
    if (std::holds_alternative<FrozenReader::NotConstant>(read)) return;  // an activation
    const auto* reason = std::get_if<Reason>(&read);
    std::optional<Reason> problem =
        reason != nullptr ? std::optional(*reason) : store(body, position, std::get<FrozenValues>(read));
    if (problem) leave(body, position, problem->text);
  }

  std::optional<Reason> store(std::size_t body, std::size_t position, const FrozenValues& values) {
    const onnx::Node& node = *index_.bodies()[body].nodes()[position];
    if (!is_weight_type(values.type()))
      return Reason{fmt::format("its input has type {}", name_of(values.type()))};
    auto read = read_grid(reader_, model_, index_, body, node, values.dims());
    if (auto* reason = std::get_if<Reason>(&read)) return std::move(*reason);
    const Grid& grid = std::get<Grid>(read);
    std::vector<Version> versions;
    if (auto reason = find_versions(body, node, values.dims(), grid, versions)) return reason;
    std::vector<onnx::Tensor> tensors;
    for (const Version& version : versions) {
      if (!reader_.may_use(values.size() * 2)) return Reason{WorkLimit::kReason};
      auto made = make_codes(values, grid, version.range);
      if (auto* reason = std::get_if<Reason>(&made)) return std::move(*reason);
      tensors.push_back(std::move(std::get<onnx::Tensor>(made)));
    }
    for (std::size_t i = 0; i < versions.size(); ++i) put(body, position, versions[i], std::move(tensors[i]));
    if (versions.empty()) return std::nullopt;  // no users
    editors_.of(body).remove_node(position);
    ++changes_.count;
    return std::nullopt;
  }

  std::optional<Reason> find_versions(std::size_t body, const onnx::Node& node,
                                      const std::vector<std::int64_t>& dims, const Grid& grid,
                                      std::vector<Version>& versions) {
    const graph::Value& codes = *index_.find(body, node.outputs[0]).value;
    if (codes.is_output) return Reason{fmt::format("'{}' is an output", node.outputs[0])};
    Version whole{*code_range(grid.type), {}, {}};
    for (const Use& use : codes.uses) {
      if (use.input == 0 && index_.node(use).op() == Op::kClip) {
        auto clipped = read_clip(use, whole.range);
        if (auto* reason = std::get_if<Reason>(&clipped)) return std::move(*reason);
        versions.push_back(std::move(std::get<Version>(clipped)));
      } else {
        whole.uses.push_back(use);
      }
    }
    if (!whole.uses.empty()) versions.insert(versions.begin(), std::move(whole));
    for (const Version& version : versions) {
      for (const Use& use : version.uses) {
        if (auto reason = check_user(use, dims, grid)) return reason;
      }
    }
    return std::nullopt;
  }

  std::variant<Version, Reason> read_clip(const Use& use, CodeRange whole) {
    const onnx::Node& clip = index_.node(use);
    const auto limits = reader_.limits(use.body, clip);
    const auto refuse = [&](const char* what) {
      return Reason{fmt::format("{} behind it {}", place_of(index_, use.body, use.node), what)};
    };
    if (!limits) return refuse("has limits that are not constant");
    if (clip.outputs.size() != 1 || clip.outputs[0].empty()) return refuse("has no output");
    const graph::Value& value = *index_.find(use.body, clip.outputs[0]).value;
    if (value.is_output) return refuse("is an output of the graph");
    const float lo = std::max(limits->lo, static_cast<float>(whole.lo));
    const float hi = std::min(limits->hi, static_cast<float>(whole.hi));
    if (lo > hi || lo != std::trunc(lo) || hi != std::trunc(hi))
      return refuse("has limits that are not valid quantized values");
    return Version{{static_cast<int>(lo), static_cast<int>(hi)}, value.uses, use};
  }

  // Users other than DequantizeLinear take the quantized values directly.
  std::optional<Reason> check_user(const Use& use, const std::vector<std::int64_t>& dims, const Grid& grid) {
    const onnx::Node& user = index_.node(use);
    if (use.input != 0 || !is_dequantize(user)) return std::nullopt;
    const auto read = read_grid(reader_, model_, index_, use.body, user, dims, grid.type);
    const std::string where = place_of(index_, use.body, use.node);
    if (const auto* reason = std::get_if<Reason>(&read))
      return Reason{fmt::format("{} behind it: {}", where, reason->text)};
    if (std::get<Grid>(read) == grid) return std::nullopt;
    return Reason{fmt::format("{} behind it has another scale or zero point", where)};
  }

  void put(std::size_t body, std::size_t position, const Version& version, onnx::Tensor tensor) {
    const Bytes name = editors_.of(body).add_tensor(position, std::move(tensor));
    for (const Use& use : version.uses) editors_.of(use.body).edit_node(use.node).inputs[use.input] = name;
    if (version.clip) editors_.of(version.clip->body).remove_node(version.clip->node);
  }

  FrozenReader reader_;
};

}  // namespace

Changes store_trained_weights(onnx::Model& model) { return Storing(model).run(); }

}  // namespace ounce::passes
