#include "model/model_file.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <string>

#include "base/digest.h"

namespace ounce::model {
namespace {

// Each part is preceded by its length, so that different inputs cannot give the same digest text.
void add_text(std::string& text, std::string_view part) { text += fmt::format("{}:{}", part.size(), part); }

std::string shape_of(const ConstantView& constant) {
  std::string text = fmt::format("constant {}", static_cast<int>(constant.type));
  for (const std::int64_t dim : constant.dims) text += fmt::format(",{}", dim);
  return text;
}

struct Signature {
  std::string op;     // op type
  std::string alone;  // with attributes and the shapes of constants
  std::string whole;  // a digest that also includes everything it depends on
};

// The nodes of one model in file order, in which producers come before users.
class Signatures {
 public:
  explicit Signatures(const ModelFile& file) : file_(file) {
    for (std::size_t graph = 0; graph < file.graphs().size(); ++graph) {
      for (std::size_t node = 0; node < file.graphs()[graph].nodes.size(); ++node) add({graph, node});
    }
  }

  struct Entry {
    NodeId id;
    std::string name;  // with the graph's path; empty if it has none
    Signature signature;
    bool is_matched = false;
  };
  std::vector<Entry>& entries() { return entries_; }

 private:
  void add(NodeId id) {
    const NodeView& node = file_.node(id);
    std::string alone;
    add_text(alone, node.domain);
    add_text(alone, node.op);
    const std::string op = alone;
    for (const auto& [name, digest] : file_.attributes(id)) {
      add_text(alone, name);
      alone += fmt::format("={}", digest);
    }
    std::string whole;
    for (const ValueId input : node.inputs) {
      const std::string constant = input.is_absent()             ? "absent"
                                   : file_.value(input).constant ? shape_of(*file_.value(input).constant)
                                                                 : std::string();
      add_text(alone, constant);
      add_text(whole, constant.empty() ? origin_of(input) : constant);
    }
    alone += fmt::format("→{}", node.outputs.size());
    whole = hex(digest_of(alone + whole));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].is_absent()) origins_[node.outputs[i]] = fmt::format("{}[{}]", whole, i);
    }
    const std::string name =
        node.name.empty() ? std::string() : fmt::format("{}\n{}", file_.graphs()[id.graph].path, node.name);
    entries_.push_back({id, name, {op, std::move(alone), std::move(whole)}});
  }

  // Model inputs are identified by position, because their names may have changed.
  std::string origin_of(ValueId value) const {
    const auto made = origins_.find(value);
    if (made != origins_.end()) return made->second;
    const std::size_t input = file_.value(value).input;
    return input == kNone ? "given" : fmt::format("input {} of {}", input, value.graph);
  }

  const ModelFile& file_;
  std::vector<Entry> entries_;
  std::map<ValueId, std::string> origins_;
};

class Matching {
 public:
  Matching(const ModelFile& before, const ModelFile& after)
      : before_(before), after_(after), partner_(before_.entries().size(), kNone) {}

  // Matches nodes with the same key, in order.
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
      NodePair pair{before_.entries()[i].id, std::nullopt};
      if (partner_[i] != kNone) pair.after = after_.entries()[partner_[i]].id;
      all.push_back(pair);
    }
    for (const auto& entry : after_.entries()) {
      if (!entry.is_matched) all.push_back({std::nullopt, entry.id});
    }
    return all;
  }

 private:
  Signatures before_, after_;
  std::vector<std::size_t> partner_;  // by node of `before`: its match in `after`
};

}  // namespace

std::vector<NodePair> match_nodes(const ModelFile& before, const ModelFile& after) {
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

}  // namespace ounce::model
