// Fits quantized weights to the inputs of their products on data.
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

// Finds the scales and quantized values of low-bit weights from the inputs of their products on data
// (`nbits.method` scale and gptq). The mathematics is in quant/blocks.h and quant/reconstruct.h.
//
//   NbitsFitter fitter(prepared, options);
//   fitter.fit(plan, pool);   // results are cached for further plans

// The result for a layer.
struct FittedWeight {
  std::vector<kernels::Affine> affine;               // of each block
  std::shared_ptr<std::vector<std::uint8_t>> codes;  // packed rows
};

// Stores fitted layers in a folder next to the output during a run, so that a run that was killed can be
// resumed.
//
//   KeptFits kept("model.nbits4.onnx.fits");
//   if (!kept.find(key, fitted)) { …; kept.add(key, fitted); }
//   kept.clear();                      // after the output was written
//
// A key is a digest of everything that determines the result: the weight, its inputs and the options. Results
// for another model, other data or other options are never reused.
class KeptFits {
 public:
  // With an empty name nothing is stored. The folder is created by the first add().
  explicit KeptFits(std::filesystem::path folder) : folder_(std::move(folder)) {}

  bool is_kept() const { return !folder_.empty(); }
  // Returns false unless a complete entry with these numbers of blocks and bytes exists.
  bool find(const std::string& key, std::size_t blocks, std::size_t code_bytes, FittedWeight& fitted) const;
  // Throws Error{kIo}.
  void add(const std::string& key, const FittedWeight& fitted) const;
  void clear() const;

 private:
  std::filesystem::path folder_;
};

class NbitsFitter {
 public:
  // `prepared` and `options` must outlive the fitter. Uses the data of `options`. `kept` is the folder of
  // KeptFits; empty: none.
  NbitsFitter(const PreparedModel& prepared, const QuantizeOptions& options, std::filesystem::path kept = {})
      : prepared_(prepared), options_(options), kept_(std::move(kept)) {}

  // Fills in Decision::energy, affine and codes, as the plan's method requires. Needs the memory of one layer
  // and of all quantized values.
  void fit(plan::Plan& plan, ThreadPool& pool);

  // Call after the output was written.
  void forget_kept() const { kept_.clear(); }

  // Number of layers that were rounded to nearest instead, by reason.
  const std::map<std::string, std::size_t>& left_alone() const { return left_alone_; }

 private:
  struct Layer {
    plan::Decision* decision = nullptr;
    std::vector<passes::ObservedValue> inputs;
    std::string key;  // of the cached result
  };
  // Columns of a layer whose rounding errors compensate each other: all of them, or as many as fit into one
  // Gram matrix.
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

// AdaRound-style rounding (`rounding=adaptive`): rounds the weights of INT8 ops so that each op's outputs on
// the data change as little as possible. The mathematics is in quant/reconstruct.h.

struct AdaptiveResult {
  std::size_t layers = 0;
  double gain_db = 0;                   // SQNR of the layers' outputs, relative to nearest rounding
  std::vector<std::string> left_alone;  // layers that are rounded to nearest, with the reason
};

// Fills in Decision::codes of the plan. Runs the floating-point model on some of the data; several times if
// the statistics of all layers exceed the memory limit.
AdaptiveResult round_adaptively(const PreparedModel& prepared, const QuantizeOptions& options,
                                plan::Plan& plan, ThreadPool& pool);

}  // namespace ounce::quantization
