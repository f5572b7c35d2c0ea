#include "formats/onnx/qat/trained_scales.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/edit/chain.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/qat/constant_subgraphs.h"
#include "formats/onnx/qat/linear_codes.h"

namespace ounce::passes {
namespace {

using graph::Use;

bool is_weight_type(ElementType type) { return is_float_weight_type(type) && type != ElementType::kDouble; }

class Storing {
 public:
  explicit Storing(onnx::Model& model)
      : model_(model), index_(model), reader_(model, index_), editors_(model, index_) {}

  Changes run() {
    for (std::size_t body = 0; body < index_.bodies().size(); ++body) {
      const auto& nodes = index_.bodies()[body].nodes();
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (is_quantize(*nodes[i])) visit(body, i);
      }
    }
    editors_.finish();
    return std::move(changes_);
  }

 private:
  // The codes as some of their users take them: all, or those within a Clip.
  struct Version {
    CodeRange range;
    std::vector<Use> uses;
    std::optional<Use> clip;  // that is not needed any more
  };

  void visit(std::size_t body, std::size_t position) {
    const onnx::Node& node = *index_.bodies()[body].nodes()[position];
    if (node.outputs.size() != 1 || node.outputs[0].empty()) return;
    auto read = reader_.read(body, input_of(node, 0));
    if (std::holds_alternative<FrozenReader::NotConstant>(read)) return;  // an activation
    const auto* reason = std::get_if<Reason>(&read);
    std::optional<Reason> problem =
        reason != nullptr ? std::optional(*reason) : store(body, position, std::get<FrozenValues>(read));
    if (problem)
      changes_.left_alone.push_back(fmt::format("{}: {}", place_of(index_, body, position), problem->text));
  }

  std::optional<Reason> store(std::size_t body, std::size_t position, const FrozenValues& values) {
    const onnx::Node& node = *index_.bodies()[body].nodes()[position];
    if (!is_weight_type(values.type()))
      return Reason{fmt::format("what it codes is of type {}", name_of(values.type()))};
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
    if (versions.empty()) return std::nullopt;  // nobody wants the codes
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
    if (!limits) return refuse("has limits that are not constants");
    if (clip.outputs.size() != 1 || clip.outputs[0].empty()) return refuse("has no output");
    const graph::Value& value = *index_.find(use.body, clip.outputs[0]).value;
    if (value.is_output) return refuse("gives an output");
    const float lo = std::max(limits->lo, static_cast<float>(whole.lo));
    const float hi = std::min(limits->hi, static_cast<float>(whole.hi));
    if (lo > hi || lo != std::trunc(lo) || hi != std::trunc(hi))
      return refuse("has limits that are no codes");
    return Version{{static_cast<int>(lo), static_cast<int>(hi)}, value.uses, use};
  }

  // Others than DequantizeLinear take the codes as they are.
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

  onnx::Model& model_;
  graph::Index index_;
  FrozenReader reader_;
  Editors editors_;
  Changes changes_;
};

}  // namespace

Changes store_trained_weights(onnx::Model& model) { return Storing(model).run(); }

}  // namespace ounce::passes
