#include "formats/onnx/edit/names.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formats/onnx/edit/body_editor.h"
#include "formats/onnx/file/attributes.h"
#include "formats/onnx/graph/index.h"

namespace ounce::passes {
namespace {

using graph::Index;
using graph::kNone;
using graph::Value;
using onnx::Kept;

// Fields that the model copies without interpretation.
constexpr std::uint32_t kNodeNote = 6, kNodeDevices = 10;  // doc_string, device_configurations
constexpr std::uint32_t kGraphAnnotations = 14;            // quantization_annotation
constexpr std::uint32_t kFunctionTypes = 12;               // value_info

bool carries(const onnx::CarriedFields& fields, std::uint32_t number) {
  return std::any_of(fields.begin(), fields.end(), [&](const auto& field) { return field.number == number; });
}

bool has_names_elsewhere(const graph::Body& body) {
  const auto& nodes = body.nodes();
  if (std::any_of(nodes.begin(), nodes.end(),
                  [](const auto& node) { return carries(node->carried, kNodeDevices); }))
    return true;
  if (body.graph != nullptr) return carries(body.graph->carried, kGraphAnnotations);
  const auto& defaults = body.function->attribute_defaults;  // graphs in there have no body in the index
  return carries(body.function->carried, kFunctionTypes) ||
         std::any_of(defaults.begin(), defaults.end(),
                     [](const auto& each) { return !each->graphs.empty(); });
}

bool has_names_elsewhere(const onnx::Model& model, const Index& index) {
  return !model.proto->training.empty() ||
         std::any_of(index.bodies().begin(), index.bodies().end(),
                     [](const graph::Body& body) { return has_names_elsewhere(body); });
}

// Access without editing for const messages, with editing for others.
template <class T>
const T& open(const Kept<T>& kept) {
  return *kept;
}
template <class T>
T& open(Kept<T>& kept) {
  return kept.edit();
}

// Call visit(name) for every name of a value in one body. Subgraphs are bodies of their own.
template <class Nodes, class Visit>
void visit_nodes(Nodes& nodes, Visit visit) {
  for (auto& node : nodes) {
    for (auto& name : open(node).inputs) visit(name);
    for (auto& name : open(node).outputs) visit(name);
  }
}

template <class Function, class Visit>
void visit_function(Function& function, Visit visit) {
  for (auto& name : function.inputs) visit(name);
  visit_nodes(function.nodes, visit);
  for (auto& name : function.outputs) visit(name);
}

template <class Graph, class Visit>
void visit_graph(Graph& graph, Visit visit) {
  for (auto& tensor : graph.initializers) visit(open(tensor).name);
  for (auto& sparse : graph.sparse_initializers) visit(open(open(sparse).values).name);
  for (auto* infos : {&graph.inputs, &graph.outputs, &graph.value_infos}) {
    for (auto& info : *infos) visit(open(info).name);
  }
  visit_nodes(graph.nodes, visit);
}

// Returns names in order of length: letters and digits, starting with a letter.
std::string short_name(std::size_t number) {
  constexpr std::string_view kCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr std::size_t kLetters = 52;
  std::size_t length = 1;
  for (std::size_t of_length = kLetters; number >= of_length; of_length *= kCharacters.size()) {
    number -= of_length;
    ++length;
  }
  std::string name(length, ' ');
  for (std::size_t i = length - 1; i > 0; --i) {
    name[i] = kCharacters[number % kCharacters.size()];
    number /= kCharacters.size();
  }
  name[0] = kCharacters[number];
  return name;
}

class ShortNames {
 public:
  ShortNames(const onnx::Model& model, const Index& index) : index_(index) {
    keep_outer_names(model);
    count_mentions();
    choose_names();
    count_notes();
  }

  std::int64_t saved() const { return saved_; }

