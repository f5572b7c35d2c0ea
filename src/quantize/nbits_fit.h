// Finds the scales of few-bit weights, and their codes, by what goes into their products on data:
// `nbits.method` scale and gptq. The mathematics is in quant/block_scales.h and quant/reconstruct.h.
//
//   NbitsFitter fitter(prepared, options);
//   fitter.fit(plan, pool);   // also for the next plan: what was found once is not looked for again
#pragma once

#include <ounce/quantize.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "calibration/gram.h"
#include "formats/onnx/emit/expose_values.h"
#include "formats/onnx/plan/plan.h"
#include "kernels/affine.h"
#include "quantize/prepared_model.h"

namespace ounce::quantization {

// What was found for layers, in a folder beside the output while a run goes on: one that was killed goes on
// with it.
//
//   KeptFits kept("model.nbits4.onnx.fits");
//   if (!kept.find(key, fitted)) { …; kept.add(key, fitted); }
//   kept.clear();                      // when the output is there
//
// A key is a digest of all that decides what is found: the weight, what goes into it, and how it is fitted.
// So nothing of another model, other data or other options is ever taken.

struct FittedWeight {
  std::vector<kernels::Affine> affine;               // of each block
  std::shared_ptr<std::vector<std::uint8_t>> codes;  // packed rows
};

class KeptFits {
 public:
  // An empty name: nothing is kept. The folder is made with the first one.
  explicit KeptFits(std::filesystem::path folder) : folder_(std::move(folder)) {}

  bool is_kept() const { return !folder_.empty(); }
  // Those with so many blocks and bytes of codes; false if there are none that are whole.
  bool find(const std::string& key, std::size_t blocks, std::size_t code_bytes, FittedWeight& fitted) const;
  // Throws Error{kIo}.
  void add(const std::string& key, const FittedWeight& fitted) const;
  void clear() const;

 private:
  std::filesystem::path folder_;
};

class NbitsFitter {
 public:
  // Both must outlive it. The data are those of `options`.
  // `kept` is a folder for what a run that is killed leaves to the next one; empty: none.
  NbitsFitter(const PreparedModel& prepared, const QuantizeOptions& options, std::filesystem::path kept = {})
      : prepared_(prepared), options_(options), kept_(std::move(kept)) {}

  // Fills in Decision::energy, affine and codes as the plan's method asks for. Memory is that of one layer,
  // and of the codes.
  void fit(plan::Plan& plan, ThreadPool& pool);

  // The output is there.
  void forget_kept() const { kept_.clear(); }

  // Why layers got the nearest codes instead, and their number.
  const std::map<std::string, std::size_t>& left_alone() const { return left_alone_; }

 private:
  struct Layer {
    plan::Decision* decision = nullptr;
    std::vector<passes::ObservedValue> inputs;
    std::string key;  // of what is found for it
  };
  // Columns of a layer whose codes make up for each other: all of them, or as many as the sums of their
  // inputs have room for.
  struct Slice {
    const Layer* layer = nullptr;
    std::size_t first = 0, columns = 0;
  };
  std::vector<Layer> find_layers(plan::Plan& plan);
  void find_energies(const std::vector<Layer>& layers, ThreadPool& pool);
  static std::vector<Slice> slices_of(const Layer& layer);
  std::vector<calibration::Gram> watch(std::span<const Slice> slices, const ForEach& for_each,
                                       ThreadPool& pool);
  void fit_slice(const Slice& slice, calibration::Gram& gram, const ForEach& for_each,
                 FittedWeight& fitted) const;
  void find_codes(const std::vector<Layer>& layers, ThreadPool& pool);

  const PreparedModel& prepared_;
  const QuantizeOptions& options_;
  std::map<std::string, std::shared_ptr<const std::vector<float>>> energies_;  // by weight
  std::map<std::string, FittedWeight> codes_;                                  // by Layer::key
  std::map<std::string, std::size_t> left_alone_;
  KeptFits kept_;
};

}  // namespace ounce::quantization
