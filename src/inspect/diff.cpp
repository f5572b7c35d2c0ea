#include <ounce/diff.h>
#include <ounce/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "base/cancel.h"
#include "base/thread_pool.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/file/top_fields.h"
#include "formats/onnx/file/types.h"
#include "formats/onnx/graph/index.h"
#include "formats/onnx/graph/match_nodes.h"
#include "formats/onnx/graph/validate.h"
#include "formats/onnx/plan/plan.h"
#include "io/mapped_file.h"

namespace ounce {
namespace model_diff {

using graph::Index;
using graph::NodePlace;
using onnx::Bytes;

// One model, read.
struct Side {
  explicit Side(const std::filesystem::path& path)
      : model(onnx::read_model(path)), index(graph::verify(model)) {}

  const graph::Body& body(const NodePlace& place) const { return index.bodies()[place.body]; }
  const onnx::Node& node(const NodePlace& place) const { return *body(place).nodes()[place.node]; }

  onnx::Model model;
  Index index;
};

using Texts = std::map<std::string, std::string>;

// What is in one of them only, or is different in the other.
void compare_texts(const char* what, const Texts& before, const Texts& after, std::vector<Change>& changes) {
  std::set<std::string> names;
  for (const auto* texts : {&before, &after}) {
    for (const auto& [name, text] : *texts) names.insert(name);
  }
  const auto text_of = [](const Texts& texts, const std::string& name) {
    const auto found = texts.find(name);
    return found == texts.end() ? std::string() : found->second;
  };
  for (const std::string& name : names) {
    if (text_of(before, name) != text_of(after, name) || before.contains(name) != after.contains(name))
      changes.push_back({what, name, text_of(before, name), text_of(after, name)});
  }
}

Texts opsets_of(const onnx::Model& model) {
  Texts texts;
  for (const auto& import : model.proto->opset_imports)
    texts[onnx::is_default_domain(import->domain) ? "ai.onnx" : std::string(import->domain)] =
        fmt::format("{}", import->version);
  return texts;
}

constexpr const char* kContractKey = "ounce.contract";

Texts metadata_of(const onnx::Model& model, bool is_contract) {
  Texts texts;
  for (const auto& entry : model.proto->metadata) {
    if ((entry->key == kContractKey) == is_contract)
      texts[std::string(entry->key)] = std::string(entry->value);
  }
  return texts;
}

// By their places: an input that is called otherwise is another one for whoever feeds it.
Texts ports_of(const std::vector<onnx::Kept<onnx::ValueInfo>>& values, const graph::Body& main) {
  Texts texts;
  for (const auto& value : values) {
    const auto found = main.values.find(value->name);
    if (found != main.values.end() && found->second.initializer != graph::kNone) continue;
    texts[std::string(value->name)] = onnx::describe(onnx::read_type(value->type));
  }
  return texts;
}

void compare_models(const Side& a, const Side& b, DiffResult& result) {
  const onnx::ModelProto &before = *a.model.proto, &after = *b.model.proto;
  if (before.ir_version != after.ir_version)
    result.changes.push_back(
        {"IR version", "", fmt::format("{}", before.ir_version), fmt::format("{}", after.ir_version)});
  compare_texts("opset", opsets_of(a.model), opsets_of(b.model), result.changes);
  compare_texts("input", ports_of(before.graph->inputs, a.index.main()),
                ports_of(after.graph->inputs, b.index.main()), result.changes);
  compare_texts("output", ports_of(before.graph->outputs, a.index.main()),
                ports_of(after.graph->outputs, b.index.main()), result.changes);
  compare_texts("contract", metadata_of(a.model, true), metadata_of(b.model, true), result.changes);
  compare_texts("metadata", metadata_of(a.model, false), metadata_of(b.model, false), result.changes);
}

void count_ops(const Side& a, const Side& b, DiffResult& result) {
  std::map<std::string, OpCount> counts;
  const auto count = [&](const Side& side, std::uint64_t OpCount::*which) {
    graph::for_each_node(side.index, [&](std::size_t, std::size_t, const onnx::Node& node) {
      const std::string op = onnx::is_default_domain(node.domain)
                                 ? std::string(node.op_type)
                                 : fmt::format("{}.{}", node.domain, node.op_type);
      counts[op].op_type = op;
      ++(counts[op].*which);
    });
  };
  count(a, &OpCount::before);
  count(b, &OpCount::after);
  for (const auto& [op, one] : counts) result.ops.push_back(one);
  std::stable_partition(result.ops.begin(), result.ops.end(),
                        [](const OpCount& one) { return one.before != one.after; });
}

NodeChange described(const Side& side, const NodePlace& place) {
  const onnx::Node& node = side.node(place);
  return {graph::node_label(node, place.node), side.body(place).path, std::string(node.op_type), "", {}};
}

std::vector<std::string> changes_between(const onnx::Node& a, const onnx::Node& b) {
  std::vector<std::string> changes;
  if (a.inputs.size() != b.inputs.size())
    changes.push_back(fmt::format("takes {} inputs instead of {}", b.inputs.size(), a.inputs.size()));
  if (a.outputs.size() != b.outputs.size())
    changes.push_back(fmt::format("gives {} outputs instead of {}", b.outputs.size(), a.outputs.size()));
  std::map<Bytes, std::uint64_t> before, after;
  for (const auto& attribute : a.attributes) before[attribute->name] = graph::attribute_digest(a, *attribute);
  for (const auto& attribute : b.attributes) after[attribute->name] = graph::attribute_digest(b, *attribute);
  for (const auto& [name, digest] : before) {
    const auto found = after.find(name);
    if (found == after.end())
      changes.push_back(fmt::format("attribute '{}' is gone", name));
    else if (found->second != digest)
      changes.push_back(fmt::format("attribute '{}' is another", name));
  }
  for (const auto& [name, digest] : after) {
    if (!before.contains(name)) changes.push_back(fmt::format("attribute '{}' is new", name));
  }
  return changes;
}

// Where a value comes from.
struct Source {
  std::optional<NodePlace> node;
  std::string words;
};
Source source_of(const Side& side, std::size_t body, Bytes name) {
  if (name.empty()) return {std::nullopt, "nothing"};
  const Index::Found found = side.index.find(body, name);
  if (found.value == nullptr) return {std::nullopt, "nothing"};
  if (found.value->initializer != graph::kNone) return {std::nullopt, "a constant"};
  if (found.value->producer == graph::kNone) return {std::nullopt, "an input"};
  const NodePlace place{found.body, found.value->producer};
  if (graph::constant_tensor(side.node(place)) != nullptr) return {std::nullopt, "a constant"};
  return {place,
          fmt::format("{} '{}'", side.node(place).op_type, graph::node_label(side.node(place), place.node))};
}

using Partners = std::map<std::pair<std::size_t, std::size_t>, NodePlace>;  // of nodes of the first model

bool is_same_source(const Source& ours, const Source& theirs, const Partners& partners) {
  if (!ours.node || !theirs.node) return !ours.node && !theirs.node && ours.words == theirs.words;
  const auto found = partners.find({ours.node->body, ours.node->node});
  return found != partners.end() && found->second.body == theirs.node->body &&
         found->second.node == theirs.node->node;
}

void compare_sources(const Side& a, const NodePlace& before, const Side& b, const NodePlace& after,
                     const Partners& partners, std::vector<std::string>& changes) {
  const onnx::Node &ours = a.node(before), &theirs = b.node(after);
  for (std::size_t i = 0; i < std::min(ours.inputs.size(), theirs.inputs.size()); ++i) {
    const Source one = source_of(a, before.body, ours.inputs[i]),
                 other = source_of(b, after.body, theirs.inputs[i]);
    if (!is_same_source(one, other, partners))
      changes.push_back(fmt::format("input {} comes from {} instead of {}", i, other.words, one.words));
  }
}

// What the model gives may come from another node now.
void compare_outputs(const Side& a, const Side& b, const Partners& partners, DiffResult& result) {
  for (const auto& output : a.model.proto->graph->outputs) {
    const auto& main = b.index.main().values;
    if (!main.contains(output->name)) continue;
    const Source one = source_of(a, 0, output->name), other = source_of(b, 0, output->name);
    if (!is_same_source(one, other, partners))
      result.changes.push_back({"output comes from", std::string(output->name), one.words, other.words});
  }
}

void compare_nodes(const Side& a, const Side& b, const std::vector<graph::NodePair>& pairs,
                   DiffResult& result) {
  Partners partners;
  for (const auto& [before, after] : pairs) {
    if (before && after) partners[{before->body, before->node}] = *after;
  }
  compare_outputs(a, b, partners, result);
  for (const auto& [before, after] : pairs) {
    if (!after) {
      result.nodes_removed.push_back(described(a, *before));
      continue;
    }
    if (!before) {
      result.nodes_added.push_back(described(b, *after));
      continue;
    }
    ++result.nodes_matched;
    const onnx::Node &ours = a.node(*before), &theirs = b.node(*after);
    const bool is_renamed = ours.name != theirs.name;
    result.nodes_renamed += is_renamed ? 1U : 0U;
    NodeChange change = described(a, *before);
    change.changes = changes_between(ours, theirs);
    compare_sources(a, *before, b, *after, partners, change.changes);
    if (is_renamed) change.name_after = graph::node_label(theirs, after->node);
    if (!change.changes.empty()) result.nodes_changed.push_back(std::move(change));
  }
}

// A constant: an initializer, or the value of a Constant node.
struct ConstantPlace {
  std::size_t body = 0;
  Bytes name;
  auto operator<=>(const ConstantPlace&) const = default;
};
using Constants = std::map<ConstantPlace, const onnx::Tensor*>;

Constants constants_of(const Side& side) {
  Constants all;
  for (std::size_t body = 0; body < side.index.bodies().size(); ++body) {
    const graph::Body& one = side.index.bodies()[body];
    if (one.graph != nullptr) {
      for (const auto& tensor : one.graph->initializers) all[{body, tensor->name}] = &*tensor;
    }
    for (const auto& node : one.nodes()) {
      const onnx::Tensor* tensor = graph::constant_tensor(*node);
      if (tensor != nullptr && !node->outputs.empty()) all[{body, node->outputs[0]}] = tensor;
    }
  }
  return all;
}

struct TensorPair {
  std::optional<ConstantPlace> before, after;
};

// By what the nodes that take them are, then by their names.
std::vector<TensorPair> match_constants(const Side& a, const Side& b,
                                        const std::vector<graph::NodePair>& nodes, const Constants& before,
                                        const Constants& after) {
  std::map<ConstantPlace, ConstantPlace> partners;
  std::set<ConstantPlace> taken;
  const auto match = [&](const ConstantPlace& ours, const ConstantPlace& theirs) {
    if (!before.contains(ours) || !after.contains(theirs) || partners.contains(ours) ||
        taken.contains(theirs))
      return;
    partners[ours] = theirs;
    taken.insert(theirs);
  };
  const auto match_inputs = [&](bool is_same_name) {
    for (const auto& [one, other] : nodes) {
      if (!one || !other) continue;
      const onnx::Node &ours = a.node(*one), &theirs = b.node(*other);
      for (std::size_t i = 0; i < std::min(ours.inputs.size(), theirs.inputs.size()); ++i) {
        if (is_same_name && ours.inputs[i] != theirs.inputs[i]) continue;
        const Index::Found x = a.index.find(one->body, ours.inputs[i]),
                           y = b.index.find(other->body, theirs.inputs[i]);
        if (x.value != nullptr && y.value != nullptr)
          match({x.body, ours.inputs[i]}, {y.body, theirs.inputs[i]});
      }
    }
  };
  match_inputs(true);
  match_inputs(false);
  for (const auto& [ours, tensor] : before) match(ours, ours);
  std::vector<TensorPair> all;
  for (const auto& [ours, tensor] : before) {
    const auto found = partners.find(ours);
    all.push_back({ours, found == partners.end() ? std::nullopt : std::optional(found->second)});
  }
  for (const auto& [theirs, tensor] : after) {
    if (!taken.contains(theirs)) all.push_back({std::nullopt, theirs});
  }
  return all;
}

std::string shape_text(const onnx::Tensor& tensor) {
  std::string dims;
  for (const std::int64_t dim : tensor.dims) dims += fmt::format("{}{}", dims.empty() ? "" : ",", dim);
  return fmt::format("{}[{}]", name_of(tensor.type), dims);
}

bool has_equal_values(const onnx::Tensor& a, const onnx::Tensor& b) {
  if (a.type != b.type || a.dims != b.dims) return false;
  if (a.type != ElementType::kString) return onnx::RawValues(a).bytes() == onnx::RawValues(b).bytes();
  const auto strings = [](const onnx::Tensor& tensor) {
    onnx::CarriedFields fields;
    onnx::append_string_fields(tensor, fields);
    std::string all;
    for (const auto& field : fields) all += fmt::format("{}:{}", field.bytes.size(), field.bytes);
    return all;
  };
  return strings(a) == strings(b);
}

// As floats, a piece at a time; sums in binary64, as squares of weights may leave the range of binary32.
void compare_values(const Side& a, const onnx::Tensor& before, const Side& b, const onnx::Tensor& after,
                    TensorChange& change) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  const plan::TensorSource ours(a.model, before), theirs(b.model, after);
  double signal = 0, noise = 0;
  std::vector<float> first, second, x, y;
  const auto read = [](const quant::FloatSource& floats, std::size_t at, std::size_t count,
                       std::vector<float>& scratch, std::vector<float>& values) {
    values.resize(count);
    std::memcpy(values.data(), floats.values(at, count, scratch), count * sizeof(float));
  };
  for (std::size_t at = 0; at < ours.floats().size(); at += kPiece) {
    throw_if_cancelled();
    const std::size_t count = std::min(kPiece, ours.floats().size() - at);
    read(ours.floats(), at, count, first, x);
    read(theirs.floats(), at, count, second, y);
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_same = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]));
      const double distance = is_same ? 0 : std::fabs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
      if (std::isfinite(x[i])) signal += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      noise += distance * distance;
      if (!std::isnan(change.max_abs_diff) && !(distance <= change.max_abs_diff))
        change.max_abs_diff = distance;
    }
    ours.floats().release(at, count);
    theirs.floats().release(at, count);
  }
  change.is_compared = true;
  change.sqnr_db = noise == 0 ? INFINITY : std::isfinite(noise) ? 10 * std::log10(signal / noise) : -INFINITY;
}

