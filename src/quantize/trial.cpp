#include "quantize/trial.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/cancel.h"
#include "base/machine.h"
#include "data/source/data_feed.h"
#include "data/source/open_source.h"
#include "data/tensor.h"
#include "evaluate/compare/difference.h"
#include "evaluate/compare/worst_output.h"
#include "evaluate/models/feeds.h"
#include "evaluate/models/open.h"
#include "evaluate/models/reference_outputs.h"
#include "evaluate/timing/cpus.h"
#include "evaluate/timing/rounds.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/writer.h"
#include "io/temporary_files.h"
#include "quantize/output_place.h"
#include "runtime/executor.h"
#include "runtime/ort/library.h"
#include "runtime/ort/ort_format.h"
#include "runtime/places.h"
#include "target/ort/saturation.h"
#include "target/target.h"

namespace ounce::quantization {
namespace {

constexpr std::uint64_t kGeneratedSamples = 4;
constexpr std::uint64_t kCpuSamples = 8, kEmulatedSamples = 2;
constexpr std::uint64_t kMostEmulated = std::uint64_t{64} << 20;  // bytes of a model; emulators are slow
// Multiplications under an emulator: some 4 s for each CPU at 1/100 of the normal speed. A limit of work, not
// of time, so that the same command gives the same result.
constexpr double kEmulatedWork = 1.2e9;
// A runtime keeps up to three copies of the weights while loading: as read, dequantized, and packed for
// kernels.
constexpr std::uint64_t kCopiesAtLoad = 3;
constexpr std::uint64_t kRuntimeItself = std::uint64_t{256} << 20;

std::string gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

// The outputs of the original, and the data to run another model on.
struct Expectation {
  std::vector<data::ValueDescription> inputs, outputs;
  evaluate::OpenFeed open;
  std::optional<ReferenceOutputs> given;
  std::string data_digest;
};

// Runs the original on the first samples and keeps its outputs.
void run_original(evaluate::StatefulExecutor& stepper, std::uint64_t batches, Expectation& expected) {
  const evaluate::OpenFeed& open = expected.open;
  evaluate::DigestingFeed feed(*open.feed);
  expected.given.emplace(stepper, feed, evaluate::evenly_spaced(batches, batches, true),
                         evaluate::kMostKeptBytes);
  expected.data_digest = feed.inputs();
  if (open.data != nullptr) open.data->require_agreement();
}

// Loads and runs the original in a process that ends with this function, so that only one model is in memory
// at a time. If the original does not run on random inputs, returns no outputs and sets `result.why_not`.
Expectation ask_original(const model::ModelFile& original, const runtime::ExecutorOptions& how,
                         const TrialOptions& options, TrialResult& result) {
  Expectation expected;
  std::unique_ptr<evaluate::StatefulExecutor> stepper;
  try {
    stepper =
        std::make_unique<evaluate::StatefulExecutor>(runtime::load(original.path(), how), options.data.carry);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kUsage) throw;
    if (runtime::is_evaluated(original.kind()) && error.code() == ErrorCode::kUnsupported) {
      result.why_not = fmt::format("{}. Weights were compared, but the model was not run", error.what());
      return expected;
    }
    const bool is_the_machine = error.code() == ErrorCode::kIo || error.code() == ErrorCode::kMemory;
    throw Error(is_the_machine ? error.code() : ErrorCode::kUnsupported,
                fmt::format("the original does not load, so outputs cannot be compared: {}; "
                            "`trial.is_wanted=false` skips the comparison",
                            error.what()));
  }
  result.runtime = runtime::runtime_of(original.kind());
  result.runtime_version = stepper->model().library_version();
  result.memory_before = stepper->model().load_memory();
  result.cpu = cpu_kernels();
  result.is_generated = options.data.is_generated();
  expected.inputs = stepper->model().inputs();
  expected.outputs = stepper->model().outputs();
  if (!result.is_generated) {
    expected.open = evaluate::open_feed(original, expected.inputs, options.data);
    run_original(*stepper, std::min(expected.open.feed->batches(), options.samples), expected);
    return expected;
  }
  try {
    evaluate::find_lengths(expected.inputs, options.data, [&](const DataOptions& data) {
      expected.open = evaluate::open_feed(original, expected.inputs, data);
      run_original(*stepper, kGeneratedSamples, expected);
    });
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kIo) throw;
    result.why_not = fmt::format(
        "the original does not run on random inputs ({}): give `data`, or `shape` NAME=LENGTH", error.what());
  }
  return expected;
}

