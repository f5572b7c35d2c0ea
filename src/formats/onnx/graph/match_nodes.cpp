#include "formats/onnx/graph/match_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>

#include "base/digest.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/graph/index.h"

namespace ounce::graph {
namespace {

// Names of ours in a digest cannot be mistaken for one another: each has its length before it.
void add_text(std::string& text, Bytes part) { text += fmt::format("{}:{}", part.size(), part); }

std::string shape_of(const onnx::Tensor& tensor) {
  std::string text = fmt::format("constant {}", static_cast<int>(tensor.type));
  for (const std::int64_t dim : tensor.dims) text += fmt::format(",{}", dim);
  return text;
}

struct Signature {
  std::string op;     // its kind
  std::string alone;  // what the node is, with its attributes and the shapes of its constants
  std::string whole;  // … and everything that leads to it, as a digest
};

// One model's nodes, in the order of its bodies and of the file, in which what is used stands before its
// user.
class Signatures {
 public:
  explicit Signatures(const Index& index) : index_(index) {
    for_each_node(index, [&](std::size_t body, std::size_t position, const onnx::Node& node) {
      add(body, position, node);
    });
  }

  struct Entry {
    NodePlace place;
    std::string name;  // with the body's path before it; empty: it has none
    Signature signature;
    bool is_matched = false;
  };
  std::vector<Entry>& entries() { return entries_; }

 private:
  void add(std::size_t body, std::size_t position, const onnx::Node& node) {
    std::string alone;
    add_text(alone, onnx::is_default_domain(node.domain) ? Bytes() : node.domain);
    add_text(alone, node.op_type);
    const std::string op = alone;
    std::map<Bytes, std::uint64_t> attributes;  // in whatever order they stand
    for (const auto& attribute : node.attributes)
      attributes[attribute->name] = attribute_digest(node, *attribute);
    for (const auto& [name, digest] : attributes) {
      add_text(alone, name);
      alone += fmt::format("={}", digest);
    }
    std::string whole;
    for (const Bytes input : node.inputs) {
      const std::string constant = input.empty() ? "absent" : constant_shape(body, input);
      add_text(alone, constant);
      add_text(whole, constant.empty() ? origin_of(body, input) : constant);
    }
    alone += fmt::format("→{}", node.outputs.size());
    whole = hex(digest_of(alone + whole));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].empty()) origins_[{body, node.outputs[i]}] = fmt::format("{}[{}]", whole, i);
    }
    const std::string name =
        node.name.empty() ? std::string() : fmt::format("{}\n{}", index_.bodies()[body].path, node.name);
    entries_.push_back({{body, position}, name, {op, std::move(alone), std::move(whole)}});
  }

  // Empty for what is no constant.
  std::string constant_shape(std::size_t body, Bytes name) const {
    const Index::Found found = index_.find(body, name);
    if (found.value == nullptr) return {};
    const Body& home = index_.bodies()[found.body];
    if (found.value->initializer != kNone && home.graph != nullptr)
      return shape_of(*home.graph->initializers[found.value->initializer]);
    if (found.value->producer != kNone) {
      const onnx::Tensor* tensor = constant_tensor(*home.nodes()[found.value->producer]);
      if (tensor != nullptr) return shape_of(*tensor);
    }
    return {};
  }

  // A given value is known by its place among the inputs: its name may have changed.
  std::string origin_of(std::size_t body, Bytes name) const {
    const Index::Found found = index_.find(body, name);
    if (found.value == nullptr) return "unknown";
    const auto made = origins_.find({found.body, name});
    if (made != origins_.end()) return made->second;
    const Body& home = index_.bodies()[found.body];
    if (home.graph == nullptr) return "given";
    for (std::size_t i = 0; i < home.graph->inputs.size(); ++i) {
      if (home.graph->inputs[i]->name == name) return fmt::format("input {} of {}", i, found.body);
    }
    return "given";
  }

  const Index& index_;
  std::vector<Entry> entries_;
  std::map<std::pair<std::size_t, Bytes>, std::string> origins_;
};

class Matching {
 public:
  Matching(const Index& before, const Index& after)
      : before_(before), after_(after), partner_(before_.entries().size(), kNone) {}

  // Those with the same key, in their order.
  template <class Key>
  void match_by(Key key) {
    std::map<std::string, std::deque<std::size_t>> waiting;
    for (std::size_t i = 0; i < after_.entries().size(); ++i) {
      const auto& entry = after_.entries()[i];
      if (entry.is_matched) continue;
      if (std::string text = key(entry); !text.empty()) waiting[std::move(text)].push_back(i);
    }
    for (std::size_t i = 0; i < before_.entries().size(); ++i) {
      auto& entry = before_.entries()[i];
      if (entry.is_matched) continue;
      const auto found = waiting.find(key(entry));
      if (found == waiting.end() || found->second.empty()) continue;
      partner_[i] = found->second.front();
      found->second.pop_front();
      entry.is_matched = after_.entries()[partner_[i]].is_matched = true;
    }
  }

  std::vector<NodePair> pairs() {
    std::vector<NodePair> all;
    for (std::size_t i = 0; i < before_.entries().size(); ++i) {
      NodePair pair{before_.entries()[i].place, std::nullopt};
      if (partner_[i] != kNone) pair.after = after_.entries()[partner_[i]].place;
      all.push_back(pair);
    }
    for (const auto& entry : after_.entries()) {
      if (!entry.is_matched) all.push_back({std::nullopt, entry.place});
    }
    return all;
  }

 private:
  Signatures before_, after_;
  std::vector<std::size_t> partner_;  // of each before: its place among the others
};

}  // namespace

std::uint64_t attribute_digest(const onnx::Node& node, const onnx::Attribute& attribute) {
  constexpr std::uint32_t kDocString = 13, kType = 20;  // old files say no type
  onnx::CarriedFields fields;
  for (const onnx::CarriedField& field : attribute.carried) {
    if (field.number != kDocString && field.number != kType) fields.push_back(field);
  }
  const bool has_values = node.op_type != "Constant";
  std::string text;
  for (const auto& tensor : attribute.tensors) {
    add_text(text, shape_of(*tensor));
    if (!has_values) continue;
    if (tensor->type == ElementType::kString) {
      onnx::append_string_fields(*tensor, fields);
    } else {
      add_text(text, onnx::RawValues(*tensor).bytes());
    }
  }
  // Writers differ in the order of fields.
  std::stable_sort(fields.begin(), fields.end(),
                   [](const auto& a, const auto& b) { return a.number < b.number; });
  for (const onnx::CarriedField& field : fields) add_text(text, field.bytes);
  text += fmt::format("{} graphs", attribute.graphs.size());
  const std::string digits = hex(digest_of(text));
  return std::stoull(digits.substr(0, 16), nullptr, 16);
}

std::vector<NodePair> match_nodes(const Index& before, const Index& after) {
  using Entry = Signatures::Entry;
  const auto by_name = [](const Entry& entry, const std::string& more) {
    return entry.name.empty() ? std::string() : entry.name + '\n' + more;
  };
  Matching matching(before, after);
  matching.match_by([&](const Entry& entry) { return by_name(entry, entry.signature.whole); });
  matching.match_by([](const Entry& entry) { return entry.signature.whole; });
  matching.match_by([&](const Entry& entry) { return by_name(entry, entry.signature.alone); });
  matching.match_by([&](const Entry& entry) { return by_name(entry, entry.signature.op); });
  matching.match_by([](const Entry& entry) { return entry.signature.alone; });
  return matching.pairs();
}

}  // namespace ounce::graph
