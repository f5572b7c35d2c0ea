#include "search/family_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "graph/shapes.h"
#include "search/family_signs.h"

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

}  // namespace ounce::search
