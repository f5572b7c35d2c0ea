#include "measure/contract_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/cancel.h"
#include "data/golden.h"
#include "measure/contract_dump.h"
#include "measure/open.h"
#include "measure/stepper.h"

namespace ounce::measure {
namespace {

constexpr std::uint64_t kObservedSamples = 256;  // looked at, unless the user says how many

std::string input_digest(const data::Batch& batch) {
  const std::vector<data::TensorView> views(batch.inputs.begin(), batch.inputs.end());
  return data::digest_of_tensors(views);
}

std::uint64_t samples_to_see(const data::Feed& feed, const DataOptions& options) {
  return options.samples != 0 ? feed.batches() : std::min(feed.batches(), kObservedSamples);
}

// One output of the golden sample: how near it is to what was recorded of it.
std::string compare_output(const std::string& name, const std::vector<double>& recorded,
                           const data::TensorView& output, bool& passed) {
  const double sqnr = data::golden_sqnr_db(recorded, data::golden_values(output));
  const bool is_near = sqnr >= data::kGoldenDecibels;
  passed = passed && is_near;
  if (std::isinf(sqnr) && is_near) return fmt::format("output '{}' has the recorded values", name);
  return fmt::format("output '{}' is {} the recorded one: {:.1f} dB{}", name, is_near ? "near" : "far from",
                     sqnr, is_near ? "" : fmt::format(", {} dB are needed", data::kGoldenDecibels));
}

// The golden sample run again: what came out then, and what comes out now.
std::vector<std::string> compare_golden(const Golden& golden, std::span<const data::TensorView> outputs,
                                        const std::vector<data::ValueDescription>& names, bool& passed) {
  if (data::digest_of_tensors(outputs) == golden.output_digest)
    return {"the golden sample gives the recorded output, bit for bit"};
  std::vector<std::string> findings;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto recorded = golden.outputs.find(names[i].name);
    if (recorded != golden.outputs.end() && !recorded->second.empty()) {
      findings.push_back(compare_output(names[i].name, recorded->second, outputs[i], passed));
      continue;
    }
    passed = false;
    findings.push_back(fmt::format("output '{}' was not recorded, or as text, and the digest is another one",
                                   names[i].name));
  }
  return findings;
}

// By the place of the input. One without a name is of the only input that the contract speaks of.
std::map<std::size_t, ContractDump> open_dumps(const std::map<std::string, std::filesystem::path>& files,
                                               const std::vector<data::ValueDescription>& inputs,
                                               const Contract& contract) {
  std::map<std::size_t, ContractDump> dumps;
  for (const auto& [given, file] : files) {
    const bool is_only = given.empty() && contract.inputs.size() == 1;
    const std::string& name = is_only ? contract.inputs.begin()->first : given;
    const auto found = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const data::ValueDescription& input) { return input.name == name; });
    if (found == inputs.end()) {
      std::vector<std::string> names;
      for (const data::ValueDescription& input : inputs) names.push_back(input.name);
      throw Error(ErrorCode::kUsage, fmt::format("`dumps`: {}; the model takes {}: `dumps` INPUT=FILE",
                                                 given.empty() ? "say which input it is of"
                                                               : fmt::format("no input '{}'", given),
                                                 fmt::join(names, ", ")));
    }
    dumps.emplace(static_cast<std::size_t>(found - inputs.begin()), ContractDump(name, file));
  }
  return dumps;
}

}  // namespace

void record(const std::filesystem::path& model, const DataOptions& data_options,
            const RuntimeOptions& runtime, Contract& contract) {
  Stepper stepper(runtime::load(model, executor_options(runtime)), data_options.carry);
  DataOptions with_contract = data_options;
  for (auto& [name, input] : contract.inputs) input.observed.reset();
  with_contract.contract = contract;
  with_contract.batch = 1;
  data::DataFeed feed(stepper.model().inputs(), with_contract);
  data::Batch batch;
  for (std::uint64_t i = 0; i < samples_to_see(feed, with_contract); ++i) {
    throw_if_cancelled();
    feed.read(i, batch);
    if (i != 0) continue;
    Golden golden;
    golden.sample = batch.names.front();
    golden.input_digest = input_digest(batch);
    const auto outputs = stepper.run(batch);
    golden.output_digest = data::digest_of_tensors(outputs);
    for (std::size_t k = 0; k < outputs.size(); ++k)
      golden.outputs[stepper.model().outputs()[k].name] = data::golden_values(outputs[k]);
    contract.golden = std::move(golden);
  }
  for (const auto& [name, seen] : feed.observed()) {
    if (!seen.is_empty()) contract.inputs[name].observed = seen.result();
  }
}

ContractCheck check_contract(const std::filesystem::path& model, const Contract& contract,
                             const DataOptions& data_options, const RuntimeOptions& runtime,
                             const std::map<std::string, std::filesystem::path>& dump_files) {
  Stepper stepper(runtime::load(model, executor_options(runtime)), data_options.carry);
  DataOptions with_contract = data_options;
  with_contract.contract = contract;
  with_contract.batch = 1;
  data::DataFeed feed(stepper.model().inputs(), with_contract);
  ContractCheck check;
  std::map<std::size_t, ContractDump> dumps = open_dumps(dump_files, stepper.model().inputs(), contract);
  data::Batch batch;
  bool has_met_golden = false;
  for (std::uint64_t i = 0; i < samples_to_see(feed, with_contract); ++i) {
    throw_if_cancelled();
    feed.read(i, batch);
    ++check.samples;
    for (auto& [input, dump] : dumps) dump.add(i, batch.inputs[input], batch.names.front());
    if (!contract.golden || has_met_golden) continue;
    const std::string digest = input_digest(batch);
    const bool is_same = digest == contract.golden->input_digest;
    const bool is_named = batch.names.front() == contract.golden->sample;
    if (!is_same && !is_named) continue;
    has_met_golden = true;
    if (!is_same) {
      check.passed = false;
      check.findings.push_back(
          fmt::format("'{}' is the golden sample's name, but other values come out of the preprocessing: the "
                      "file or the steps differ",
                      contract.golden->sample));
      continue;
    }
    check.findings.push_back(fmt::format("'{}' gives the golden input, bit for bit", batch.names.front()));
    for (std::string& finding :
         compare_golden(*contract.golden, stepper.run(batch), stepper.model().outputs(), check.passed))
      check.findings.push_back(std::move(finding));
  }
  if (contract.golden && !has_met_golden) {
    check.findings.push_back(
        fmt::format("the golden sample '{}' is not among the data: the model's output was not checked",
                    contract.golden->sample));
  }
  for (const auto& [name, seen] : feed.observed()) {
    const auto input = contract.inputs.find(name);
    if (input == contract.inputs.end() || !input->second.observed || seen.is_empty()) continue;
    const auto differs = data::contradiction(*input->second.observed, seen.result());
    if (differs) check.passed = false;
    check.findings.push_back(
        fmt::format("input '{}': {}", name, differs ? *differs : "the data looks as the contract says"));
  }
  for (const auto& [input, dump] : dumps) {
    check.passed = check.passed && dump.passed();
    check.findings.push_back(dump.finding());
  }
  return check;
}

}  // namespace ounce::measure
