// Runs a model over batches and carries its states from one run to the next.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/feed.h"
#include "runtime/executor.h"

namespace ounce::measure {

class Stepper {
 public:
  // `carry`: the input that gets what an output gave one run before. Throws Error{kUsage} for names that the
  // model does not have, or types that differ.
  Stepper(std::unique_ptr<runtime::Executor> model, const std::map<std::string, std::string>& carry);

  // The outputs, valid until the next run. At the start of a sequence states are those of the batch.
  std::span<const data::TensorView> run(const data::Batch& batch);

  runtime::Executor& model() { return *model_; }
  double seconds() const { return seconds_; }  // inside the runtime, so far

 private:
  struct Carried {
    std::size_t input, output;
    data::Tensor state;
  };
  std::unique_ptr<runtime::Executor> model_;
  std::vector<Carried> carried_;
  std::vector<data::TensorView> inputs_;
  double seconds_ = 0;
};

}  // namespace ounce::measure
