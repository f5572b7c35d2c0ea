#include "app/golden_check.h"

#include <fmt/format.h>

#include "app/failure.h"
#include "data/golden.h"

namespace ounce::app {

void check_golden_input(const Golden& golden, std::span<const data::TensorView> inputs,
                        const std::string& model) {
  if (data::digest_of_tensors(inputs) == golden.input_digest) return;
  throw Failure(
      Status::kContractMismatch,
      fmt::format("the golden sample '{}' comes out of the preprocessing with other values than where the "
                  "contract was made; 'ounce contract check' says what differs",
                  golden.sample),
      model);
}

void check_golden_output(const Golden& golden, std::span<const data::TensorView> outputs,
                         const std::vector<data::ValueDescription>& names, const std::string& model) {
  if (data::digest_of_tensors(outputs) == golden.output_digest) return;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto recorded = golden.outputs.find(names[i].name);
    const double sqnr = recorded == golden.outputs.end()
                            ? -std::numeric_limits<double>::infinity()
                            : data::golden_sqnr_db(recorded->second, data::golden_values(outputs[i]));
    if (sqnr >= data::kGoldenDecibels) continue;
    throw Failure(
        Status::kGoldenMismatch,
        fmt::format("the golden sample '{}' gives other values in '{}' than where the contract was made: "
                    "{:.1f} dB, {} dB are needed",
                    golden.sample, names[i].name, sqnr, data::kGoldenDecibels),
        model);
  }
}

}  // namespace ounce::app