// Runs the written model on the same inputs and compares its outputs with the original's.
void ask_written(const WrittenFiles& written, runtime::ExecutorOptions how, const TrialOptions& options,
                 const Expectation& expected, TrialResult& result) {
  how.settings.external_data_paths = written.external_data_paths;
  std::unique_ptr<runtime::Executor> model = runtime::load(written.model, how);
  result.memory_after = model->load_memory();
  evaluate::StatefulExecutor stepper(evaluate::with_dequantized_io(std::move(model), written.ports),
                                     options.data.carry);
  std::vector<evaluate::OutputMeter> meters;
  for (const data::ValueDescription& output : expected.outputs) meters.emplace_back(output, std::nullopt);
  if (expected.given) {
    expected.given->replay(stepper, *expected.open.feed, [&](const ReferenceRun& run, auto given) {
      for (std::size_t k = 0; k < meters.size(); ++k) meters[k].add(run.outputs.at(k), given[k]);
      return true;
    });
    result.samples = expected.given->samples();
    result.data_digest = expected.data_digest;
  }
  result.is_tried = true;
  std::vector<OutputComparison> outputs;
  for (const evaluate::OutputMeter& meter : meters) {
    const OutputComparison& compared = outputs.emplace_back(meter.result());
    outputs.back().is_state = evaluate::is_state(options.data.carry, compared.name);
    if (meter.shape_differences() != 0) {
      throw Error(ErrorCode::kInternal, fmt::format("output '{}' has another shape: {}", compared.name,
                                                    meter.first_shape_difference()));
    }
    if (compared.newly_not_finite != 0) {
      throw NotFinite(fmt::format("output '{}' has NaN or infinite values where the original's are finite",
                                  compared.name));
    }
  }
  result.sqnr_db = evaluate::worst_sqnr(outputs);
  result.is_of_labels =
      !outputs.empty() && std::all_of(outputs.begin(), outputs.end(),
                                      [](const auto& output) { return output.is_state || output.is_label; });
  if (const OutputSlice* slice = evaluate::worst_slice(outputs)) result.slice = slice->name;
}

// Times both models in two processes that take turns. Does nothing if a run of the original is shorter than
// `timing.shortest`.
void time_written(const model::ModelFile& original, const WrittenFiles& written,
                  const runtime::ExecutorOptions& how, const Expectation& expected, const Timing& timing,
                  TrialResult& result) {
  runtime::ExecutorOptions there = how;
  there.settings.external_data_paths = written.external_data_paths;
  const auto before = runtime::load(original.path(), how);
  const auto after = evaluate::with_dequantized_io(runtime::load(written.model, there), written.ports);
  data::Batch batch;
  expected.open.feed->read(0, batch);
  const std::vector<data::TensorView> inputs(batch.inputs.begin(), batch.inputs.end());
  const auto slot_of = [&](runtime::Executor& model) {
    return [&](std::uint64_t runs) { return model.time(inputs, runs); };
  };
  if (timing.shortest > 0 && slot_of(*before)(2).calls.back() < timing.shortest) return;
  evaluate::RoundOptions options;
  options.seconds = timing.seconds;
  const evaluate::Rounds rounds = evaluate::run_rounds({slot_of(*before), slot_of(*after)}, options);
  result.speed_up = evaluate::speed_up(rounds, 0, 1);
  result.seconds_before = rounds.models[0].typical_call();
  result.seconds_after = rounds.models[1].typical_call();
}

