// The options of every verb that takes data: where it is, and how it meets the model.
#pragma once

#include <ounce/data.h>

#include <string>
#include <vector>

#include "verbs/host.h"
#include "verbs/options.h"

namespace ounce::verbs {

// How raw data becomes an input, said by flags instead of a file.
struct ContractArguments {
  std::string file, input, kind, color, size, resample, backend, crop, crop_rule, layout, rescale, mean,
      deviation;
  std::int64_t rate = 0, length = 0, frame = 0, hop = 0;
};

struct DataArguments {
  std::vector<std::string> data, inputs, constants, carry, shape;
  std::string labels, part;
  std::uint64_t first = 0, samples = 0, batch = 1, seed = 1;
  ContractArguments contract;
};

void add_contract_options(Options& options, ContractArguments& arguments, const char* file_option);
// Nothing when neither a file nor a flag was given.
std::optional<Contract> contract_from(const ContractArguments& arguments);

// What the help of --data says about a command without data.
inline constexpr const char* kRandomInputs = "default: random inputs";
inline constexpr const char* kDataRequired = "required";

// With the contract's options, unless the model's own contract is what a verb is about.
void add_data_options(Options& options, DataArguments& arguments, bool with_contract = true,
                      const std::string& without_data = kRandomInputs);
DataOptions data_options_of(const DataArguments& arguments, const InMemoryInputs& given);

}  // namespace ounce::verbs
