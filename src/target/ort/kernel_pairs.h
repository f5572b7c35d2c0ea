// The order in which ONNX Runtime's integer kernels for x86 take the weights of an op; see
// quant/weight_pairs.h for why it matters.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/onnx/file/model.h"
#include "quant/weight_pairs.h"
#include "target/target.h"

namespace ounce::target {

// `node` is the integer op, or the float op that it stands for; `dims` are those of its weight. Depthwise
// convolutions have exact kernels of their own: no pairs. Likewise ops that we do not know as integer ones.
quant::WeightPairs pairs_of(const onnx::Node& node, std::span<const std::int64_t> dims);

// Is every sum of 8-bit products exact there? Not on an x86 CPU of which the target does not say that it has
// VNNI, and not when nobody says what CPU it is.
bool has_exact_products(const Target& target);

// Does the target name a CPU, or a kind of CPU, some of which are not exact? Not a target that names none.
bool is_known_to_saturate(const Target& target);

// Of a CPU as ounce/cpus.h names them ("avx2", "avx512", "arm64"): those that lack VNNI.
bool is_without_exact_products(std::string_view cpu);

}  // namespace ounce::target
