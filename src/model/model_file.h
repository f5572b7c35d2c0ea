// A read-only model file of any format, as inspect, verify, bench, contract and diff need it. formats/open.h
// opens files; each format implements the interface.
//
//   const model::ModelFilePtr file = formats::open_model(path);   // parsed and validated
//   for (const model::Port& input : file->inputs()) …
//   for (const model::NodeView& node : file->graphs()[0].nodes) …
//
// Views live as long as the file. There is no common interface for editing: quantization is nodes in ONNX,
// but a property of tensors in TFLite.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/element_type.h"
#include "base/model_kind.h"
#include "ops/op_info.h"
#include "quant/float_source.h"

namespace ounce::model {

using ounce::ModelKind;

// Detects the kind of a file: ONNX by name, without opening it; others by their first bytes; a folder by its
// name. Empty if neither applies: ONNX files have no magic number.
std::optional<ModelKind> detect(const std::filesystem::path& path);

// An input or output of the model.
struct Port {
  struct Dimension {
    std::int64_t value = -1;  // -1 for a dynamic dimension
    std::string name;         // name of a dynamic dimension, if any
  };
  std::string name;
  ElementType type = ElementType::kUndefined;  // kUndefined: not a tensor (sequence, map …)
  std::vector<Dimension> shape;
  std::string text;  // type and shape: "float32[N,3,224,224]"
};

// An integer q represents (q - zero) * scale, with per-tensor scales or per-channel scales of the second
// axis. 16-bit floats have no scale.
struct QuantizedPort {
  std::string name;
  bool is_input = false;
  ElementType type = ElementType::kUint8;
  std::vector<float> scales, zeros;
};

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Indices into GraphView::values and GraphView::nodes.
struct ValueId {
  std::size_t graph = 0, value = kNone;
  bool is_absent() const { return value == kNone; }
  auto operator<=>(const ValueId&) const = default;
};
struct NodeId {
  std::size_t graph = 0, node = 0;
  auto operator<=>(const NodeId&) const = default;
};

struct NodeView {
  std::string_view op, domain, name;  // domain: empty for the format's own operators
  std::vector<ValueId> inputs, outputs;
};

// The position of the channel axis of an activation.
enum class Layout : std::uint8_t { kChannelsLast, kChannelsSecond };

// The channel axis of a value with this rank, which must not be 0.
constexpr std::size_t channel_axis(Layout layout, std::size_t rank) {
  return layout == Layout::kChannelsSecond && rank > 2 ? 1 : rank - 1;
}

// A tensor whose values are in the file.
struct ConstantView {
  ElementType type = ElementType::kUndefined;
  std::span<const std::int64_t> dims;
  std::uint64_t bytes = 0;
};

struct ValueView {
  std::string_view name;
  std::size_t producer = kNone;          // node of the same graph
  std::optional<ConstantView> constant;  // an initializer, or the tensor of a constant node
  std::vector<NodeId> users = {};        // in file order
  std::size_t input = kNone;             // its position in the graph's inputs
};

struct GraphView {
  std::string path;  // for messages: "" for the main graph, "If_3/then_branch", "function f"
  bool is_function = false;
  bool is_body = false;  // subgraph of a node in another graph
  std::vector<NodeView> nodes;
  std::vector<ValueView> values;
  std::vector<ValueId> outputs;
};

// The values of a constant.
class ConstantValues {
 public:
  ConstantValues() = default;
  ConstantValues(const ConstantValues&) = delete;
  ConstantValues& operator=(const ConstantValues&) = delete;
  virtual ~ConstantValues() = default;
  // Row-major and little-endian; strings are each preceded by their length.
  virtual std::string_view bytes() const = 0;
  // Only for float types.
  virtual const quant::FloatSource& floats() const = 0;
};

// A float tensor stored in the file, with the facts about its use that determine how it can be stored. Each
// format fills these from its own graph (formats/onnx/plan/weights.h); plan/weights sees nothing else of the
// model.

// The strongest use of a float tensor.
enum class Role {
  kOther,
  kParameter,  // bias, or scale or bias of a normalization: 16 bits suffice
  kTable,      // rows are looked up
  kWeight,     // operand of a product: 8 bits suffice
};

// The axes [first, last) of a tensor that enumerate channels.
struct ChannelAxes {
  std::size_t first = 0, last = 0;
};

struct WeightSite {
  std::size_t graph = 0;  // that contains it
  std::string_view name;  // unique in that graph
  ElementType type = ElementType::kUndefined;
  std::vector<std::int64_t> dims;

