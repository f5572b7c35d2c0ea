// A hand-built model on its way through quantize() and the runtime.
//
//   StorageCase model = …;                              // bytes, input data, names of the weights that must
//   be stored StorageVerdict verdict = store_and_run(model, recipe); EXPECT_GE(verdict.sqnr_db, 40);
#pragma once

#include <ounce/quantize.h>
#include <ounce/recipe.h>

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/ort/session.h"
#include "support/model_builder.h"

namespace ounce::test {

struct StorageCase {
  std::string name;   // of the test
  std::string model;  // bytes
  std::vector<runtime::NamedTensor> data;
  Strings weights;                           // each must be stored, in every scope that has one of this name
  std::map<std::string, std::string> files;  // external data, by name
  std::string refused_by_runtime;  // part of its message, when the runtime cannot even load the original
  unsigned oldest_runtime = 17;    // the first 1.x that knows the model's opset
  bool is_half = false;            // w16 has nothing to do
  bool keeps_halves = false;       // the values do not fit 16-bit floats: w16 must keep them
};
inline std::ostream& operator<<(std::ostream& out, const StorageCase& model) { return out << model.name; }

struct StorageVerdict {
  QuantizeResult result;
  // Outputs against those of the original: as runtimes usually load it, and with every optimisation off, so
  // that the decoders themselves run.
  double sqnr_db = 0, unfolded_sqnr_db = 0;
  std::string difference;  // see Closeness
  std::map<std::string, int>
      left_over_nodes;        // op types that the optimized model has more of than the optimized original
  std::string runtime_error;  // when the original does not load either
};

// OUNCE_KEEP_CASES=folder keeps the last model and what was made of it there, to look at.
StorageVerdict store_and_run(const StorageCase& model, const QuantizeOptions& options);
// The x of the runtime's version 1.x (or of the headers', if they are older).
unsigned runtime_api_version();

// Values that look like weights: bell-shaped, the same at every run.
std::vector<float> weights_like(std::size_t count, std::uint32_t seed);
runtime::Tensor float_input(const Dims& dims, std::uint32_t seed);
runtime::Tensor int64_input(const Dims& dims, const std::vector<std::int64_t>& values);

}  // namespace ounce::test
