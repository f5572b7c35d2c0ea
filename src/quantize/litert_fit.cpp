#include "quantize/litert_fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "quantize/tflite_stages.h"
#include "recipe/format_info.h"
#include "target/litert/litert_support.h"
#include "target/litert/litert_target.h"

namespace ounce::quantization {
namespace {

constexpr std::size_t kMostSteps = 4;  // conversions between an operator and the next one of the source
constexpr std::size_t kMostShown = 3;

bool is_broken(Verdict verdict) {
  return verdict == Verdict::kNotImplemented || verdict == Verdict::kWrong || verdict == Verdict::kFails;
}

// The operators of subgraph 0 that a release does not run, by the names of their outputs.
std::map<std::string, std::string> broken_operators(const tflite::Model& model,
                                                    const target::LitertTarget& target) {
  std::map<std::string, std::string> found;
  for (const NodeFinding& node : target::litert_support_of(model, target).findings) {
    if (is_broken(node.verdict) && node.scope.empty())
      found.emplace(node.name, fmt::format("{}: {}", node.op_type, node.why));
  }
  return found;
}

class LitertFit {
 public:
  LitertFit(TfliteWork& work, const Recipe& recipe, ThreadPool& pool)
      : work_(work), recipe_(recipe), pool_(pool), target_(target::parse_litert_target(recipe.target)) {
    for (const model::NodeView& node : work.prepared->graphs()[0].nodes) names_.emplace(node.name);
  }

  Recipe run(std::vector<std::string>& notes) {
    const auto always = broken_operators(work_.prepared->model(), target_);
    std::map<std::string, std::string> kept;
    // Each operator takes two steps at most: its weights in 8 bits, then in FP32.
    for (std::size_t round = 0; round <= 2 * names_.size(); ++round) {
      make_tflite_plan(work_, recipe_, pool_);
      bool is_changed = false;
      const auto emitted = emit_tflite(work_, {});
      for (const auto& [name, why] : broken_operators(emitted->model(), target_)) {
        if (always.contains(name)) continue;
        for (const std::string& own : source_nodes(emitted->model(), name)) {
          if (!give_way(own)) continue;
          kept.emplace(own, why);
          is_changed = true;
        }
      }
      if (!is_changed) break;
    }
    if (!kept.empty())
      notes.push_back(fmt::format("{} operator{} in FP32, which {} does not run as planned: {}", kept.size(),
                                  kept.size() == 1 ? " stays" : "s stay", recipe_.target, reasons(kept)));
    if (!always.empty())
      notes.push_back(
          fmt::format("{} operator{} of the original model not run on {} either: {}; see ounce check",
                      always.size(), always.size() == 1 ? " does" : "s do", recipe_.target, reasons(always)));
    return recipe_;
  }

 private:
  static std::string reasons(const std::map<std::string, std::string>& nodes) {
    std::set<std::string> different;
    for (const auto& [name, why] : nodes) different.insert(why);
    const std::vector<std::string> all(different.begin(), different.end());
    const std::size_t shown = std::min(all.size(), kMostShown);
    return fmt::format("{}{}", fmt::join(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown), "; "),
                       shown < all.size() ? fmt::format("; and {} more", all.size() - shown) : "");
  }

  // An emitted operator may have an output of its own, in front of a conversion, and conversions have names
  // of their own: the operators of the source behind them.
  std::set<std::string> source_nodes(const tflite::Model& model, const std::string& name) const {
    if (names_.contains(name)) return {name};
    const tflite::SubGraph& graph = model.subgraphs[0];
    std::set<std::string> round = {name}, found;
    for (std::size_t step = 0; step < kMostSteps && found.empty() && !round.empty(); ++step) {
      std::set<std::string> next;
      for (const tflite::Operator& op : graph.operators) {
        const bool is_user = std::any_of(op.inputs.begin(), op.inputs.end(), [&](std::int32_t input) {
          return input >= 0 &&
                 round.contains(std::string(graph.tensors[static_cast<std::size_t>(input)].name));
        });
        if (!is_user || op.outputs.empty() || op.outputs[0] < 0) continue;
        const std::string output(graph.tensors[static_cast<std::size_t>(op.outputs[0])].name);
        (names_.contains(output) ? found : next).insert(output);
      }
      round = std::move(next);
    }
    return found;
  }

  // The operator computes in FP32; if it does already, its weights stay in FP32, too. False: it is unchanged.
  bool give_way(const std::string& name) {
    const auto asked = recipe_.nodes.find(name);
    const bool was_integer = asked == recipe_.nodes.end() && recipe_.is_integer();
    const Format next = was_integer ? recipe_.storage_of_remainder() : kUnchanged;
    if (asked != recipe_.nodes.end() && asked->second == next) return false;
    recipe_.nodes[name] = next;
    return true;
  }

  TfliteWork& work_;
  Recipe recipe_;
  ThreadPool& pool_;
  const target::LitertTarget target_;
  std::set<std::string> names_;  // of the operators of the source
};

}  // namespace

Recipe fit_to_litert(TfliteWork& work, const Recipe& recipe, ThreadPool& pool,
                     std::vector<std::string>& notes) {
  return LitertFit(work, recipe, pool).run(notes);
}

}  // namespace ounce::quantization
