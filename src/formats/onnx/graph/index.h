// Definitions and uses of all values: numbers every graph, subgraph and function body of a model, and
// resolves names through the scopes.
//
// The constructor checks the naming rules: each name is defined once, each used name is defined, and no name
// hides a name of an enclosing graph. Views point into the model; an edited model needs a new index. Training
// graphs are preserved but not indexed, because they do not run at inference.
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
  const onnx::Graph* graph = nullptr;  // exactly one of the two is set
  const onnx::Function* function = nullptr;
  std::size_t parent = kNone, owner = kNone;  // the body and the node around this one
  std::size_t attribute = 0,
              position = 0;  // owner.attributes[attribute].graphs[position], or functions[position]
  std::string path;          // for messages: "" for the main graph, "If_3/then_branch", "function f"
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

  // The value that `name` refers to in `body`, and the body that defines it. Null for unknown names.
  struct Found {
    const Value* value = nullptr;
    std::size_t body = kNone;
  };
  Found find(std::size_t body, Bytes name) const;

  // The outermost body around `body`: the main graph or a function.
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

// A name for a value that is unique in the model and does not change when other nodes are edited. In the main
// graph it is the value's name. In subgraphs the first output of each enclosing node comes first:
// "if_out/then_branch/v". In functions: "function f/v".
std::string value_path(const Index& index, std::size_t body, Bytes name);

// The label of a node in messages: its name, or its type and position.
std::string node_label(const onnx::Node& node, std::size_t position);

// Constants that nodes take: tensors known before the model runs, in any body.

// The tensor of a Constant node; null for its other forms and for other nodes.
const onnx::Tensor* constant_tensor(const onnx::Node& node);

struct Constant {
  const onnx::Tensor* tensor = nullptr;
  const Value* value = nullptr;
  std::size_t body = kNone;  // that defines it

  bool is_shared() const { return value->uses.size() > 1 || value->is_output; }
};

// Empty if `name` is empty, computed, or replaceable: from IR 4 on, an initializer that is listed as an input
// is only a default, and training graphs change initializers.
std::optional<Constant> find_constant(const onnx::Model& model, const Index& index, std::size_t body,
                                      Bytes name);

// An optional input of a node; empty if omitted.
Bytes input_of(const onnx::Node& node, std::size_t input);

// The version of ONNX's own ops in a body. Functions have their own imports.
std::int64_t opset_of(const onnx::Model& model, const Index& index, std::size_t body);

// Legal values of a model's inputs: inputs that select rows of a table must be within it.

// For each input of the main graph that reaches the indices of a Gather (perhaps through casts and reshapes):
// the number of rows of the smallest table that it selects from.
std::map<std::string, std::int64_t> index_bounds(const onnx::Model& model, const Index& index);

// Generates new names. They are short because each added tensor repeats its name several times in the file.

class Names {
 public:
  // Collects every value and node name in all bodies, so that fresh names are unique.
  explicit Names(onnx::Model& model);

  // Returns "q0", "q1" … for the prefix "q". The model owns the string.
  onnx::Bytes fresh(const std::string& prefix);

 private:
  void collect(const onnx::Graph& graph);
  void collect(const std::vector<onnx::Kept<onnx::Node>>& nodes);
  void collect(const std::vector<onnx::Kept<onnx::Attribute>>& attributes);

  onnx::Model& model_;
  std::unordered_set<onnx::Bytes> taken_;
  std::unordered_map<std::string, std::size_t> next_;
};

// Checks that nodes of known ops have their required inputs and outputs.

// Throws Error{kBadInput}. Only ONNX's own ops are checked: runtimes change their ops without a new version.
void check_op_parameters(const onnx::Model& model, const Index& index);

}  // namespace ounce::graph