double work_of_sample(const Work& work, const Expectation& expected) {
  if (!work) return 0;
  data::Batch batch;
  expected.open.feed->read(0, batch);
  std::map<std::string, data::Dims> shapes;
  for (std::size_t i = 0; i < std::min(batch.inputs.size(), expected.inputs.size()); ++i)
    shapes[expected.inputs[i].name] = batch.inputs[i].dims;
  return work(shapes);
}

// The runtime's profile of one run of the written model. Returns nullopt if profiling fails.
std::optional<Profile> profile_written(const WrittenFiles& written, const runtime::ExecutorOptions& how,
                                       const Expectation& expected) {
  const TemporaryFolder folder("profile");
  runtime::ExecutorOptions there = how;
  there.settings.external_data_paths = written.external_data_paths;
  there.settings.profile = folder.path() / "nodes";
  there.runners = std::make_shared<runtime::Runners>();  // closing the model writes the profile
  {
    const auto model = evaluate::with_dequantized_io(runtime::load(written.model, there), written.ports);
    data::Batch batch;
    expected.open.feed->read(0, batch);
    model->run(std::vector<data::TensorView>(batch.inputs.begin(), batch.inputs.end()));
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    return evaluate::read_profile(entry.path());
  return std::nullopt;
}

IntegerKernels integer_kernels(const Profile& profile) {
  IntegerKernels found;
  for (const NodeTime& node : profile.nodes) ++(node.is_integer ? found.integer : found.other);
  return found;
}

// Also runs both models on other CPUs. Throws Error{kUnsupported} if the written model's outputs differ
// there.
void ask_other_cpus(const model::ModelFile& original, const WrittenFiles& written,
                    const runtime::ExecutorOptions& how, const TrialOptions& options, const Work& work,
                    const Expectation& expected, TrialResult& result) {
  evaluate::AcrossCpus models;
  models.original = [&](const runtime::ExecutorOptions& there) {
    return runtime::load(original.path(), there);
  };
  models.model = [&](runtime::ExecutorOptions there) {
    there.settings.external_data_paths = written.external_data_paths;
    return evaluate::with_dequantized_io(runtime::load(written.model, there), written.ports);
  };
  models.here = how;
  models.is_original_optional = true;
  models.feed = expected.open.feed.get();
  models.carry = options.data.carry;
  models.samples = std::min<std::uint64_t>(expected.given->runs().size(), kCpuSamples);
  const double affordable = kEmulatedWork / std::max(1.0, work_of_sample(work, expected));
  models.emulated_samples =
      std::min({models.samples, kEmulatedSamples, static_cast<std::uint64_t>(std::min(affordable, 1e6))});
  if (original.bytes() > kMostEmulated) models.emulated_samples = 0;
  for (const std::string& cpu : options.cpus) {
    const CpuComparison found = evaluate::compare_on(cpu, models);
    result.cpus.push_back(found);
    // Report, but tolerate, differences if another release with other kernels ran there.
    if (!found.is_run() || found.is_same() || found.runtime_version != result.runtime_version) continue;
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("outputs differ on {} ({:.1f} dB SQNR between the CPUs), so nothing was written; "
                    "{}`cpus={{}}` skips this test",
                    cpu, found.sqnr_db,
                    target::is_without_exact_products(cpu) ? "`integer.reduce_range=true` may help, " : ""),
        written.name.string());
  }
}

// If a written model does not run, this is an internal error, except for a lack of memory, disk or time.
ErrorCode code_of_failure(ErrorCode code) {
  switch (code) {
    case ErrorCode::kIo:
    case ErrorCode::kMemory: return code;
    case ErrorCode::kTimeout: return ErrorCode::kUnsupported;
    default: return ErrorCode::kInternal;
  }
}

}  // namespace

void require_trial(const model::ModelFile& original, const TrialOptions& options) {
  data::require_files(options.data);
  if (!options.is_wanted) return;
  if (!options.runtime.library.empty()) runtime::find_library(original.kind(), options.runtime.library);
  if (options.data.is_generated()) return;
  const evaluate::OpenFeed open = evaluate::open_feed(original, data::inputs_of(original), options.data);
  data::Batch first;
  open.feed->read(0, first);
}

