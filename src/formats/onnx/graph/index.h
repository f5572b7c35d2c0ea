// Who defines a value, and who uses it: every graph, subgraph and function body of a model, numbered,
// with its names resolved through the scopes.
//
// Building the index proves the naming rules: one definition a name, nothing used that nobody defines,
// nothing that hides a name of an enclosing graph. Views point into the model; an edited model needs a new
// index. (Training graphs are carried, not indexed: they do not run at inference.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/cancel.h"
#include "formats/onnx/file/model.h"

namespace ounce::graph {

using onnx::Bytes;

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Use {
  std::size_t body, node, input;
};

struct Value {
  std::size_t producer = kNone;     // node in this body
  std::size_t initializer = kNone;  // tensor in this body's graph
  bool is_sparse = false;           // a sparse initializer
  bool is_input = false;
  bool is_output = false;  // of its own body, or of one inside it
  std::vector<Use> uses;   // in this body and those inside it
};

struct Body {
  const onnx::Graph* graph = nullptr;  // exactly one of these two
  const onnx::Function* function = nullptr;
  std::size_t parent = kNone, owner = kNone;  // the body and the node around this one
  std::size_t attribute = 0,
              position = 0;  // owner.attributes[attribute].graphs[position], or functions[position]
  std::string path;          // for people: "" for the main graph, "If_3/then_branch", "function f"
  std::unordered_map<Bytes, Value> values;

  const std::vector<onnx::Kept<onnx::Node>>& nodes() const {
    return graph != nullptr ? graph->nodes : function->nodes;
  }
};

class Index {
 public:
  // Throws Error{kBadInput} that names the value and the node.
  explicit Index(const onnx::Model& model);

  const std::deque<Body>& bodies() const { return bodies_; }
  const Body& main() const { return bodies_.front(); }

  // The value that `name` means in `body`, and the body that defines it. Null for unknown names.
  struct Found {
    const Value* value = nullptr;
    std::size_t body = kNone;
  };
  Found find(std::size_t body, Bytes name) const;

  // The body that has no parent around `body`: the main graph or a function.
  std::size_t root(std::size_t body) const;

  const onnx::Node& node(const Use& use) const {
    count_step();
    return *bodies_[use.body].nodes()[use.node];
  }

 private:
  void add_body(Body body);
  void define(std::size_t body);
  void add_children(std::size_t body);
  void resolve(std::size_t body);
  Value& define_name(std::size_t body, Bytes name, const char* as);

  std::deque<Body> bodies_;  // parents before children
};

// Calls visit(body, position, node) for all nodes at every depth.
template <class Visit>
void for_each_node(const Index& index, Visit visit) {
  for (std::size_t body = 0; body < index.bodies().size(); ++body) {
    const auto& nodes = index.bodies()[body].nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      count_step();
      visit(body, i, *nodes[i]);
    }
  }
}

// A name for a value that is its own in the whole model and outlives edits of other nodes: in the main graph
// the value's name, in a body inside of it also the first output of the node around each body:
// "if_out/then_branch/v"; in a function "function f/v".
std::string value_path(const Index& index, std::size_t body, Bytes name);

// How to call a node in a message: its name, or its type and position.
std::string node_label(const onnx::Node& node, std::size_t position);

// The constants that nodes take: tensors known before the model runs, wherever they stand.

// The tensor of a Constant node; null for its other forms, and for other nodes.
const onnx::Tensor* constant_tensor(const onnx::Node& node);

struct Constant {
  const onnx::Tensor* tensor = nullptr;
  const Value* value = nullptr;
  std::size_t body = kNone;  // that defines it

  bool is_shared() const { return value->uses.size() > 1 || value->is_output; }
};

// Nothing when `name` is empty or is computed, or when it may get another value: from IR 4 on an initializer
// that is listed as an input is only a default, and training graphs change initializers.
std::optional<Constant> find_constant(const onnx::Model& model, const Index& index, std::size_t body,
                                      Bytes name);

// The optional input of a node; empty where it is left out.
Bytes input_of(const onnx::Node& node, std::size_t input);

// The version of ONNX's own ops in a body: functions have imports of their own.
std::int64_t opset_of(const onnx::Model& model, const Index& index, std::size_t body);

// Which values of a model's inputs are legal: inputs that select rows of a table must stay inside of it.

// For each input of the main graph that reaches the indices of a Gather (perhaps through casts and reshapes):
// the number of rows of the smallest table that it selects from.
std::map<std::string, std::int64_t> index_bounds(const onnx::Model& model, const Index& index);

// New names that nobody has yet. They are short, because every added tensor pays for its name
// several times in the file.

class Names {
 public:
  // Collects every value and node name at every depth, so that a fresh name hides nothing.
  explicit Names(onnx::Model& model);

  // "q0", "q1" … for the prefix "q", kept in the model's text.
  onnx::Bytes fresh(const std::string& prefix);

 private:
  void collect(const onnx::Graph& graph);
  void collect(const std::vector<onnx::Kept<onnx::Node>>& nodes);
  void collect(const std::vector<onnx::Kept<onnx::Attribute>>& attributes);

  onnx::Model& model_;
  std::unordered_set<onnx::Bytes> taken_;
  std::unordered_map<std::string, std::size_t> next_;
};

// Whoever reads a node of a known op finds the inputs and outputs that the op cannot be without.

// Throws Error{kBadInput}. Only the ops of ONNX itself are looked at: those of runtimes change under the same
// version.
void check_op_parameters(const onnx::Model& model, const Index& index);

}  // namespace ounce::graph
