// Quantized weights and biases of operators that run in INT8.
//
//   sum = Σ (x - zero_x)·w   in units of  scale_x · scale_w[channel]
//
// Weights have a scale for each channel, codes from -127 to 127 and zero point 0. A bias is added to the sum,
// so it is coded in the same units, as int32.
#pragma once

#include <ounce/recipe.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "calibration/statistics.h"
#include "formats/tflite/file/model.h"
#include "formats/tflite/plan/flow.h"
#include "formats/tflite/plan/integer_candidates.h"
#include "kernels/affine.h"
#include "kernels/range.h"
#include "quant/layout.h"
#include "quant/linear.h"

namespace ounce::tflite {

inline constexpr quant::LinearFormat kWeightFormat = quant::kSymmetricInt8;

// The scales of all weights of a model, found once, and their codes once they were asked for: a search makes
// dozens of plans, and most of their weights are the same. Any number of threads may ask.
class WeightCodes {
 public:
  struct Weight {
    std::size_t axis = 0;
    quant::Layout layout;                 // one group, or one for each channel of `axis`
    std::vector<kernels::Range> ranges;   // of the groups
    std::vector<kernels::Affine> affine;  // their scales
    bool is_finite = true;
    double largest_scale() const;
  };

  // Of all operators with a kernel and a weight.
  WeightCodes(const Model& model, const std::vector<IntegerCandidate>& candidates, const Recipe& recipe,
              ThreadPool& pool);

  // The weight of a tensor.
  const Weight& of(std::size_t tensor) const { return weights_.at(tensor); }
  // The codes of a weight with other scales than its own, if a bias asked for it.
  std::shared_ptr<const std::string> codes(std::size_t tensor,
                                           const std::vector<kernels::Affine>& affine) const;
  // The mean error of each output channel when the input channels have these means: Σ (w - w')·E[x].
  std::vector<float> mean_errors(const Operator& op, const OpInfo& row,
                                 const std::vector<kernels::Affine>& affine,
                                 std::span<const double> means) const;

 private:
  struct Coded {
    std::vector<kernels::Affine> affine;
    std::shared_ptr<const std::string> codes;
  };
  Bytes values(std::size_t tensor) const;
  std::string encode(std::size_t tensor, const std::vector<kernels::Affine>& affine) const;

  const Model& model_;
  bool is_balanced_;
  std::map<std::size_t, Weight> weights_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, Coded> coded_;
  mutable std::uint64_t kept_bytes_ = 0;
};

// The weight and bias of an operator that runs in INT8.
struct OpWeights {
  std::size_t weight = 0, bias = Flow::kNone;  // tensors
  std::size_t axis = 0;
  std::vector<kernels::Affine> affine;  // of the weight
  std::vector<float> bias_scale;        // as many as `affine`
  std::vector<float> shift;             // added to the bias, by channel; empty: nothing
  std::size_t raised = 0;               // channels whose scale was raised until the bias fits 32 bits
};

OpWeights plan_weights(const Model& model, const Operator& op, const OpInfo& row, const WeightCodes& codes,
                       float input_scale, bool is_wide);

// The bias in units of the sums. `shift` applies bias correction per channel.
std::vector<std::int64_t> bias_codes(const Model& model, const OpWeights& weights, bool is_wide);

}  // namespace ounce::tflite
