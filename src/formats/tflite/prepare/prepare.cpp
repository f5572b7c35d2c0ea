#include "formats/tflite/prepare/prepare.h"

#include <fmt/format.h>

#include <array>

#include "formats/tflite/prepare/absorb_padding.h"
#include "formats/tflite/prepare/changes.h"
#include "formats/tflite/prepare/densify_weights.h"
#include "formats/tflite/prepare/fold_affine.h"
#include "formats/tflite/prepare/fold_constants.h"
#include "formats/tflite/prepare/fold_halves.h"
#include "formats/tflite/prepare/fuse_activations.h"
#include "formats/tflite/prepare/integer_forms.h"
#include "formats/tflite/prepare/matmul_to_fully_connected.h"
#include "formats/tflite/prepare/remove_unused.h"
#include "formats/tflite/prepare/sink_layouts.h"

namespace ounce::tflite {
namespace {

struct Pass {
  Changes (*run)(Model& model);
  const char* done;  // with the number of changes
  bool is_for_integers = false;
};

// In the order in which they run.
constexpr auto kPasses = std::to_array<Pass>({
    {densify_weights, "sparse constants made dense: {}"},
    {fold_halves, "FP16 constants made FP32: {}"},
    {fold_constants, "operators on constants replaced by their results: {}"},
    {make_integer_forms, "operators given a form that has an INT8 kernel: {}", true},
    {sink_layouts, "operators that only move values removed: {}"},
    {absorb_padding, "padding and slices put into convolutions: {}"},
    {matmul_to_fully_connected, "matrix products with a constant made FULLY_CONNECTED: {}"},
    {fold_affine, "additions and multiplications put into weights and biases: {}"},
    {fuse_activations, "activations fused into the operator in front of them: {}"},
    {remove_unused, "unused operators, tensors, buffers and operator codes removed: {}"},
});

// Each pass looks at all signatures and operator codes once for each subgraph. Models of converters have a
// few.
bool is_too_large(const Model& model) {
  constexpr std::size_t kMostSteps = std::size_t{1} << 24;
  std::size_t items = model.operator_codes.size() + 1;
  for (const Signature& signature : model.signatures)
    items += signature.inputs.size() + signature.outputs.size() + 1;
  return items > kMostSteps / (model.subgraphs.size() + 1);
}

}  // namespace

std::vector<std::string> prepare(Model& model, const PrepareOptions& options) {
  std::vector<std::string> notes;
  if (!model.unwritable.empty()) return notes;
  if (is_too_large(model)) return {"left unchanged: the model has too many subgraphs"};
  for (const Pass& pass : kPasses) {
    if (pass.is_for_integers && !options.static_int8) continue;
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
