#include "formats/tflite/plan/kernel_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ounce::tflite {
namespace {

// Nanoseconds for each of these; a kind that was not measured has none.
struct Terms {
  bool in_xnnpack = false;
  double call = 0;
  double product = 0;  // of padded channels
  double output = 0;   // a value that is given; of operators without weights, the larger of both sides
  double tap = 0;      // a position and element of the kernel
  double input = 0;    // a value that is taken
  double weight = 0;

  constexpr bool is_measured() const { return call + product + output + tap + input + weight > 0; }
};

struct KernelRow {
  Builtin code = Builtin::kCustom;
  KernelForm form = KernelForm::kPlain;
  Terms fp32 = {}, int8 = {}, hybrid = {};
};

#include "formats/tflite/plan/kernel_costs.inc"

const Terms* terms_of(Builtin code, KernelKind kind, KernelForm form) {
  const auto* const row = std::find_if(kKernelRows.begin(), kKernelRows.end(),
                                       [&](const KernelRow& r) { return r.code == code && r.form == form; });
  if (row == kKernelRows.end()) return nullptr;
  const Terms& terms = kind == KernelKind::kFp32   ? row->fp32
                       : kind == KernelKind::kInt8 ? row->int8
                                                   : row->hybrid;
  return terms.is_measured() ? &terms : nullptr;
}

bool multiplies(Builtin code) {
  return info(static_cast<std::int32_t>(code)).int8 == IntegerRule::kWeights || code == Builtin::kBatchMatmul;
}

// The channels that a kernel computes at a time, whether a model has them or not.
double padded(double channels, double block) { return std::ceil(channels / block) * block; }

// XNNPACK has depthwise kernels of these sizes; the others are padded.
constexpr std::array<double, 4> kDepthwiseTaps{3, 4, 9, 25};

double taps_of(double kernel_size) {
  const auto* const taps = std::lower_bound(kDepthwiseTaps.begin(), kDepthwiseTaps.end(), kernel_size);
  return taps == kDepthwiseTaps.end() ? kernel_size : *taps;
}

double without_weights(const Terms& terms, const Work& work, bool is_pool) {
  const double values = is_pool ? work.values_out : std::max(work.values_in, work.values_out);
  return terms.call + terms.output * values + terms.tap * work.positions * work.kernel_size;
}

double with_weights(const Terms& terms, const Work& work, KernelKind kind, bool is_depthwise) {
  constexpr double kOutputs = 16, kInputsOfIntegers = 8;
  const bool is_wide = work.form == KernelForm::kWide;
  const double outputs = is_wide ? work.outputs : padded(work.outputs, kOutputs);
  const double inputs =
      is_depthwise || kind == KernelKind::kFp32 ? work.inputs : padded(work.inputs, kInputsOfIntegers);
  const double positions = work.positions,
               kernel = is_depthwise ? taps_of(work.kernel_size) : work.kernel_size;
  return terms.call + terms.product * positions * kernel * inputs * outputs +
         terms.output * positions * outputs + terms.tap * positions * kernel + terms.input * work.values_in +
         terms.weight * work.weights;
}

double of_values(Builtin code, KernelKind kind, double values) {
  const Terms* terms = terms_of(code, kind, KernelForm::kPlain);
  return terms->call + terms->output * values;
}

}  // namespace

double cost_ns(const OpInfo& op, KernelKind kind, const Work& work) {
  const Terms* terms = terms_of(op.code, kind, work.form);
  if (terms == nullptr)
    return kind == KernelKind::kFp32 ? kBuiltInCall : std::numeric_limits<double>::infinity();
  if (multiplies(op.code)) return with_weights(*terms, work, kind, op.code == Builtin::kDepthwiseConv2D);
  return without_weights(*terms, work, op.code == Builtin::kAveragePool2D || op.code == Builtin::kMaxPool2D);
}

bool was_in_xnnpack(const OpInfo& op, KernelKind kind, KernelForm form) {
  const Terms* terms = terms_of(op.code, kind, form);
  return terms != nullptr && terms->in_xnnpack;
}

double to_codes_ns(double values) { return of_values(Builtin::kQuantize, KernelKind::kFp32, values); }
double to_floats_ns(double values) { return of_values(Builtin::kDequantize, KernelKind::kInt8, values); }
double partition_ns() { return kPartition; }

}  // namespace ounce::tflite