  std::map<std::pair<std::size_t, std::string>, Bytes> apply(onnx::Model& model) const {
    std::map<std::pair<std::size_t, std::string>, Bytes> new_names;
    std::vector<Bytes> names;
    for (const Renamed& value : values_) names.push_back(model.intern(value.name));
    for (std::size_t id = 0; id < index_.bodies().size(); ++id) {
      for (const auto& [name, value] : index_.bodies()[id].values) {
        const auto found = numbers_.find(&value);
        if (found != numbers_.end()) new_names[{id, std::string(name)}] = names[found->second];
      }
    }
    Editors editors(model, index_);
    for (std::size_t id = 0; id < index_.bodies().size(); ++id) {
      const auto rename = [&](Bytes& name) {
        const auto found = numbers_.find(index_.find(id, name).value);
        if (found != numbers_.end()) name = names[found->second];
      };
      BodyEditor& editor = editors.of(id);
      if (index_.bodies()[id].function != nullptr) {
        onnx::Function& function = editor.edit_function();
        visit_function(function, rename);
        clear(function.nodes);
      } else {
        onnx::Graph& graph = editor.edit_graph();
        std::erase_if(graph.value_infos, [&](const auto& info) { return !is_known(id, info->name); });
        visit_graph(graph, rename);
        clear(graph.nodes);
      }
    }
    return new_names;
  }

 private:
  struct Renamed {
    std::size_t old_length, mentions;
    std::string name;
  };

  bool is_known(std::size_t body, Bytes name) const { return index_.find(body, name).value != nullptr; }

  // Before IR 4 every initializer is listed as an input but cannot be set by the caller.
  void keep_outer_names(const onnx::Model& model) {
    const auto& main = index_.main();
    const auto keep = [&](Bytes name) {
      kept_.insert(&main.values.at(name));
      kept_names_.insert(name);
    };
    for (const auto& input : main.graph->inputs) {
      const Value& value = main.values.at(input->name);
      const bool is_constant = value.initializer != kNone || value.is_sparse;
      if (!is_constant || model.proto->ir_version >= 4) keep(input->name);
    }
    for (const auto& output : main.graph->outputs) keep(output->name);
  }

  void count_mentions() {
    for (std::size_t id = 0; id < index_.bodies().size(); ++id) {
      const auto count = [&](const Bytes& name) {
        if (name.empty()) return;
        const Value* value = index_.find(id, name).value;
        if (value == nullptr) {
          saved_ += static_cast<std::int64_t>(name.size());  // a declared type without a value
        } else if (!kept_.contains(value)) {
          const auto [entry, is_new] = numbers_.try_emplace(value, values_.size());
          if (is_new) values_.push_back({name.size(), 0, {}});
          ++values_[entry->second].mentions;
        }
      };
      const graph::Body& body = index_.bodies()[id];
      body.function != nullptr ? visit_function(*body.function, count) : visit_graph(*body.graph, count);
    }
  }

  void choose_names() {
    std::vector<Renamed*> order;
    for (Renamed& value : values_) order.push_back(&value);
    std::stable_sort(order.begin(), order.end(),
                     [](const Renamed* a, const Renamed* b) { return a->mentions > b->mentions; });
    std::size_t next = 0;
    for (Renamed* value : order) {
      do value->name = short_name(next++);
      while (kept_names_.contains(value->name));
      saved_ += static_cast<std::int64_t>(value->mentions * value->old_length) -
                static_cast<std::int64_t>(value->mentions * value->name.size());
    }
  }

  void count_notes() {
    graph::for_each_node(index_, [&](std::size_t, std::size_t, const onnx::Node& node) {
      saved_ += static_cast<std::int64_t>(node.name.size());
      for (const auto& field : node.carried) {
        if (field.number == kNodeNote) saved_ += static_cast<std::int64_t>(field.bytes.size());
      }
    });
  }

  static void clear(std::vector<Kept<onnx::Node>>& nodes) {
    for (auto& node : nodes) {
      node.edit().name = {};
      std::erase_if(node.edit().carried, [](const auto& field) { return field.number == kNodeNote; });
    }
  }