TrialResult try_model(const model::ModelFile& original, const WrittenFiles& written,
                      const TrialOptions& options, const TrialCosts& costs) {
  TrialResult result;
  if (!model::supports(original.kind(), "verify")) {
    result.why_not = fmt::format("{} models cannot be run: weights were compared, but not outputs",
                                 name_of(original.kind()));
    return result;
  }
  const std::filesystem::path library = runtime::find_library(original.kind(), options.runtime.library);
  try {
    // Open the library only if it may be missing: this runs third-party code in this process.
    std::error_code ignored;
    if (!options.runtime.library.empty() || !std::filesystem::is_regular_file(library, ignored))
      runtime::open_library(original.kind(), library);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo || !options.runtime.library.empty()) throw;
    result.why_not = fmt::format("no {} was found: weights were compared, but the model was not run",
                                 runtime::runtime_of(original.kind()));
    return result;
  }
  const std::uint64_t needed = kCopiesAtLoad * original.bytes() + kRuntimeItself,
                      available = available_memory();
  if (needed > available) {
    result.why_not = fmt::format(
        "loading takes about {} of memory, {} are free: weights were compared, but the model was not run",
        gigabytes(needed), gigabytes(available));
    return result;
  }
  runtime::ExecutorOptions how = evaluate::executor_options(options.runtime);
  if (!how.isolate) how.isolate = runtime::Limits{};
  how.bytes = original.bytes();
  const Expectation expected = ask_original(original, how, options, result);
  if (expected.outputs.empty()) return result;  // why_not says why
  const auto explained = [&](const Error& error) {
    return fmt::format(
        "the result fails in the runtime, so nothing was written (`trial.is_wanted=false` writes it anyway): "
        "{}",
        renamed(error.what(), written.model, written.name));
  };
  try {
    ask_written(written, how, options, expected, result);
  } catch (const NotFinite& error) {
    throw NotFinite(explained(error), written.name.string());
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    throw FailsInRuntime(code_of_failure(error.code()), explained(error), written.name.string(),
                         renamed(error.what(), written.model, written.name), result.runtime_version);
  }
  if (options.is_timed && result.samples != 0 && !runtime::is_evaluated(original.kind()))
    time_written(original, written, how, expected, costs.timing, result);
  if (costs.is_integer && result.samples != 0) {
    result.profile = profile_written(written, how, expected);
    if (result.profile) result.kernels = integer_kernels(*result.profile);
  }
  if (!options.cpus.empty() && result.samples != 0)
    ask_other_cpus(original, written, how, options, costs.work, expected, result);
  return result;
}

namespace {

constexpr std::uint64_t kMostWatchedBatches = 128;
constexpr std::uint64_t kWatchedRows = 8192;  // input rows per op, over all batches

}  // namespace

InputWatch::InputWatch(const PreparedModel& prepared, const QuantizeOptions& options,
                       const std::vector<passes::ObservedValue>& values, ThreadPool& pool) {
  onnx::Model model = onnx::clone(prepared.model());
  const graph::Index index(model);
  std::vector<passes::ObservedValue> once = values;
  std::sort(once.begin(), once.end());
  once.erase(std::unique(once.begin(), once.end()), once.end());
  for (const passes::Exposed& exposed : passes::expose_values(model, index, once)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == exposed.value) by_output_[exposed.output].push_back(i);
    }
  }
  const std::filesystem::path path = folder_.path() / "model.onnx";
  onnx::write_temporary(model, path, pool);
  open(path, prepared.source(), options);
}

InputWatch::InputWatch(const std::filesystem::path& exposed, const std::filesystem::path& source,
                       std::map<std::string, std::vector<std::size_t>> by_output,
                       const QuantizeOptions& options)
    : by_output_(std::move(by_output)) {
  open(exposed, source, options);
}