// Nothing where both are equal.
std::optional<TensorChange> change_of(const Side& a, const Side& b, const TensorPair& pair,
                                      const Constants& before, const Constants& after) {
  const onnx::Tensor* ours = pair.before ? before.at(*pair.before) : nullptr;
  const onnx::Tensor* theirs = pair.after ? after.at(*pair.after) : nullptr;
  if (ours != nullptr && theirs != nullptr && has_equal_values(*ours, *theirs)) return std::nullopt;
  TensorChange change;
  const Side& home = pair.before ? a : b;
  const ConstantPlace& place = pair.before ? *pair.before : *pair.after;
  change.name = std::string(place.name);
  change.scope = home.index.bodies()[place.body].path;
  if (ours != nullptr) change.before = shape_text(*ours);
  if (theirs != nullptr) change.after = shape_text(*theirs);
  if (pair.before && pair.after && pair.before->name != pair.after->name)
    change.name_after = std::string(pair.after->name);
  if (ours != nullptr && theirs != nullptr && is_float_weight_type(ours->type) &&
      is_float_weight_type(theirs->type) && ours->element_count() == theirs->element_count())
    compare_values(a, *ours, b, *theirs, change);
  if (theirs == nullptr) {
    const Index::Found made = b.index.find(std::min(place.body, b.index.bodies().size() - 1), place.name);
    if (made.value != nullptr && made.value->producer != graph::kNone) {
      const onnx::Node& node = *b.index.bodies()[made.body].nodes()[made.value->producer];
      change.remark = fmt::format("is made by {} now: stored in another form", node.op_type);
    }
  }
  return change;
}

