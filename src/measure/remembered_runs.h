// What a model gave, by what went in: inputs that come again, bit for bit, are answered without running it.
//
//   const auto remembered = std::make_shared<RememberedRuns>(kMostKeptBytes);
//   Stepper reference(remember(load(…), remembered), carry);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/digest.h"
#include "data/tensor.h"
#include "runtime/executor.h"

namespace ounce::measure {

class RememberedRuns {
 public:
  explicit RememberedRuns(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // Null when these inputs have not been seen, or what they gave did not fit.
  const std::vector<data::Tensor>* find(const Digest& inputs) const;
  void keep(const Digest& inputs, std::span<const data::TensorView> outputs);
  // All is forgotten unless it was asked for the same model, as a name for all that decides what it gives.
  void use_for(const std::string& model);

 private:
  std::uint64_t most_bytes_, bytes_ = 0;
  std::string model_;
  std::map<Digest, std::vector<data::Tensor>> runs_;
};

// `model` itself when `runs` is null.
std::unique_ptr<runtime::Executor> remember(std::unique_ptr<runtime::Executor> model,
                                            std::shared_ptr<RememberedRuns> runs);

}  // namespace ounce::measure
