// The floats that an app gave its model, held against what the contract makes of the same sample: the only
// proof that the app's own preprocessing is the contract's.
#pragma once

#include <ounce/contract.h>
#include <ounce/data.h>
#include <ounce/runtime.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "data/tensor.h"

namespace ounce::evaluate {

class ContractDump {
 public:
  // A .npy of any shape, or raw little-endian float32. Throws Error.
  ContractDump(std::string input, const std::filesystem::path& file);

  // What the contract makes of sample number `index`. Samples beyond the end of the dump are not compared.
  // Throws Error{kBadInput} when the dump does not hold whole samples.
  void add(std::uint64_t index, const data::Tensor& expected, const std::string& sample);

  bool passed() const;
  std::string finding() const;  // one sentence

 private:
  std::string input_, name_;
  std::vector<float> values_;
  std::uint64_t compared_ = 0;
  bool is_equal_ = true;
  double worst_db_ = std::numeric_limits<double>::infinity();
  std::string worst_sample_, worst_guess_;
  double largest_ = 0;
};

// What data says about a contract: needs models to be run.

// Adds to the contract what the data looks like, and its first sample as the golden one.
void record(const std::filesystem::path& model, const DataOptions& data, const RuntimeOptions& runtime,
            Contract& contract);

// Is `data` what the contract says, and does the golden sample (if it is among the data) still give what it
// gave? And is what an app gave its model (`dumps`, by input) what the contract makes of the same samples?
ContractCheck check_contract(const std::filesystem::path& model, const Contract& contract,
                             const DataOptions& data, const RuntimeOptions& runtime,
                             const std::map<std::string, std::filesystem::path>& dumps);

}  // namespace ounce::evaluate
