#include "formats/tflite/plan/plan.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/tflite/file/ops.h"
#include "formats/tflite/plan/hybrid.h"
#include "plan/weights/selection.h"
#include "plan/weights/storage.h"
#include "recipe/format_info.h"

namespace ounce::tflite {
namespace {

// Text for the parts of a decision that are not printed elsewhere.
std::string ways_of(const Decision& decision) {
  std::string text;
  for (const bool takes_codes : decision.takes_codes) text += takes_codes ? " codes" : " floats";
  return text;
}

void require_supported(const Recipe& recipe) {
  const auto refuse = [](const char* what) {
    throw Error(ErrorCode::kUnsupported, fmt::format("{}; TFLite has no such weights", what));
  };
  if (recipe.codebook) refuse("`codebook` is for ONNX models");
  if (recipe.asymmetric) refuse("`asymmetric` is for ONNX models");
  if (recipe.decoder == DecoderChoice::kDq) refuse("`decoder=dq` is for ONNX models");
}

class Planner {
 public:
  Planner(const TfliteFile& file, const Recipe& recipe)
      : file_(file), model_(file.model()), recipe_(recipe), selection_(recipe), formats_(file, recipe) {}

  Decision decide(const Weight& weight) {
    Decision decision(weight);
    const std::string excluded = selection_.why_not(texts_of(file_, weight));  // also notes matches
    std::vector<model::NodeId> users;
    for (const WeightUse& use : weight.uses) users.push_back({weight.graph, use.op});
    const std::optional<plan::StorageOverride> wanted = formats_.storage(users);
    const Format format = wanted ? wanted->format : recipe_.storage_of_remainder();
    decision.reason = plan::why_keep(weight, recipe_, wanted);
    if (decision.reason.empty() && weight.is_sparse) decision.reason = "is stored sparse";
    if (decision.reason.empty() && weight.values() == 0) decision.reason = "has no elements";
    if (decision.reason.empty()) decision.reason = excluded;
    if (decision.reason.empty()) decision.reason = plan::why_all_bits(weight, format);
    if (!decision.reason.empty()) return decision;
    if (plan::choose_half(decision, recipe_, wanted)) {
      plan::group_by_tensor(decision);
    } else {
      choose_codes(decision, format);
    }
    if (!decision.is_stored()) return decision;
    decision.stored_bytes = plan::stored_bytes(decision);
    plan::keep_if_not_smaller(decision);
    return decision;
  }

  std::vector<std::string> unmatched(std::vector<std::string>& notes) const {
    return selection_.unmatched(notes);
  }

  // The operators with constant weights that should run in INT8.
  std::vector<NodePlan> nodes(const std::vector<Decision>& decisions) const {
    std::map<std::pair<std::size_t, std::size_t>, NodePlan> nodes;
    for (const Decision& decision : decisions) {
      if (decision.weight.role != model::Role::kWeight) continue;
      for (std::size_t i = 0; i < decision.uses.size(); ++i) {
        const bool is_on_codes = decision.is_stored() && decision.takes_codes[i];
        const std::size_t op = decision.uses[i].op;
        NodePlan& node = nodes[{decision.weight.graph, op}];
        node.graph = decision.weight.graph;
        node.op = op;
        node.arithmetic = is_on_codes ? Arithmetic::kDynamic : Arithmetic::kFloat;
        if (!is_on_codes) node.reason = decision.is_linear() ? why_floats(decision, i) : decision.reason;
      }
    }
    std::vector<NodePlan> list;
    for (auto& [place, node] : nodes) list.push_back(std::move(node));
    return list;
  }

 private:
  const SubGraph& graph_of(const Decision& decision) const { return model_.subgraphs[decision.weight.graph]; }

