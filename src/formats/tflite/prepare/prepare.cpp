#include "formats/tflite/prepare/prepare.h"

#include <fmt/format.h>

#include <array>

#include "formats/tflite/prepare/changes.h"
#include "formats/tflite/prepare/densify_weights.h"
#include "formats/tflite/prepare/fold_halves.h"
#include "formats/tflite/prepare/fuse_activations.h"
#include "formats/tflite/prepare/remove_unused.h"

namespace ounce::tflite {
namespace {

struct Pass {
  Changes (*run)(Model& model);
  const char* done;  // with the number of changes
};

// In the order in which they run.
constexpr auto kPasses = std::to_array<Pass>({
    {densify_weights, "sparse constants made dense: {}"},
    {fold_halves, "FP16 constants made FP32: {}"},
    {fuse_activations, "activations fused into the operator in front of them: {}"},
    {remove_unused, "unused operators, tensors, buffers and operator codes removed: {}"},
});

}  // namespace

std::vector<std::string> prepare(Model& model, const PrepareOptions& /*options*/) {
  std::vector<std::string> notes;
  if (!model.unwritable.empty()) return notes;
  for (const Pass& pass : kPasses) {
    const Changes changes = pass.run(model);
    if (changes.count != 0) notes.push_back(fmt::format(fmt::runtime(pass.done), changes.count));
    for (const auto& [reason, left] : changes.left) {
      notes.push_back(fmt::format("left as {}: {}{}", left.count == 1 ? "it is" : "they are", left.first,
                                  left.count == 1 ? "" : fmt::format(" and {} more", left.count - 1)) +
                      ": " + reason);
    }
  }
  return notes;
}

}  // namespace ounce::tflite