  Role role = Role::kOther;             // also through ops that only move values
  std::size_t kernel_taps = 1;          // of a convolution
  std::optional<ChannelAxes> channels;  // of this tensor, for the op that uses it
  Op op = Op::kUnknown;                 // that uses it
  std::string op_type;                  // name of that op in the file
  bool is_used = false;
  bool is_output = false;     // of the graph
  bool is_looked_up = false;  // all uses are row lookups
  bool is_moved = false;      // a use only moves its values
  bool feeds_quantized_op = false;

  bool fits_nbits() const { return role == Role::kWeight || role == Role::kTable; }
  bool is_half() const { return type == ElementType::kFloat16 || type == ElementType::kBfloat16; }
  std::uint64_t values() const {
    std::uint64_t count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<std::uint64_t>(dim);
    return count;
  }
  std::uint64_t bytes() const { return values() * static_cast<std::uint64_t>(info_of(type).bits) / 8; }
};

class ModelFile {
 public:
  ModelFile() = default;
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;
  virtual ~ModelFile() = default;

  // Checks the relations between parts: names, order, types. Each part was checked when the file was read.
  // Throws Error{kBadInput}. The views below require a validated model.
  virtual void validate() const = 0;

  virtual ModelKind kind() const = 0;
  virtual const std::filesystem::path& path() const = 0;
  virtual std::uint64_t bytes() const = 0;                       // with external data
  virtual std::vector<std::filesystem::path> files() const = 0;  // the model file first
  virtual std::map<std::string, std::uint64_t> external()
      const = 0;  // sizes of external files, by their names in the model

  virtual std::int64_t schema_version() const = 0;  // of the file format: the IR version of ONNX
  virtual std::vector<std::pair<std::string, std::int64_t>> opsets() const = 0;
  virtual std::string producer() const = 0;
  virtual std::vector<std::pair<std::string, std::string>> metadata() const = 0;

  // Without inputs that have default values in the file.
  virtual std::span<const Port> inputs() const = 0;
  virtual std::span<const Port> outputs() const = 0;
  // Inputs and outputs that were floats before the model was quantized, with their scales. Throws
  // Error{kBadInput} for invalid metadata.
  virtual std::vector<QuantizedPort> quantized_ports() const = 0;
  // For inputs that select rows of a table: the number of rows.
  virtual std::map<std::string, std::int64_t> table_rows() const = 0;

  // The main graph first, then subgraphs and functions. Nodes come after the nodes whose outputs they use.
  // Built on first use.
  virtual std::span<const GraphView> graphs() const = 0;
  // A digest of each attribute of a node, except subgraphs. For constant nodes only type and shape are
  // included.
  virtual std::map<std::string, std::uint64_t> attributes(NodeId node) const = 0;
  virtual std::unique_ptr<const ConstantValues> read(ValueId constant) const = 0;

  const NodeView& node(NodeId id) const { return graphs()[id.graph].nodes[id.node]; }
  const ValueView& value(ValueId id) const { return graphs()[id.graph].values[id.value]; }
  // The label of a node in messages: its name, or its type and position.
  std::string label(NodeId node) const;
};

using ModelFilePtr = std::unique_ptr<const ModelFile>;

// The value of one metadata key; empty if missing.
std::optional<std::string> metadata_of(const ModelFile& file, std::string_view key);

struct NodePair {
  std::optional<NodeId> before, after;  // one of them may be missing
};

// Matches the nodes of two models whose names may differ. Two nodes match if they and everything they depend
// on are equal: the same ops with the same attributes on the same inputs and on constants of the same shapes.
// Remaining nodes are matched by name, then by their own properties in file order. Returns pairs in the order
// of `before`, then the nodes that only `after` has.
std::vector<NodePair> match_nodes(const ModelFile& before, const ModelFile& after);

// True if a verb supports this kind of model file.
bool supports(ModelKind kind, std::string_view verb);

// Throws Error{kUnsupported} with the supported verbs, before the file is read. Missing files pass; opening
// them reports the error.
void require_support(const std::filesystem::path& model, std::string_view verb);

}  // namespace ounce::model
