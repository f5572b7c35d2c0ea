#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/data.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/cancel.h"
#include "base/quality.h"
#include "data/containers/npy.h"
#include "data/contract/contract_file.h"
#include "data/contract/preprocess.h"
#include "data/source/open_source.h"
#include "data/tensor.h"
#include "evaluate/compare/difference.h"
#include "evaluate/models/open.h"
#include "formats/open.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "quantize/output_place.h"

namespace ounce::evaluate {
namespace {

std::vector<float> read_floats(const std::filesystem::path& path) {
  const io::MappedFile file = io::MappedFile::open(path);
  std::vector<float> values;
  if (path.extension() == ".npy") {
    const data::Tensor tensor = data::read_npy(file.bytes(), path.string());
    data::to_floats(tensor, values, path.string());
    return values;
  }
  if (file.bytes().size() % sizeof(float) != 0)
    throw Error(ErrorCode::kBadInput,
                "the file is neither a .npy file nor raw float32 values (its size is not a multiple of 4)",
                path.string());
  values.resize(file.bytes().size() / sizeof(float));
  std::memcpy(values.data(), file.bytes().data(), file.bytes().size());
  return values;
}

double decibels_of(std::span<const float> expected, std::span<const float> given) {
  Difference difference;
  difference.add(expected, given);
  return difference.sqnr_db();
}

// The channel axis of an image [.., C, H, W] or [.., H, W, C] with up to four channels.
struct Picture {
  std::size_t channels = 0, pixels = 0;
  bool is_last = false;
};

Picture picture_of(const data::Dims& dims) {
  if (dims.size() < 3) return {};
  const std::int64_t first = dims[dims.size() - 3], last = dims.back();
  Picture picture;
  if (first == 3 || first == 1 || first == 4) {
    picture = {static_cast<std::size_t>(first), static_cast<std::size_t>(dims[dims.size() - 2] * last),
               false};
  } else if (last == 3 || last == 1 || last == 4) {
    picture = {static_cast<std::size_t>(last), static_cast<std::size_t>(first * dims[dims.size() - 2]), true};
  }
  return picture;
}

// The same image with the channel axis moved, the channels reversed, or both.
std::vector<float> rearranged(std::span<const float> given, const Picture& picture, bool moves, bool turns) {
  const bool was_last = moves ? !picture.is_last : picture.is_last;
  std::vector<float> made(given.size());
  for (std::size_t c = 0; c < picture.channels; ++c) {
    const std::size_t from_channel = turns ? picture.channels - 1 - c : c;
    for (std::size_t p = 0; p < picture.pixels; ++p) {
      const std::size_t from =
          was_last ? p * picture.channels + from_channel : from_channel * picture.pixels + p;
      const std::size_t to = picture.is_last ? p * picture.channels + c : c * picture.pixels + p;
      made[to] = given[from];
    }
  }
  return made;
}

// Checks if given = a · expected + b.
std::string guess_scale(std::span<const float> expected, std::span<const float> given) {
  const auto n = static_cast<double>(expected.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    x += expected[i];
    y += given[i];
    xx += double{expected[i]} * expected[i];
    xy += double{expected[i]} * given[i];
  }
  const double spread = n * xx - x * x;
  if (!(spread > 0)) return {};
  const double a = (n * xy - x * y) / spread, b = (y - a * x) / n;
  std::vector<float> made(expected.size());
  std::transform(expected.begin(), expected.end(), made.begin(),
                 [&](float value) { return static_cast<float>(a * value + b); });
  // Differences between image decoders leave a high SQNR; another filter, scale or channel order leaves a low
  // one.
  if (!(std::fabs(a) > 0) || decibels_of(given, made) < Quality::kGood) return {};
  return fmt::format(
      "the values are {:.4g} times the expected ones{}: check scale, mean and standard deviation", a,
      std::fabs(b) < 1e-6 ? "" : fmt::format(" {} {:.4g}", b < 0 ? "minus" : "plus", std::fabs(b)));
}

// Guesses the error in the app's preprocessing; empty if no guess fits.
std::string guess(std::span<const float> expected, std::span<const float> given, const data::Dims& dims) {
  const Picture picture = picture_of(dims);
  if (picture.channels * picture.pixels == expected.size() && picture.channels > 1) {
    struct Try {
      bool moves, turns;
      const char* says;
    };
    constexpr std::array kTries = {Try{false, true, "red and blue are swapped"},
                                   Try{true, false, "the channel axis is in the wrong place (nchw, nhwc)"},
                                   Try{true, true,
                                       "red and blue are swapped, and the channel axis is in the wrong place "
                                       "(nchw, nhwc)"}};
    for (const Try& trying : kTries) {
      const std::vector<float> made = rearranged(given, picture, trying.moves, trying.turns);
      if (decibels_of(expected, made) >= Quality::kGood) return trying.says;
    }
  }
  return guess_scale(expected, given);
}

// Compares the floats that an app gave its model (a dump) with the contract's preprocessing of the same
// samples, to test the app's own preprocessing.
class ContractDump {
 public:
  // Reads a .npy file of any shape, or raw little-endian float32. Throws Error.
  ContractDump(std::string input, const std::filesystem::path& file);

