// The plan: for every float tensor of a model a decision and its reason. Made once, then printed, compared,
// carried out by the passes and recorded in the model. Making it reads every weight once, for its range.
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "graph/index.h"
#include "kernels/range.h"
#include "onnx/model.h"
#include "plan/weights.h"
#include "quant/layout.h"
#include "quant/linear.h"

namespace ounce::plan {

enum class Encoding { kKeep, kLinear8, kLinear4, kCodebook8, kCodebook4, kFloat16 };

// How the runtime gets the values back.
enum class Decoder {
  kFold,    // Cast, Mul …: ordinary ops on constants, folded when a session is created
  kDq,      // DequantizeLinear, which a runtime may fuse into its op
  kLookup,  // a table's rows are looked up in codes and decoded after that
};

struct Decision {
  Weight weight;
  Encoding encoding = Encoding::kKeep;
  std::string reason;

  // For everything but kKeep.
  Decoder decoder = Decoder::kFold;
  GranularityKind granularity = GranularityKind::kTensor;  // never kAuto
  quant::Layout layout;                 // of the groups
  quant::LinearFormat format;           // for the linear encodings
  ScaleMethod scale = ScaleMethod::kMse;
  std::size_t kernel = 0;               // for balanced rounding: taps of a kernel, 1 without kernels; 0 rounds to nearest
  std::vector<kernels::Range> ranges;   // of the groups; one for encodings without groups
  std::size_t block = 0;                // for kBlock
  std::vector<std::int64_t> view;       // the shape in which the codes are scaled …
  std::vector<std::int64_t> scale_dims;  // … and the shape of the scales that fits it
  std::uint64_t stored_bytes = 0;       // codes, scales and zeros

  bool is_stored() const { return encoding != Encoding::kKeep; }
  bool is_linear() const { return encoding == Encoding::kLinear8 || encoding == Encoding::kLinear4; }
  bool is_packed() const { return encoding == Encoding::kLinear4 || encoding == Encoding::kCodebook4; }
  std::size_t block_axis() const;        // of a matrix: the axis that blocks run along
  std::string granularity_text() const;  // "tensor", "channel 0", "block 32"
};

struct Plan {
  Recipe recipe;
  std::vector<Decision> decisions;  // in the order of the file
  std::vector<std::string> notes;   // about the model as a whole

  std::size_t stored_count() const;
  // One line a decision; also what the digest is made of.
  std::string text() const;
};

// `model` must have been verified; `index` is its index. Throws Error{kUsage} for an expression that matches
// nothing, Error{kBadInput} for weights that are not finite.
Plan make_plan(const onnx::Model& model, const graph::Index& index, const Recipe& recipe, ThreadPool& pool);

std::string_view name_of(Encoding encoding);
std::string_view name_of(Decoder decoder);

}  // namespace ounce::plan
