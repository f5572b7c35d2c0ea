#include <ounce/data.h>
#include <ounce/error.h>

#include <fmt/format.h>

#include "base/cancel.h"
#include "data/contract/contract_file.h"
#include "data/contract/preprocess.h"
#include "data/source/open_source.h"
#include "evaluate/contract_check.h"
#include "formats/open.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "quantize/output_place.h"

namespace ounce {
namespace {

// An empty name in the contract means the model's only input.
void name_inputs(Contract& contract, const model::ModelFile& file) {
  const std::filesystem::path& model = file.path();
  std::vector<std::string> inputs;
  for (const model::Port& input : file.inputs()) inputs.push_back(input.name);
  if (const auto nameless = contract.inputs.find(data::kOnlyInput); nameless != contract.inputs.end()) {
    if (inputs.size() != 1) {
      throw Error(
          ErrorCode::kUsage,
          fmt::format(
              "the model has the inputs {}; name the one that the contract is for (`contract.inputs` NAME)",
              fmt::join(inputs, ", ")),
          model.string());
    }
    contract.inputs[inputs[0]] = nameless->second;
    contract.inputs.erase(data::kOnlyInput);
  }
  for (const auto& [name, input] : contract.inputs) {
    if (std::find(inputs.begin(), inputs.end(), name) == inputs.end()) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("the model has no input '{}'; inputs: {}", name, fmt::join(inputs, ", ")),
                  model.string());
    }
    data::Preprocess(input, name);  // throws if the contract is contradictory
  }
}

}  // namespace

Contract read_contract(const std::filesystem::path& file) {
  const CancellationScope scope(nullptr);
  const io::MappedFile mapped = io::MappedFile::open(file);
  if (file.extension() == ".toml") return data::parse_contract_toml(mapped.bytes(), file.string());
  return data::parse_contract(mapped.bytes(), file.string());
}

std::optional<Contract> contract_of(const std::filesystem::path& path) {
  const CancellationScope scope(nullptr);
  return data::contract_in(path);
}

std::string to_json(const Contract& contract) { return data::write_contract(contract, 2); }

Contract set_contract(const std::filesystem::path& path, const std::filesystem::path& output_path,
                      const Contract& wanted, const DataOptions* data, const RuntimeOptions& runtime,
                      Progress* progress) {
  const CancellationScope scope(progress);
  Contract contract = wanted;
  const model::ModelFilePtr model = formats::open_model(path);
  quantization::Inputs inputs;
  inputs.add(*model);
  if (data != nullptr) inputs.add(*data);
  inputs.add(runtime).require_apart(output_path);
  io::require_place(output_path);
  if (data != nullptr) data::require_files(*data);
  model->validate();
  name_inputs(contract, *model);
  if (data != nullptr) evaluate::record(path, *data, runtime, contract);
  formats::write_with_metadata(*model, Contract::kMetadataKey, data::write_contract(contract, -1),
                               output_path);
  return contract;
}

ContractCheck check_contract(const std::filesystem::path& model, const DataOptions& data,
                             const RuntimeOptions& runtime, Progress* progress,
                             const std::map<std::string, std::filesystem::path>& dumps) {
  const CancellationScope scope(progress);
  data::require_files(data);
  for (const auto& [input, file] : dumps) io::require_readable(file);
  const std::optional<Contract> contract = contract_of(model);
  if (!contract) {
    throw Error(ErrorCode::kBadInput, "the model has no contract; add one with `set_contract()`",
                model.string());
  }
  return evaluate::check_contract(model, *contract, data, runtime, dumps);
}

}  // namespace ounce
