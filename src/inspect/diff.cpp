#include <ounce/data.h>
#include <ounce/error.h>
#include <ounce/model.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "base/cancel.h"
#include "base/thread_pool.h"
#include "formats/open.h"
#include "io/mapped_file.h"
#include "model/model_file.h"

namespace ounce {
namespace model_diff {

using model::ModelFile;
using model::NodeId;
using model::NodePair;
using model::NodeView;
using model::ValueId;
using model::ValueView;

using Texts = std::map<std::string, std::string>;

// Adds the keys that exist in only one model or whose values differ.
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

Texts opsets_of(const ModelFile& file) {
  Texts texts;
  for (const auto& [domain, version] : file.opsets()) texts[domain] = fmt::format("{}", version);
  return texts;
}

Texts metadata_of(const ModelFile& file, bool is_contract) {
  Texts texts;
  for (const auto& [key, value] : file.metadata()) {
    if ((key == Contract::kMetadataKey) == is_contract) texts[key] = value;
  }
  return texts;
}

// Describes inputs or outputs by position. A changed name is a change, because callers use the names.
Texts ports_of(std::span<const model::Port> ports) {
  Texts texts;
  for (const model::Port& port : ports) texts[port.name] = port.text;
  return texts;
}

void compare_models(const ModelFile& a, const ModelFile& b, DiffResult& result) {
  if (a.kind() != b.kind()) {
    result.changes.push_back({"format", "", name_of(a.kind()), name_of(b.kind())});
  } else {
    const bool is_onnx = a.kind() == model::ModelKind::kOnnx;
    if (a.schema_version() != b.schema_version())
      result.changes.push_back({is_onnx ? "IR version" : "schema version", "",
                                fmt::format("{}", a.schema_version()),
                                fmt::format("{}", b.schema_version())});
    compare_texts(is_onnx ? "opset" : "op version", opsets_of(a), opsets_of(b), result.changes);
  }
  compare_texts("input", ports_of(a.inputs()), ports_of(b.inputs()), result.changes);
  compare_texts("output", ports_of(a.outputs()), ports_of(b.outputs()), result.changes);
  compare_texts("contract", metadata_of(a, true), metadata_of(b, true), result.changes);
  compare_texts("metadata", metadata_of(a, false), metadata_of(b, false), result.changes);
}

void count_ops(const ModelFile& a, const ModelFile& b, DiffResult& result) {
  std::map<std::string, OpCount> counts;
  const auto count = [&](const ModelFile& file, std::uint64_t OpCount::*which) {
    for (const model::GraphView& graph : file.graphs()) {
      for (const NodeView& node : graph.nodes) {
        const std::string op =
            node.domain.empty() ? std::string(node.op) : fmt::format("{}.{}", node.domain, node.op);
        counts[op].op_type = op;
        ++(counts[op].*which);
      }
    }
  };
  count(a, &OpCount::before);
  count(b, &OpCount::after);
  for (const auto& [op, one] : counts) result.ops.push_back(one);
  std::stable_partition(result.ops.begin(), result.ops.end(),
                        [](const OpCount& one) { return one.before != one.after; });
}

NodeChange described(const ModelFile& file, NodeId id) {
  return {file.label(id), file.graphs()[id.graph].path, std::string(file.node(id).op), "", {}};
}

std::vector<std::string> changes_between(const ModelFile& a, NodeId ours, const ModelFile& b, NodeId theirs) {
  const NodeView &one = a.node(ours), &other = b.node(theirs);
  std::vector<std::string> changes;
  if (one.inputs.size() != other.inputs.size())
    changes.push_back(fmt::format("has {} inputs instead of {}", other.inputs.size(), one.inputs.size()));
  if (one.outputs.size() != other.outputs.size())
    changes.push_back(fmt::format("has {} outputs instead of {}", other.outputs.size(), one.outputs.size()));
  const auto before = a.attributes(ours), after = b.attributes(theirs);
  for (const auto& [name, digest] : before) {
    const auto found = after.find(name);
    if (found == after.end())
      changes.push_back(fmt::format("attribute '{}' was removed", name));
    else if (found->second != digest)
      changes.push_back(fmt::format("attribute '{}' changed", name));
  }
  for (const auto& [name, digest] : after) {
    if (!before.contains(name)) changes.push_back(fmt::format("attribute '{}' was added", name));
  }
  return changes;
}

// The origin of a value: a node, a constant or an input.
struct Source {
  std::optional<NodeId> node;
  std::string words;
};
Source source_of(const ModelFile& file, ValueId id) {
  if (id.is_absent()) return {std::nullopt, "nothing"};
  const ValueView& value = file.value(id);
  if (value.constant) return {std::nullopt, "a constant"};
  if (value.producer == model::kNone) return {std::nullopt, "an input"};
  const NodeId node{id.graph, value.producer};
  return {node, fmt::format("{} '{}'", file.node(node).op, file.label(node))};
}

using Partners = std::map<NodeId, NodeId>;  // from a node of the first model to its match in the second

bool is_same_source(const Source& ours, const Source& theirs, const Partners& partners) {
  if (!ours.node || !theirs.node) return !ours.node && !theirs.node && ours.words == theirs.words;
  const auto found = partners.find(*ours.node);
  return found != partners.end() && found->second == *theirs.node;
}

void compare_sources(const ModelFile& a, NodeId before, const ModelFile& b, NodeId after,
                     const Partners& partners, std::vector<std::string>& changes) {
  const NodeView &ours = a.node(before), &theirs = b.node(after);
  for (std::size_t i = 0; i < std::min(ours.inputs.size(), theirs.inputs.size()); ++i) {
    const Source one = source_of(a, ours.inputs[i]), other = source_of(b, theirs.inputs[i]);
    if (!is_same_source(one, other, partners))
      changes.push_back(fmt::format("input {} comes from {} instead of {}", i, other.words, one.words));
  }
}

// Finds outputs that are computed by another node than before.
void compare_outputs(const ModelFile& a, const ModelFile& b, const Partners& partners, DiffResult& result) {
  const model::GraphView& main = b.graphs().front();
  for (const ValueId output : a.graphs().front().outputs) {
    const std::string_view name = a.value(output).name;
    const auto same = std::find_if(main.values.begin(), main.values.end(),
                                   [&](const ValueView& value) { return value.name == name; });
    if (same == main.values.end()) continue;
    const Source one = source_of(a, output),
                 other = source_of(b, {0, static_cast<std::size_t>(same - main.values.begin())});
    if (!is_same_source(one, other, partners))
      result.changes.push_back({"output comes from", std::string(name), one.words, other.words});
  }
}

void compare_nodes(const ModelFile& a, const ModelFile& b, const std::vector<NodePair>& pairs,
                   DiffResult& result) {
  Partners partners;
  for (const auto& [before, after] : pairs) {
    if (before && after) partners[*before] = *after;
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
    const bool is_renamed = a.node(*before).name != b.node(*after).name;
    result.nodes_renamed += is_renamed ? 1U : 0U;
    NodeChange change = described(a, *before);
    change.changes = changes_between(a, *before, b, *after);
    compare_sources(a, *before, b, *after, partners, change.changes);
    if (is_renamed) change.name_after = b.label(*after);
    if (!change.changes.empty()) result.nodes_changed.push_back(std::move(change));
  }
}

// A constant is identified by its graph and its name.
using ConstantName = std::pair<std::size_t, std::string_view>;
using Constants = std::map<ConstantName, ValueId>;

Constants constants_of(const ModelFile& file) {
  Constants all;
  for (std::size_t graph = 0; graph < file.graphs().size(); ++graph) {
    const std::vector<ValueView>& values = file.graphs()[graph].values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].constant) all[{graph, values[i].name}] = {graph, i};
    }
  }
  return all;
}

