// Finds the scales of few-bit weights, and their codes, by what goes into their products on data:
// `few_bits.method` scale and gptq. The mathematics is in quant/block_scales.h and quant/reconstruct.h.
//
//   FewBitFitter fitter(prepared, options);
//   fitter.fit(plan, pool);   // also for the next plan: what was found once is not looked for again
#pragma once

#include <ounce/quantize.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/affine.h"
#include "make/prepared_model.h"
#include "observe/gram.h"
#include "passes/expose_values.h"
#include "plan/plan.h"

namespace ounce::make {

class FewBitFitter {
 public:
  // Both must outlive it. The data are those of `options`.
  FewBitFitter(const PreparedModel& prepared, const QuantizeOptions& options)
      : prepared_(prepared), options_(options) {}

  // Fills in Decision::energy, affine and codes as the plan's method asks for. Memory is that of one layer,
  // and of the codes.
  void fit(plan::Plan& plan, ThreadPool& pool);

  // Why layers got the nearest codes instead, and their number.
  const std::map<std::string, std::size_t>& left_alone() const { return left_alone_; }

 private:
  struct Layer {
    plan::Decision* decision = nullptr;
    std::vector<passes::ObservedValue> inputs;
    std::string key;  // of what is found for it
  };
  struct Fitted {
    std::vector<kernels::Affine> affine;
    std::shared_ptr<const std::vector<std::uint8_t>> codes;
  };
  std::vector<Layer> find_layers(plan::Plan& plan);
  void find_energies(const std::vector<Layer>& layers, ThreadPool& pool);
  std::vector<observe::Gram> watch(std::span<const Layer* const> layers, const ForEach& for_each,
                                   ThreadPool& pool);
  Fitted fit_layer(const plan::Decision& decision, observe::Gram& gram, const ForEach& for_each) const;
  void find_codes(const std::vector<Layer>& layers, ThreadPool& pool);

  const PreparedModel& prepared_;
  const QuantizeOptions& options_;
  std::map<std::string, std::shared_ptr<const std::vector<float>>> energies_;  // by weight
  std::map<std::string, Fitted> codes_;                                        // by Layer::key
  std::map<std::string, std::size_t> left_alone_;
};

}  // namespace ounce::make