void compare_tensors(const Side& a, const Side& b, const std::vector<graph::NodePair>& nodes,
                     Progress* progress, DiffResult& result) {
  const Constants before = constants_of(a), after = constants_of(b);
  const std::vector<TensorPair> pairs = match_constants(a, b, nodes, before, after);
  if (progress != nullptr) {
    progress->done = 0;
    progress->total = pairs.size();
    progress->stage = "comparing weights";
  }
  std::vector<std::optional<TensorChange>> changes(pairs.size());
  ThreadPool pool;
  run_jobs(
      pool, pairs.size(),
      [&](std::size_t i) {
        return pairs[i].before ? before.at(*pairs[i].before)->byte_count() : std::uint64_t{0};
      },
      [&](std::size_t i, const ForEach&) {
        changes[i] = change_of(a, b, pairs[i], before, after);
        if (progress != nullptr) ++progress->done;
      });
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].before && pairs[i].after) {
      ++result.tensors_matched;
      result.tensors_renamed += pairs[i].before->name != pairs[i].after->name ? 1U : 0U;
    }
    if (changes[i]) result.tensors.push_back(std::move(*changes[i]));
  }
  // Those that can be compared first, the furthest apart on top.
  std::stable_sort(result.tensors.begin(), result.tensors.end(),
                   [](const TensorChange& x, const TensorChange& y) {
                     if (x.is_compared != y.is_compared) return x.is_compared;
                     return x.is_compared && x.sqnr_db < y.sqnr_db;
                   });
}

}  // namespace model_diff

DiffResult diff(const std::filesystem::path& a_path, const std::filesystem::path& b_path,
                Progress* progress) {
  using namespace model_diff;
  const Call call(progress);
  for (const auto* path : {&a_path, &b_path}) io::require_readable(*path);
  const Side a(a_path), b(b_path);
  DiffResult result;
  result.a = a_path;
  result.b = b_path;
  result.bytes_before = onnx::bytes_of(a.model);
  result.bytes_after = onnx::bytes_of(b.model);
  compare_models(a, b, result);
  count_ops(a, b, result);
  const std::vector<graph::NodePair> nodes = graph::match_nodes(a.index, b.index);
  compare_nodes(a, b, nodes, result);
  compare_tensors(a, b, nodes, progress, result);
  return result;
}

}  // namespace ounce