struct TensorPair {
  std::optional<ValueId> before, after;
};

// Matches constants by the matched nodes that use them, then by name.
std::vector<TensorPair> match_constants(const ModelFile& a, const ModelFile& b,
                                        const std::vector<NodePair>& nodes) {
  const Constants before = constants_of(a), after = constants_of(b);
  std::map<ValueId, ValueId> partners;
  std::set<ValueId> taken;
  const auto match = [&](ValueId ours, ValueId theirs) {
    if (ours.is_absent() || theirs.is_absent() || !a.value(ours).constant || !b.value(theirs).constant)
      return;
    if (partners.contains(ours) || taken.contains(theirs)) return;
    partners[ours] = theirs;
    taken.insert(theirs);
  };
  const auto match_inputs = [&](bool is_same_name) {
    for (const auto& [one, other] : nodes) {
      if (!one || !other) continue;
      const NodeView &ours = a.node(*one), &theirs = b.node(*other);
      for (std::size_t i = 0; i < std::min(ours.inputs.size(), theirs.inputs.size()); ++i) {
        const ValueId x = ours.inputs[i], y = theirs.inputs[i];
        if (x.is_absent() || y.is_absent()) continue;
        if (!is_same_name || a.value(x).name == b.value(y).name) match(x, y);
      }
    }
  };
  match_inputs(true);
  match_inputs(false);
  for (const auto& [name, ours] : before) {
    if (const auto same = after.find(name); same != after.end()) match(ours, same->second);
  }
  std::vector<TensorPair> all;
  for (const auto& [name, ours] : before) {
    const auto found = partners.find(ours);
    all.push_back({ours, found == partners.end() ? std::nullopt : std::optional(found->second)});
  }
  for (const auto& [name, theirs] : after) {
    if (!taken.contains(theirs)) all.push_back({std::nullopt, theirs});
  }
  return all;
}