  // Compares sample number `index` with `expected`. Ignores samples beyond the end of the dump. Throws
  // Error{kBadInput} if the size of the dump is not a multiple of the sample size.
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

ContractDump::ContractDump(std::string input, const std::filesystem::path& file)
    : input_(std::move(input)), name_(file.string()), values_(read_floats(file)) {}

void ContractDump::add(std::uint64_t index, const data::Tensor& expected, const std::string& sample) {
  std::vector<float> converted;
  const std::span<const float> wanted = data::floats_of(expected, converted, sample);
  if (wanted.empty() || values_.size() % wanted.size() != 0 || values_.empty()) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("the dump has {} values, not a multiple of a sample of the input '{}', which has {} ({})",
                    values_.size(), input_, wanted.size(), data::describe(expected.type, expected.dims)),
        name_);
  }
  if (index >= values_.size() / wanted.size()) return;
  const std::span<const float> given = std::span(values_).subspan(index * wanted.size(), wanted.size());
  ++compared_;
  Difference difference;
  difference.add(wanted, given);
  const double decibels =
      std::isnan(difference.sqnr_db()) ? -std::numeric_limits<double>::infinity() : difference.sqnr_db();
  is_equal_ = is_equal_ && difference.largest == 0;
  largest_ = std::max(largest_, difference.largest);
  if (decibels >= worst_db_) return;
  worst_db_ = decibels;
  worst_sample_ = sample;
  worst_guess_ = decibels < Quality::kGood ? guess(wanted, given, expected.dims) : "";
}

bool ContractDump::passed() const { return compared_ != 0 && worst_db_ >= Quality::kGood; }

std::string ContractDump::finding() const {
  const std::string what = fmt::format("{}: the app's values of '{}'", name_, input_);
  if (compared_ == 0) return what + " were not compared: no samples";
  const std::string count = fmt::format("{} sample{}", compared_, compared_ == 1 ? "" : "s");
  if (is_equal_) return fmt::format("{} equal the contract's, bit for bit ({})", what, count);
  const std::string figures =
      fmt::format("{:.1f} dB, largest difference {:.3g}, {}", worst_db_, largest_, count);
  if (passed()) return fmt::format("{} are close to the contract's: {}", what, figures);
  return fmt::format(
      "{} differ from the contract's: {}, at least {:g} dB required; {}", what, figures, Quality::kGood,
      worst_guess_.empty() ? fmt::format("the worst sample is '{}'", worst_sample_) : worst_guess_);
}

constexpr std::uint64_t kObservedSamples = 256;  // default number of samples to read

std::string input_digest(const data::Batch& batch) {
  const std::vector<data::TensorView> views(batch.inputs.begin(), batch.inputs.end());
  return data::digest_of_tensors(views);
}

std::uint64_t samples_to_see(const data::Feed& feed, const DataOptions& options) {
  return options.samples != 0 ? feed.batches() : std::min(feed.batches(), kObservedSamples);
}

// Compares one output of the golden sample with the recorded values.
std::string compare_output(const std::string& name, const std::vector<double>& recorded,
                           const data::TensorView& output, bool& passed) {
  const double sqnr = data::golden_sqnr_db(recorded, data::golden_values(output));
  const bool is_near = sqnr >= Quality::kMinUsable;
  passed = passed && is_near;
  if (std::isinf(sqnr) && is_near) return fmt::format("output '{}' equals the recorded one", name);
  return fmt::format("output '{}' {} the recorded one: {:.1f} dB{}", name,
                     is_near ? "is close to" : "differs from", sqnr,
                     is_near ? "" : fmt::format(", at least {} dB required", Quality::kMinUsable));
}

// Compares the outputs of the golden sample with the recorded ones.
std::vector<std::string> compare_golden(const Golden& golden, std::span<const data::TensorView> outputs,
                                        const std::vector<data::ValueDescription>& names, bool& passed) {
  if (data::digest_of_tensors(outputs) == golden.output_digest)
    return {"the outputs of the golden sample equal the recorded ones, bit for bit"};
  std::vector<std::string> findings;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto recorded = golden.outputs.find(names[i].name);
    if (recorded != golden.outputs.end() && !recorded->second.empty()) {
      findings.push_back(compare_output(names[i].name, recorded->second, outputs[i], passed));
      continue;
    }
    passed = false;
    findings.push_back(fmt::format(
        "output '{}' differs from the recorded one (its values were not recorded, only their digest)",
        names[i].name));
  }
  return findings;
}

