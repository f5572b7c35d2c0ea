// Runs the float model over some of the data and shows what goes into chosen ops.
//
//   InputWatch inputs(prepared, options, values, pool);
//   inputs.run([&](std::size_t i, const SeenInput& seen) { sums[i].add(seen.values); });   // i: of `values`
#pragma once

#include <ounce/quantize.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "data/tensor.h"
#include "make/prepared_model.h"
#include "measure/open.h"
#include "measure/stepper.h"
#include "passes/expose_values.h"

namespace ounce::make {

struct SeenInput {
  std::span<const float> values;
  std::span<const std::int64_t> dims;
  std::size_t samples = 0;
};

class InputWatch {
 public:
  // A value may be named more than once.
  InputWatch(const PreparedModel& prepared, const QuantizeOptions& options,
             const std::vector<passes::ObservedValue>& values, ThreadPool& pool);

  // So many that all batches together give enough of them for sums like observe/gram.h.
  std::size_t rows_per_batch() const;
  void run(const std::function<void(std::size_t value, const SeenInput&)>& see);

 private:
  TemporaryFolder folder_{"inputs"};
  std::map<std::string, std::vector<std::size_t>> by_output_;
  std::unique_ptr<measure::Stepper> stepper_;
  measure::OpenFeed open_;
  std::vector<std::uint64_t> batches_;
};

}  // namespace ounce::make