  const Index& index_;
  std::unordered_set<const Value*> kept_;
  std::unordered_set<Bytes> kept_names_;
  std::unordered_map<const Value*, std::size_t> numbers_;  // in values_
  std::vector<Renamed> values_;                            // in the order of their first occurrence
  std::int64_t saved_ = 0;
};

}  // namespace

ShortenedNames shorten_names(onnx::Model& model, std::uint64_t least) {
  const Index index(model);
  if (has_names_elsewhere(model, index)) return {};
  const ShortNames names(model, index);
  if (names.saved() <= 0 || static_cast<std::uint64_t>(names.saved()) < least) return {};
  return {static_cast<std::uint64_t>(names.saved()), names.apply(model)};
}

std::size_t name_slices(onnx::Model& model) {
  const graph::Index index(model);
  Editors editors(model, index);
  std::size_t named = 0;
  graph::for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
    if (!node.name.empty() || (node.op() != Op::kGather && node.op() != Op::kSlice)) return;
    BodyEditor& editor = editors.of(body);
    editor.edit_node(position).name = editor.names().fresh("n");
    ++named;
  });
  return named;
}

namespace {

using Nodes = std::vector<onnx::Kept<onnx::Node>>;

bool is_named_constant(const onnx::Node& node) {
  return node.op() == Op::kConstant && onnx::is_default_domain(node.domain()) && !node.name.empty();
}

bool has_work(const Nodes& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& node) {
    if (is_named_constant(*node)) return true;
    return std::any_of(node->attributes.begin(), node->attributes.end(), [](const auto& attribute) {
      return std::any_of(attribute->graphs.begin(), attribute->graphs.end(),
                         [](const auto& graph) { return has_work((*graph)->nodes); });
    });
  });
}

std::size_t strip(Nodes& nodes) {
  std::size_t changed = 0;
  for (auto& node : nodes) {
    if (is_named_constant(*node)) {
      node.edit().name = {};
      ++changed;
    }
    for (std::size_t a = 0; a < node->attributes.size(); ++a) {
      for (std::size_t g = 0; g < node->attributes[a]->graphs.size(); ++g) {
        if (!has_work((*node->attributes[a]->graphs[g])->nodes)) continue;
        changed += strip(node.edit().attributes[a].edit().graphs[g]->edit().nodes);
      }
    }
  }
  return changed;
}

}  // namespace

std::size_t strip_constant_names(onnx::Model& model) {
  std::size_t changed = 0;
  if (has_work(model.proto->graph->nodes)) changed += strip(model.proto.edit().graph.edit().nodes);
  for (std::size_t f = 0; f < model.proto->functions.size(); ++f) {
    if (has_work(model.proto->functions[f]->nodes))
      changed += strip(model.proto.edit().functions[f].edit().nodes);
  }
  return changed;
}

void import_domains(onnx::Model& model) {
  const graph::Index index(model);
  std::map<std::size_t, std::set<onnx::Bytes>> missing;  // by root body
  for (std::size_t id = 0; id < index.bodies().size(); ++id) {
    const std::size_t root = index.root(id);
    const onnx::Function* function = index.bodies()[root].function;
    const auto& imports = function != nullptr ? function->opset_imports : model.proto->opset_imports;
    for (const auto& node : index.bodies()[id].nodes()) {
      const bool is_known =
          onnx::is_default_domain(node->domain()) || onnx::opset_version(imports, node->domain()) != 0;
      if (!is_known) missing[root].insert(node->domain());
    }
  }
  for (const auto& [root, domains] : missing) {
    const graph::Body& body = index.bodies()[root];
    auto& imports = body.function != nullptr
                        ? model.proto.edit().functions[body.position].edit().opset_imports
                        : model.proto.edit().opset_imports;
    for (const onnx::Bytes domain : domains) {
      onnx::OpsetImport import;
      import.domain = domain;
      import.version = 1;
      imports.emplace_back(std::move(import));
    }
  }
}

}  // namespace ounce::passes