void InputWatch::open(const std::filesystem::path& exposed, const std::filesystem::path& source,
                      const QuantizeOptions& options) {
  RuntimeOptions how;
  how.library = options.trial.runtime.library;
  how.isolate = options.trial.runtime.isolate;
  const DataOptions& data = options.trial.data;
  stepper_ = std::make_unique<evaluate::StatefulExecutor>(
      runtime::load(exposed, evaluate::executor_options(how)), data.carry);
  open_ = evaluate::open_feed(source, stepper_->model().inputs(), data);
  batches_ = evaluate::evenly_spaced(open_.feed->batches(), kMostWatchedBatches, !data.carry.empty());
}

std::size_t InputWatch::rows_per_batch() const {
  const std::uint64_t batches = std::max<std::uint64_t>(1, batches_.size());
  return static_cast<std::size_t>(std::max<std::uint64_t>(1, kWatchedRows / batches));
}

void InputWatch::run(const std::function<void(std::size_t, const SeenInput&)>& see) {
  data::Batch batch;
  const auto show = [&](const std::vector<data::ValueDescription>& descriptions,
                        std::span<const data::TensorView> values) {
    for (std::size_t i = 0; i < descriptions.size(); ++i) {
      const auto found = by_output_.find(descriptions[i].name);
      if (found == by_output_.end() || values[i].bytes.empty()) continue;
      std::vector<float> converted;
      const auto floats = data::floats_of(values[i], converted, descriptions[i].name);
      for (const std::size_t value : found->second) see(value, {floats, values[i].dims, batch.names.size()});
    }
  };
  for (const std::uint64_t i : batches_) {
    throw_if_cancelled();
    open_.feed->read(i, batch);
    show(stepper_->model().inputs(), std::vector<data::TensorView>(batch.inputs.begin(), batch.inputs.end()));
    show(stepper_->model().outputs(), stepper_->run(batch));
  }
}

namespace {

runtime::OrtOptions ort_options(const EmitOptions& options) {
  runtime::OrtOptions how;
  how.library = options.library;
  how.style = options.style == OrtStyle::kRuntime ? runtime::OrtStyle::kRuntime : runtime::OrtStyle::kFixed;
  const std::string machine =
      options.target.empty() ? std::string() : target::parse_target(options.target).machine;
  how.machine = machine == "x64"     ? runtime::OrtMachine::kX64
                : machine == "arm64" ? runtime::OrtMachine::kArm
                                     : runtime::OrtMachine::kAny;
  return how;
}

// Loads the model in another process first, because the runtime optimizes it in this process and could crash.
void require_loadable(const std::filesystem::path& model, const EmitOptions& options) {
  RuntimeOptions how;
  how.library = options.library;
  evaluate::require_loadable(model, how);
}

}  // namespace

void write_ort(const std::filesystem::path& model, const std::filesystem::path& output,
               const EmitOptions& options) {
  require_loadable(model, options);
  runtime::write_ort(model, output, ort_options(options));
}

std::optional<onnx::Model> optimized_model(const std::filesystem::path& model, const EmitOptions& options) {
  try {
    runtime::Library::find(options.library);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo || !options.library.empty()) throw;
    return std::nullopt;
  }
  try {
    const TemporaryFolder folder("optimized");
    const std::filesystem::path path = folder.path() / "model.onnx";
    require_loadable(model, options);
    runtime::write_optimized(model, path, ort_options(options));
    // The runtime refers to external data by name and does not copy it. Only the ops are needed.
    for (const auto& [location, file] : onnx::read_model(model).external_files) {
      std::error_code failure;
      std::filesystem::create_directories((folder.path() / location).parent_path(), failure);
      std::filesystem::create_hard_link(file.path(), folder.path() / location, failure);
      if (failure) std::filesystem::copy_file(file.path(), folder.path() / location, failure);
    }
    return onnx::read_model(path);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kTimeout ||
        error.code() == ErrorCode::kMemory)
      throw;
    return std::nullopt;  // for example custom ops: use the ops of the unoptimized model
  }
}

}  // namespace ounce::quantization