// Opens the dumps, by position of the input. A dump without a name is for the contract's only input.
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
      throw Error(ErrorCode::kUsage, fmt::format("`dumps`: {}; inputs: {}. Example: `dumps` INPUT=FILE",
                                                 given.empty() ? "name the input of the dump"
                                                               : fmt::format("no input '{}'", given),
                                                 fmt::join(names, ", ")));
    }
    dumps.emplace(static_cast<std::size_t>(found - inputs.begin()), ContractDump(name, file));
  }
  return dumps;
}

// Adds the value ranges of the preprocessed data to the contract, and the first sample as golden sample.
void record(const std::filesystem::path& model, const DataOptions& data_options,
            const RuntimeOptions& runtime, Contract& contract) {
  StatefulExecutor stepper(runtime::load(model, executor_options(runtime)), data_options.carry);
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

// Checks that the data fits the contract, that the golden sample (if the data contains it) still gives the
// recorded outputs, and that the input values of an app (`dumps`, by input) equal the contract's
// preprocessing of the same samples.
ContractCheck check_contract(const std::filesystem::path& model, const Contract& contract,
                             const DataOptions& data_options, const RuntimeOptions& runtime,
                             const std::map<std::string, std::filesystem::path>& dump_files) {
  StatefulExecutor stepper(runtime::load(model, executor_options(runtime)), data_options.carry);
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
      check.findings.push_back(fmt::format(
          "'{}' has the golden sample's name, but its preprocessed values differ from the recorded "
          "ones: the file or the preprocessing steps have changed",
          contract.golden->sample));
      continue;
    }
    check.findings.push_back(fmt::format(
        "the preprocessed values of '{}' equal the recorded ones, bit for bit", batch.names.front()));
    for (std::string& finding :
         compare_golden(*contract.golden, stepper.run(batch), stepper.model().outputs(), check.passed))
      check.findings.push_back(std::move(finding));
  }
  if (contract.golden && !has_met_golden) {
    check.findings.push_back(
        fmt::format("the golden sample '{}' is not in the data: the model's outputs were not checked",
                    contract.golden->sample));
  }
  for (const auto& [name, seen] : feed.observed()) {
    const auto input = contract.inputs.find(name);
    if (input == contract.inputs.end() || !input->second.observed || seen.is_empty()) continue;
    auto differs = data::contradiction(input->second, seen.result());
    if (!differs) differs = data::doubt(input->second, seen.result());
    if (differs) check.passed = false;
    check.findings.push_back(
        fmt::format("input '{}': {}", name, differs ? *differs : "the data matches the contract"));
  }
  for (const auto& [input, dump] : dumps) {
    check.passed = check.passed && dump.passed();
    check.findings.push_back(dump.finding());
  }
  return check;
}

}  // namespace
}  // namespace ounce::evaluate

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
