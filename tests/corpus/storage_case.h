// Compresses a hand-built model and runs the result.
//
//   StorageCase model = …;  // bytes, input data, names of the weights that must be compressed
//   StorageVerdict verdict = store_and_run(model, recipe);
//   EXPECT_GE(verdict.sqnr_db, 40);
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
  Strings weights;                           // each must be compressed, in every scope with this name
  std::map<std::string, std::string> files;  // external data, by name
  std::string refused_by_runtime;            // part of the runtime's message if it does not load the original
  unsigned oldest_runtime = 17;              // the first release 1.x that supports the model's opset
  bool is_half = false;                      // the weights are FP16: w16 changes nothing
  bool keeps_halves = false;                 // the values exceed FP16: w16 must not convert them
};
inline std::ostream& operator<<(std::ostream& out, const StorageCase& model) { return out << model.name; }

struct StorageVerdict {
  QuantizeResult result;
  // SQNR of the outputs against the original's: with the default optimizations, and without any, so that
  // dequantization runs at run time.
  double sqnr_db = 0, unfolded_sqnr_db = 0;
  std::string difference;  // see Closeness
  std::map<std::string, int>
      left_over_nodes;        // additional nodes of the optimized model, compared with the optimized original
  std::string runtime_error;  // the runtime's message if it does not load the original
};

// If the variable OUNCE_KEEP_CASES names a folder, the last model and its result are kept there for
// debugging.
StorageVerdict store_and_run(const StorageCase& model, const QuantizeOptions& options);
// The minor version of the runtime, or of the headers if they are older.
unsigned runtime_api_version();

// Reproducible normally distributed values.
std::vector<float> weights_like(std::size_t count, std::uint32_t seed);
runtime::Tensor float_input(const Dims& dims, std::uint32_t seed);
runtime::Tensor int64_input(const Dims& dims, const std::vector<std::int64_t>& values);

}  // namespace ounce::test