  // Empty if an operator is to take codes.
  std::string why_floats(const Decision& decision, std::size_t use) const {
    const std::optional<Format> own = formats_.of({decision.weight.graph, decision.uses[use].op});
    if (own && is_storage(*own)) return "kept in FP32, as requested";
    const SubGraph& graph = graph_of(decision);
    const Operator& op = graph.operators[decision.uses[use].op];
    if (decision.weight.is_looked_up)
      return why_no_lookup(model_, graph, op, decision.uses[use].input, decision.bits());
    if (!is_dynamic(recipe_.format) && recipe_.memory == MemoryUse::kFast && decision.bits() == 8)
      return "computes in FP32";
    std::string why = why_not_hybrid(model_, graph, op, decision.uses[use].input, decision.bits());
    // Dequantized at load, 4-bit weights would use the slowest kernel.
    const bool may_be_slower = recipe_.memory == MemoryUse::kLow || decision.bits() < 8;
    return why.empty() && !may_be_slower ? why_slower_hybrid(model_, graph, op, producer_of(graph, op)) : why;
  }

  const Operator* producer_of(const SubGraph& graph, const Operator& op) const {
    const std::size_t data = info(code_of(model_, op)).data;
    const auto g = static_cast<std::size_t>(&graph - model_.subgraphs.data());
    if (data >= op.inputs.size() || op.inputs[data] < 0) return nullptr;
    const std::size_t producer = file_.graphs()[g].values[static_cast<std::size_t>(op.inputs[data])].producer;
    return producer == model::kNone ? nullptr : &graph.operators[producer];
  }

  bool all_take(const Decision& decision, unsigned bits) const {
    const SubGraph& graph = graph_of(decision);
    const auto why_not = decision.weight.is_looked_up ? why_no_lookup : why_not_hybrid;
    return std::all_of(decision.uses.begin(), decision.uses.end(), [&](const WeightUse& use) {
      return why_not(model_, graph, graph.operators[use.op], use.input, bits).empty();
    });
  }

  // Four bits are decoded by DEQUANTIZE at every run, which is slow: they are for kernels that take them.
  void choose_codes(Decision& decision, Format format) {
    const unsigned bits = info_of(format).weight_bits;
    const bool has_kernel = bits >= 8 || all_take(decision, bits);
    plan::choose_codes(decision, recipe_, format, has_kernel);
    if (!has_kernel)
      decision.reason += fmt::format("; {} has no kernel for {} bits, so 8", decision.weight.op_type, bits);
    plan::choose_groups(decision, recipe_);
    if (decision.granularity == GranularityKind::kBlock) plan::group_by_channel(decision);
    decision.format =
        decision.encoding == plan::Encoding::kLinear4 ? quant::kSymmetricInt4 : quant::kSymmetricInt8;
    decision.takes_codes.clear();
    for (std::size_t i = 0; i < decision.uses.size(); ++i)
      decision.takes_codes.push_back(why_floats(decision, i).empty());
    const bool has_codes = decision.has_use_on(true), is_table = decision.weight.is_looked_up;
    decision.decoder = !has_codes ? Decoder::kFold : is_table ? Decoder::kLookup : Decoder::kKernel;
    decision.reason += !has_codes ? "; DEQUANTIZE, made once at load"
                       : is_table ? "; rows are dequantized after the lookup"
                                  : "; its kernel takes INT8 weights and quantizes activations at run time";
  }