std::string shape_text(const model::ConstantView& constant) {
  return fmt::format("{}[{}]", name_of(constant.type), fmt::join(constant.dims, ","));
}

bool is_same_shape(const model::ConstantView& a, const model::ConstantView& b) {
  return a.type == b.type && std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end());
}

// Compares as floats, in pieces. Sums are doubles, because squares of weights may exceed the range of floats.
void compare_values(const quant::FloatSource& ours, const quant::FloatSource& theirs, TensorChange& change) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  double signal = 0, noise = 0;
  std::vector<float> first, second, x, y;
  const auto read = [](const quant::FloatSource& floats, std::size_t at, std::size_t count,
                       std::vector<float>& scratch, std::vector<float>& values) {
    values.resize(count);
    std::memcpy(values.data(), floats.values(at, count, scratch), count * sizeof(float));
  };
  for (std::size_t at = 0; at < ours.size(); at += kPiece) {
    throw_if_cancelled();
    const std::size_t count = std::min(kPiece, ours.size() - at);
    read(ours, at, count, first, x);
    read(theirs, at, count, second, y);
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_same = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]));
      const double distance = is_same ? 0 : std::fabs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
      if (std::isfinite(x[i])) signal += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      noise += distance * distance;
      if (!std::isnan(change.max_abs_diff) && !(distance <= change.max_abs_diff))
        change.max_abs_diff = distance;
    }
    ours.release(at, count);
    theirs.release(at, count);
  }
  change.is_compared = true;
  change.sqnr_db = noise == 0 ? INFINITY : std::isfinite(noise) ? 10 * std::log10(signal / noise) : -INFINITY;
}

// Returns nothing if both are equal.
std::optional<TensorChange> change_of(const ModelFile& a, const ModelFile& b, const TensorPair& pair) {
  const ValueView *ours = pair.before ? &a.value(*pair.before) : nullptr,
                  *theirs = pair.after ? &b.value(*pair.after) : nullptr;
  TensorChange change;
  change.name = std::string((ours != nullptr ? ours : theirs)->name);
  change.scope = ours != nullptr ? a.graphs()[pair.before->graph].path : b.graphs()[pair.after->graph].path;
  if (ours != nullptr) change.before = shape_text(*ours->constant);
  if (theirs != nullptr) change.after = shape_text(*theirs->constant);
  if (ours != nullptr && theirs != nullptr) {
    const auto before = a.read(*pair.before), after = b.read(*pair.after);
    if (is_same_shape(*ours->constant, *theirs->constant) && before->bytes() == after->bytes())
      return std::nullopt;
    if (ours->name != theirs->name) change.name_after = std::string(theirs->name);
    if (is_float_weight_type(ours->constant->type) && is_float_weight_type(theirs->constant->type) &&
        before->floats().size() == after->floats().size())
      compare_values(before->floats(), after->floats(), change);
  }
  if (theirs == nullptr) {
    const std::size_t graph = std::min(pair.before->graph, b.graphs().size() - 1);
    for (const ValueView& made : b.graphs()[graph].values) {
      if (made.name == ours->name && made.producer != model::kNone)
        change.remark = fmt::format("now computed by {}: stored in another form",
                                    b.graphs()[graph].nodes[made.producer].op);
    }
  }
  return change;
}

void compare_tensors(const ModelFile& a, const ModelFile& b, const std::vector<NodePair>& nodes,
                     Progress* progress, DiffResult& result) {
  const std::vector<TensorPair> pairs = match_constants(a, b, nodes);
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
        return pairs[i].before ? a.value(*pairs[i].before).constant->bytes : std::uint64_t{0};
      },
      [&](std::size_t i, const ForEach&) {
        changes[i] = change_of(a, b, pairs[i]);
        if (progress != nullptr) ++progress->done;
      });
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].before && pairs[i].after) {
      ++result.tensors_matched;
      result.tensors_renamed += a.value(*pairs[i].before).name != b.value(*pairs[i].after).name ? 1U : 0U;
    }
    if (changes[i]) result.tensors.push_back(std::move(*changes[i]));
  }
  // Comparable tensors first, those with the largest difference on top.
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
  const CancellationScope scope(progress);
  for (const auto* path : {&a_path, &b_path}) io::require_readable(*path);
  const model::ModelFilePtr first = formats::open_model(a_path);
  first->validate();
  const model::ModelFilePtr second = formats::open_model(b_path);
  second->validate();
  const ModelFile &a = *first, &b = *second;
  DiffResult result;
  result.a = a_path;
  result.b = b_path;
  result.bytes_before = a.bytes();
  result.bytes_after = b.bytes();
  compare_models(a, b, result);
  count_ops(a, b, result);
  const std::vector<NodePair> nodes = match_nodes(a, b);
  compare_nodes(a, b, nodes, result);
  compare_tensors(a, b, nodes, progress, result);
  return result;
}

}  // namespace ounce
