#include "search/advise/family_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "formats/onnx/graph/shapes.h"
#include "search/advise/family_signs.h"

namespace ounce::search {
namespace {

constexpr std::int64_t kLeastPicture = 8;  // rows and columns of a map
constexpr std::int64_t kHighestLine = 64;  // rows of a picture of a line of text
constexpr std::int64_t kLeastCharacters = 11, kMostTags = 64, kLeastEmbedding = 96;
constexpr std::int64_t kColours = 3;

bool is_wide(std::int64_t dimension) { return dimension < 0 || dimension >= kLeastPicture; }

class TaskProposal {
 public:
  TaskProposal(const onnx::Model& model, const graph::Index& index, FamilyFinding& finding)
      : model_(model), index_(index), finding_(finding), shapes_(index) {}

  void run() {
    const auto& outputs = model_.proto->graph->outputs;
    if (finding_.family == ModelFamily::kDetector) return say(Task::kDetect, "boxes are what counts");
    if (finding_.family == ModelFamily::kAudioGenerator) return say(Task::kAudio, "it gives a wave");
    if (finding_.family == ModelFamily::kTrees || finding_.is_autoregressive || outputs.empty()) return;
    const graph::Dims* dims = shapes_.of(0, outputs.front()->name);
    if (dims == nullptr) return;
    output_ = std::string(outputs.front()->name);
    if (dims->size() == 4) return judge_map(*dims);
    if (dims->size() == 3) return judge_sequence(*dims);
    if (dims->size() == 2) return judge_vector((*dims)[1]);
  }

 private:
  void judge_map(const graph::Dims& dims) {
    if (!is_wide(dims[2])) return;
    const std::int64_t channels = dims[3] > 0 && dims[3] < dims[1] ? dims[3] : dims[1];
    const bool is_sure = ends_in(model_, index_, "Sigmoid") || ends_in(model_, index_, "Softmax") ||
                         ends_in(model_, index_, "ArgMax");
    if (channels > 1 ? channels != kColours || is_sure : is_sure)
      return say(Task::kSegment,
                 fmt::format("'{}' is a map of {}", output_,
                             channels > 1 ? fmt::format("{} classes", channels) : "one class"));
    say(Task::kRegress, fmt::format("'{}' is a picture of numbers", output_));
  }

  void judge_sequence(const graph::Dims& dims) {
    const std::int64_t last = dims[2];
    const graph::Dims* picture = input_of_rank(4);
    if (picture != nullptr && (*picture)[2] > 0 && (*picture)[2] <= kHighestLine && last >= kLeastCharacters)
      return say(Task::kCtc, fmt::format("'{}' has {} scores for each step along a picture {} pixels high",
                                         output_, last, (*picture)[2]));
    if (finding_.family != ModelFamily::kTransformer && finding_.family != ModelFamily::kRecurrent) return;
    if (picture != nullptr) return;
    if (last >= kLeastEmbedding)
      return say(Task::kEmbed,
                 fmt::format("'{}' has {} numbers for each position, and no scores", output_, last));
    if (last > 1 && last <= kMostTags && last % 2 == 1)
      say(Task::kTag, fmt::format("'{}' has {} scores for each position", output_, last));
  }

  void judge_vector(std::int64_t last) {
    if (last == 1 && !ends_in(model_, index_, "Sigmoid"))
      return say(Task::kRegress, fmt::format("'{}' is one number", output_));
    if (last < 2) return;
    const bool is_sure = ends_in(model_, index_, "Softmax") || ends_in(model_, index_, "Sigmoid");
    const bool is_usual = last % 64 == 0 && last >= 2 * 64;  // lengths that are chosen, not counted
    if (is_usual && !is_sure)
      return say(Task::kEmbed, fmt::format("'{}' has {} numbers, and no scores", output_, last));
    say(Task::kClassify, fmt::format("'{}' has {} scores", output_, last));
  }

  const graph::Dims* input_of_rank(std::size_t rank) const {
    for (const auto& input : model_.proto->graph->inputs) {
      const graph::Dims* dims = shapes_.of(0, input->name);
      if (dims != nullptr && dims->size() == rank) return dims;
    }
    return nullptr;
  }

  void say(Task task, std::string reason) {
    finding_.task = task;
    finding_.task_reason = std::move(reason);
  }

  const onnx::Model& model_;
  const graph::Index& index_;
  FamilyFinding& finding_;
  graph::Shapes shapes_;
  std::string output_;
};

}  // namespace

void propose_task(const onnx::Model& model, const graph::Index& index, FamilyFinding& finding) {
  TaskProposal(model, index, finding).run();
}

namespace {

using graph::Bytes;
using graph::Index;

constexpr std::size_t kMostSeen = 256;  // what belongs together lies close together

struct Spot {
  std::size_t body;
  Bytes name;
};

// The outputs of an If's branches that become `name`.
void enter_branches(const Index& index, std::size_t body, const onnx::Node& node, Bytes name,
                    std::vector<Spot>& next) {
  const auto place = std::find(node.outputs.begin(), node.outputs.end(), name) - node.outputs.begin();
  for (std::size_t i = 0; i < index.bodies().size(); ++i) {
    const graph::Body& inner = index.bodies()[i];
    if (inner.graph == nullptr || inner.parent != body ||
        &*index.bodies()[body].nodes()[inner.owner] != &node)
      continue;
    if (static_cast<std::size_t>(place) < inner.graph->outputs.size())
      next.push_back({i, inner.graph->outputs[static_cast<std::size_t>(place)]->name});
  }
}

}  // namespace

void walk_back(const Index& index, std::size_t body, Bytes name, const Visit& visit) {
  std::unordered_set<const graph::Value*> seen;
  std::vector<Spot> next = {{body, name}};
  while (!next.empty() && seen.size() < kMostSeen) {
    const Spot spot = next.back();
    next.pop_back();
    if (spot.name.empty()) continue;
    const auto [value, home] = index.find(spot.body, spot.name);
    if (value == nullptr || value->producer == graph::kNone || !seen.insert(value).second) continue;
    const onnx::Node& node = *index.bodies()[home].nodes()[value->producer];
    if (!visit(home, node)) continue;
    for (const Bytes input : node.inputs) next.push_back({home, input});
    if (node.op_type == "If") enter_branches(index, home, node, spot.name, next);
  }
}

void walk_ahead(const Index& index, std::size_t body, Bytes name, const Visit& visit) {
  std::unordered_set<const graph::Value*> seen;
  std::vector<Spot> next = {{body, name}};
  while (!next.empty() && seen.size() < kMostSeen) {
    const Spot spot = next.back();
    next.pop_back();
    if (spot.name.empty()) continue;
    const auto [value, home] = index.find(spot.body, spot.name);
    if (value == nullptr || !seen.insert(value).second) continue;
    for (const graph::Use& use : value->uses) {
      const onnx::Node& node = index.node(use);
      if (!visit(use.body, node)) continue;
      for (const Bytes output : node.outputs) next.push_back({use.body, output});
    }
  }
}

}  // namespace ounce::search