  const TfliteFile& file_;
  const Model& model_;
  const Recipe& recipe_;
  plan::Selection selection_;
  plan::NodeFormats formats_;
};

// XNNPACK takes no operator whose weight is INT8, as codes or behind a DEQUANTIZE, and whose bias another
// DEQUANTIZE gives (LiteRT 2.3.0: "failed to delegate"). The built-in kernels take several times as long.
void keep_biases_of_codes(std::vector<Decision>& decisions) {
  std::set<std::pair<std::size_t, std::size_t>> with_codes;  // graph and operator
  for (const Decision& decision : decisions) {
    if (!decision.is_stored() || decision.is_half() || decision.weight.is_looked_up) continue;
    for (const WeightUse& use : decision.uses) with_codes.insert({decision.weight.graph, use.op});
  }
  for (Decision& decision : decisions) {
    const bool is_bias = std::any_of(decision.uses.begin(), decision.uses.end(), [&](const WeightUse& use) {
      return with_codes.contains({decision.weight.graph, use.op});
    });
    if (!decision.is_stored() || !decision.is_half() || !is_bias) continue;
    decision.encoding = plan::Encoding::kKeep;
    decision.reason = "is the bias of an operator with an INT8 weight";
  }
}

// Several tensors may share a buffer: while one of them needs the buffer unchanged, quantized values for the
// others would make the file larger.
void keep_shared_buffers(const Model& model, std::vector<Decision>& decisions) {
  const auto buffer_of = [&](const Decision& decision) {
    return model.subgraphs[decision.weight.graph].tensors[decision.tensor].buffer;
  };
  std::map<std::uint32_t, std::size_t> users, stored;
  std::map<std::uint32_t, std::string_view> keeper;
  for (const SubGraph& graph : model.subgraphs) {
    for (const Tensor& tensor : graph.tensors) ++users[tensor.buffer];
  }
  for (const Metadata& entry : model.metadata) ++users[entry.buffer];
  for (const Decision& decision : decisions) {
    if (decision.is_stored()) {
      ++stored[buffer_of(decision)];
    } else {
      keeper[buffer_of(decision)] = decision.weight.name;
    }
  }
  for (Decision& decision : decisions) {
    const std::uint32_t buffer = buffer_of(decision);
    if (!decision.is_stored() || stored[buffer] == users[buffer]) continue;
    decision.encoding = plan::Encoding::kKeep;
    const auto kept = keeper.find(buffer);
    decision.reason = kept == keeper.end() ? std::string("others use its values unchanged")
                                           : fmt::format("'{}' uses the same values unchanged", kept->second);
  }
}

}  // namespace

Decision::Decision(const Weight& found) : tensor(found.tensor), uses(found.uses) {
  weight = found;
  takes_codes.resize(uses.size());
}

std::size_t Plan::stored_count() const {
  return static_cast<std::size_t>(
      std::count_if(decisions.begin(), decisions.end(), [](const Decision& d) { return d.is_stored(); }));
}

std::string Plan::text() const {
  std::string text;
  for (const Decision& decision : decisions) text += plan::text_of(decision, ways_of(decision)) + '\n';
  return text;
}

Plan make_plan(const TfliteFile& file, const Recipe& recipe, ThreadPool& pool) {
  require_supported(recipe);
  Plan plan;
  plan.recipe = recipe;
  Planner planner(file, recipe);
  for (const Weight& weight : find_weights(file)) plan.decisions.push_back(planner.decide(weight));
  plan.unmatched = planner.unmatched(plan.notes);
  keep_biases_of_codes(plan.decisions);
  std::vector<plan::TensorPlan*> folded;
  const auto for_each_stored = [&](const auto& run) {
    std::vector<Decision*> stored;
    for (Decision& decision : plan.decisions) {
      if (decision.is_stored()) stored.push_back(&decision);
    }
    run_jobs(
        pool, stored.size(), [&](std::size_t i) { return stored[i]->weight.bytes(); },
        [&](std::size_t i, const ForEach& for_each) {
          const auto values = file.read({stored[i]->weight.graph, stored[i]->tensor});
          run(*stored[i], values->floats(), for_each);
        });
  };
  for_each_stored([](Decision& decision, const quant::FloatSource& floats, const ForEach& for_each) {
    plan::fit_to_values(decision, floats, plan::read_values(decision, floats, for_each));
  });
  keep_shared_buffers(file.model(), plan.decisions);
  std::uint64_t total = 0;
  for (Decision& decision : plan.decisions) {
    total += decision.weight.bytes();
    if (!decision.has_use_on(true)) folded.push_back(&decision);
  }
  plan::promote_smallest(std::move(folded), total, recipe.fp16_budget);
  for_each_stored([](Decision& decision, const quant::FloatSource& floats, const ForEach& for_each) {
    if (!decision.is_linear()) return;
    decision.affine = quant::find_affine(floats, decision.layout, decision.format, decision.ranges,
                                         decision.scale, for_each);
  });
  if (recipe.is_integer()) plan.nodes = planner.nodes(plan.decisions);
  return plan;
}

}  // namespace ounce::tflite
