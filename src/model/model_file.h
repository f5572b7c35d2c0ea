// A model file of any format, read-only, as inspect, verify, bench, contract and diff need it.
// formats/open.h opens one; each format implements the interface for its own files.
//
//   const model::ModelFilePtr file = formats::open_model(path);   // parsed and validated
//   for (const model::Port& input : file->inputs()) …
//   for (const model::NodeView& node : file->graphs()[0].nodes) …
//
// Views live as long as the file. Editing has no interface: quantization is nodes in ONNX, and a property of
// a tensor in TFLite.
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

// The kind of a file: ONNX by the name, which is not opened; others by their first bytes; a folder by its
// name. Nothing where neither decides: an ONNX file has no identifier.
std::optional<ModelKind> detect(const std::filesystem::path& path);

// What the model takes or gives.
struct Port {
  struct Dimension {
    std::int64_t value = -1;  // -1 when it is free …
    std::string name;         // … and its name then, if it has one
  };
  std::string name;
  ElementType type = ElementType::kUndefined;  // kUndefined: not a tensor but a sequence, a map …
  std::vector<Dimension> shape;
  std::string text;  // type and shape: "float32[N,3,224,224]"
};

// An integer stands for (integer - zero) * scale, with one scale for all or one for each channel of the
// second axis; a 16-bit float stands for itself.
struct QuantizedPort {
  std::string name;
  bool is_input = false;
  ElementType type = ElementType::kUint8;
  std::vector<float> scales, zeros;
};

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Of GraphView::values or GraphView::nodes.
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
  std::string_view op, domain, name;  // domain: empty for the operators of the format itself
  std::vector<ValueId> inputs, outputs;
};

// Where the channels of an activation are.
enum class Layout : std::uint8_t { kChannelsLast, kChannelsSecond };

// The axis that counts them in a value of this rank, which is not 0.
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
  std::optional<ConstantView> constant;  // an initializer, or the tensor of a node that holds one
  std::vector<NodeId> users = {};        // in the order of the file
  std::size_t input = kNone;             // its place among the inputs of the graph
};

struct GraphView {
  std::string path;  // for messages: "" for the main graph, "If_3/then_branch", "function f"
  bool is_function = false;
  bool is_body = false;  // of a node of another graph
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
  // Row-major and little-endian; of strings each with its length before it.
  virtual std::string_view bytes() const = 0;
  // Of float types.
  virtual const quant::FloatSource& floats() const = 0;
};

// A float tensor whose values are in the file, and all about its use that decides how it can be stored. Each
// format fills these from its own graph (formats/onnx/plan/weights.h); plan/weights sees nothing else of a
// model.

// What a float tensor is for, the strongest of its uses.
enum class Role {
  kOther,
  kParameter,  // a bias, or a scale or bias of a normalisation: 16 bits are enough
  kTable,      // rows are cut out of it
  kWeight,     // multiplied with: 8 bits are enough
};

// The axes [first, last) of a tensor that count the channels.
struct ChannelAxes {
  std::size_t first = 0, last = 0;
};

struct WeightSite {
  std::size_t graph = 0;  // in which it stands …
  std::string_view name;  // … and its name there
  ElementType type = ElementType::kUndefined;
  std::vector<std::int64_t> dims;

  Role role = Role::kOther;             // found by following it through ops that move values
  std::size_t kernel_taps = 1;          // of a convolution
  std::optional<ChannelAxes> channels;  // of this tensor, for the op it feeds
  Op op = Op::kUnknown;                 // that it feeds …
  std::string op_type;                  // … and its name in the file
  bool is_used = false;
  bool is_output = false;     // of the graph
  bool is_looked_up = false;  // every use is a lookup of its rows
  bool is_moved = false;      // some use only moves its values
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

  // What is connected: names, order, types. What is in each part was checked when the file was read. Throws
  // Error{kBadInput}. The views below are of a model that was validated.
  virtual void validate() const = 0;

  virtual ModelKind kind() const = 0;
  virtual const std::filesystem::path& path() const = 0;
  virtual std::uint64_t bytes() const = 0;                       // with external data
  virtual std::vector<std::filesystem::path> files() const = 0;  // the model's own first
  virtual std::map<std::string, std::uint64_t> external()
      const = 0;  // bytes of each, by its name in the model

  virtual std::int64_t schema_version() const = 0;  // of the file format: the IR version of ONNX
  virtual std::vector<std::pair<std::string, std::int64_t>> opsets() const = 0;
  virtual std::string producer() const = 0;
  virtual std::vector<std::pair<std::string, std::string>> metadata() const = 0;

  // Without those that have a value in the file, which need no data.
  virtual std::span<const Port> inputs() const = 0;
  virtual std::span<const Port> outputs() const = 0;
  // Those that were float before the model was quantized, and what their integers stand for. Throws
  // Error{kBadInput} for metadata that makes no sense.
  virtual std::vector<QuantizedPort> quantized_ports() const = 0;
  // Of inputs that select rows of a table: how many it has.
  virtual std::map<std::string, std::int64_t> table_rows() const = 0;

  // The main graph first, then bodies of control flow and functions. In each, what is used stands before its
  // user. Made when they are first asked for.
  virtual std::span<const GraphView> graphs() const = 0;
  // A digest of each attribute of a node, without the graphs in it. Of a node that holds a constant only its
  // type and shape count.
  virtual std::map<std::string, std::uint64_t> attributes(NodeId node) const = 0;
  virtual std::unique_ptr<const ConstantValues> read(ValueId constant) const = 0;

  const NodeView& node(NodeId id) const { return graphs()[id.graph].nodes[id.node]; }
  const ValueView& value(ValueId id) const { return graphs()[id.graph].values[id.value]; }
  // How to call a node in a message: its name, or its type and position.
  std::string label(NodeId node) const;
};

using ModelFilePtr = std::unique_ptr<const ModelFile>;

// The value of one key; nothing where the model has none.
std::optional<std::string> metadata_of(const ModelFile& file, std::string_view key);

struct NodePair {
  std::optional<NodeId> before, after;  // one of them may be missing
};

// Matches the nodes of two models whose names may differ. Two nodes are the same if everything that leads to
// them is: the same ops with the same attributes on the same inputs and on constants of the same shapes. The
// others are matched by their names, and then by the node alone, in the order of the file. Returns pairs in
// the order of `before`, then the nodes that only `after` has.
std::vector<NodePair> match_nodes(const ModelFile& before, const ModelFile& after);

// True if a verb works on this kind of model file.
bool supports(ModelKind kind, std::string_view verb);

// Throws Error{kUnsupported} with the verbs that work on such a file, before the file is read. A missing file
// passes: opening it reports the error.
void require_support(const std::filesystem::path& model, std::string_view verb);

}  // namespace ounce::model
