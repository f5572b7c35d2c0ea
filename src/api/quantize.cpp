#include <ounce/contract.h>
#include <ounce/error.h>
#include <ounce/quantize.h>
#include <ounce/version.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "api/adaptive_rounding.h"
#include "api/another_file.h"
#include "api/groundwork.h"
#include "api/outcome.h"
#include "api/refine.h"
#include "api/rewrite.h"
#include "api/source_digest.h"
#include "api/target_fit.h"
#include "api/try_written.h"
#include "base/cpu.h"
#include "base/digest.h"
#include "base/jobs.h"
#include "base/stopwatch.h"
#include "graph/verify.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "passes/compare_weights.h"
#include "plan/plan.h"
#include "target/provider.h"
#include "target/target.h"

namespace ounce {
namespace {

// Codes of nothing but zeros would give 0 dB; anything below means that codes and source do not belong
// together.
constexpr double kLeastSqnr = -3;

// With fewer samples, what fits them best says nothing of others.
constexpr std::uint64_t kFewSamples = 8;

void begin_stage(const QuantizeOptions& options, const char* stage, std::uint64_t total) {
  if (options.progress == nullptr) return;
  options.progress->done = 0;
  options.progress->total = total;
  options.progress->stage = stage;
}

// Said before minutes of work, not after.
void require_folder(const std::filesystem::path& output) {
  const std::filesystem::path folder = std::filesystem::absolute(output).parent_path();
  if (std::filesystem::is_directory(folder)) return;
  const auto why =
      std::filesystem::exists(folder) ? std::errc::not_a_directory : std::errc::no_such_file_or_directory;
  throw Error(ErrorCode::kIo, "cannot write: " + std::make_error_code(why).message(), output.string());
}

void require_halves(const plan::HalfPlan& plan, const std::filesystem::path& path) {
  const auto is_half = [](const plan::HalfNode& node) { return node.is_half(); };
  if (std::any_of(plan.nodes.begin(), plan.nodes.end(), is_half)) return;
  const std::string why = plan.nodes.empty()
                              ? "it computes nothing in float32"
                              : "of its first node the plan says: " + plan.nodes.front().why_float;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("nothing can compute on 16-bit floats: {}; nothing was written", why),
              path.string());
}

void require_something_to_do(const plan::Plan& plan, const api::Groundwork& ground,
                             const std::filesystem::path& path) {
  if (plan.half.exists()) return require_halves(plan.half, path);
  if (plan.stored_count() != 0 || ground.trained_weights() != 0) return;
  if (ground.is_trained())
    throw Error(ErrorCode::kUnsupported, ground.notes().front() + ": nothing is left to do", path.string());
  std::string why = "it has no float weights";
  if (!plan.decisions.empty()) {
    const auto largest =
        std::max_element(plan.decisions.begin(), plan.decisions.end(), [](const auto& a, const auto& b) {
          return a.weight.tensor->byte_count() < b.weight.tensor->byte_count();
        });
    why = fmt::format("of its largest float tensor '{}' the plan says: {}", largest->weight.name,
                      largest->reason);
  }
  throw Error(ErrorCode::kUnsupported, fmt::format("nothing to store smaller: {}; nothing was written", why),
              path.string());
}

// A tensor of the written file: an initializer, or that of a Constant node. Bodies keep their numbers; two of
// them may use one name for different tensors.
const onnx::Tensor* find_tensor(const graph::Index& index, std::size_t body, std::string_view name) {
  if (name.empty()) return nullptr;
  const auto& values = index.bodies().at(body).values;
  const auto found = values.find(name);
  const onnx::Tensor* tensor = nullptr;
  if (found != values.end() && found->second.initializer != graph::kNone) {
    tensor = &*index.bodies()[body].graph->initializers[found->second.initializer];
  } else if (found != values.end() && found->second.producer != graph::kNone) {
    tensor = plan::constant_tensor(*index.bodies()[body].nodes()[found->second.producer]);
  }
  if (tensor == nullptr)
    throw Error(ErrorCode::kInternal, fmt::format("'{}' is missing in the written file", name));
  return tensor;
}

// Reopens what was written, proves its structure, and compares every stored weight with its source.
void check_written(const onnx::ModelOutput& output, const onnx::Model& source, const plan::Plan& plan,
                   const std::vector<passes::Stored>& stored, ThreadPool& pool,
                   const QuantizeOptions& options, QuantizeResult& result) {
  const onnx::Model written = output.reopen();
  const graph::Index index = graph::verify(written);
  std::vector<kernels::ErrorNorms> norms(stored.size());
  run_jobs(
      pool, stored.size(), [&](std::size_t i) { return result.tensors[stored[i].decision].bytes_before; },
      [&](std::size_t i, const ForEach& for_each) {
        const auto& names = stored[i].names;
        const std::size_t body = plan.decisions[stored[i].decision].weight.body;
        const passes::WrittenWeight weight{find_tensor(index, body, names.codes),
                                           find_tensor(index, body, names.scales),
                                           find_tensor(index, body, names.zeros)};
        norms[i] =
            passes::compare_weight(source, plan.decisions[stored[i].decision], written, weight, for_each);
        if (options.progress != nullptr)
          options.progress->done += result.tensors[stored[i].decision].bytes_before;
      });
  kernels::ErrorNorms total;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    TensorOutcome& outcome = result.tensors[stored[i].decision];
    outcome.sqnr_db = norms[i].sqnr_db();
    outcome.max_abs_error = norms[i].max_abs;
    if (!(outcome.sqnr_db > kLeastSqnr) || std::isnan(norms[i].max_abs)) {
      throw Error(ErrorCode::kInternal,
                  fmt::format("the written weight decodes to something else ({:.1f} dB); nothing was written",
                              outcome.sqnr_db),
                  outcome.name);
    }
    if (plan.decisions[stored[i].decision].limit != 0) continue;  // meant to be another value
    total.signal += norms[i].signal;
    total.noise += norms[i].noise;
  }
  result.sqnr_db = total.sqnr_db();
}

// Throws for targets that nobody knows, and for arithmetic that a target has not.
const target::Provider& provider_of(const Recipe& recipe) {
  const target::Provider* provider = target::find_provider(target::parse_target(recipe.target).provider);
  if (recipe.format == Format::kBf16 && !provider->computes_bf16) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("ONNX Runtime's {} provider does not compute on bfloat16: name one that does "
                            "(--target cuda), or take --to w16, which is as small and runs everywhere",
                            provider->name));
  }
  return *provider;
}

// What people would otherwise find out on the device.
void note_target(const Recipe& recipe, QuantizeResult& result) {
  if (recipe.format != Format::kFp16 || provider_of(recipe).computes_fp16) return;
  if (target::parse_target(recipe.target).machine == "arm64") return;  // has kernels for most
  result.notes.emplace_back(
      "x86 CPUs compute this slower than FP32: ONNX Runtime has no 16-bit arithmetic there and casts around "
      "every "
      "op; --to w16 is as small at full speed, --target cuda, coreml … is for processors that have it");
}

// Integer ops are in place; what stays in floats is to be 16 bits.
bool computes_rest_on_halves(const Recipe& recipe) {
  return recipe.is_integer() && recipe.integer.half_rest && provider_of(recipe).computes_fp16;
}

QuantizeOptions for_this_machine(QuantizeOptions options) {
  auto& reduce_range = options.recipe.integer.reduce_range;
  const bool is_signed = options.recipe.integer.weights == WeightType::kS8;  // only those saturate
  if (!reduce_range) reduce_range = is_signed && !has_exact_byte_products();
  // Rounding for outputs leaves no mean error to correct.
  if (options.recipe.rounding == Rounding::kAdaptive) options.recipe.integer.correct_bias = false;
  return options;
}

// What the contract's rescaling, means and deviations come to, for inputs that are not sound.
std::map<std::string, RawInput> raw_inputs_of(const std::filesystem::path& model, const DataOptions& data) {
  std::map<std::string, RawInput> raw;
  const std::optional<Contract> contract = data.contract ? data.contract : contract_of(model);
  if (!contract) return raw;
  for (const auto& [name, input] : contract->inputs) {
    if (input.kind == InputKind::kAudio || (!input.rescale_factor && input.mean.empty())) continue;
    const std::size_t channels = std::max({input.mean.size(), input.deviation.size(), std::size_t{1}});
    const auto at = [](const std::vector<double>& values, std::size_t c, double otherwise) {
      return values.empty() ? otherwise : values[values.size() == 1 ? 0 : c];
    };
    RawInput& entry = raw[name];
    for (std::size_t c = 0; c < channels; ++c) {
      const double deviation = at(input.deviation, c, 1);
      entry.scale.push_back(input.rescale_factor.value_or(1) / deviation);
      entry.offset.push_back(-at(input.mean, c, 0) / deviation);
    }
  }
  return raw;
}

// The recipe with all that is found by measuring.
Recipe settle(const std::filesystem::path& path, const QuantizeOptions& given,
              std::shared_ptr<const api::Groundwork>& ground, QuantizeResult& result) {
  QuantizeOptions options = given;
  if (options.recipe.integer.integer_io)
    options.recipe.integer.raw_inputs = raw_inputs_of(path, options.trial.data);
  // Without data there is nothing to measure on, and a correction is only taken when it helps.
  if (ground->is_trained()) return options.recipe;
  if (options.trial.data.is_generated()) options.recipe.integer.correct_bias = false;
  if (ground->ranges() != nullptr && ground->ranges()->samples < kFewSamples &&
      options.recipe.integer.calibration == CalibrationMethod::kAuto) {
    options.recipe.integer.calibration = CalibrationMethod::kMinMax;
    result.notes.push_back(
        fmt::format("calibrated on {} sample{} only: ranges are all that occurred, and other "
                    "data may go beyond; give 100 or more",
                    ground->ranges()->samples, ground->ranges()->samples == 1 ? "" : "s"));
  }
  const bool can_measure = !options.trial.data.is_generated() && ground->ranges() != nullptr;
  if (!can_measure) return options.recipe;
  if (!options.recipe.integer.search) {
    if (api::may_even_out(options)) {
      if (auto even = ground->equalized(options)) ground = std::move(even);
    }
    return options.recipe;
  }
  api::Refinement refined = api::refine(path, ground, options);
  result.notes.insert(result.notes.end(), refined.notes.begin(), refined.notes.end());
  ground = std::move(refined.ground);
  return std::move(refined.recipe);
}

}  // namespace

std::size_t QuantizeResult::stored_count() const {
  return static_cast<std::size_t>(
      std::count_if(tensors.begin(), tensors.end(), [](const TensorOutcome& t) { return t.stored; }));
}

std::filesystem::path default_output(const std::filesystem::path& model, Format format) {
  const auto suffix = [&]() -> std::string {
    switch (format) {
      case Format::kW4: return ".w4";
      case Format::kW16: return ".w16";
      case Format::kDynamic: return ".dynamic";
      case Format::kStatic: return ".static";
      case Format::kFp16: return ".fp16";
      case Format::kBf16: return ".bf16";
      case Format::kW8: break;
    }
    return ".w8";
  }();
  std::filesystem::path output = model;
  return output.replace_extension(suffix + model.extension().string());
}

QuantizeResult quantize(const std::filesystem::path& path, const std::filesystem::path& output_path,
                        const QuantizeOptions& given) {
  const Stopwatch time;
  const QuantizeOptions options = for_this_machine(given);
  provider_of(options.recipe);
  ThreadPool pool(options.threads);
  QuantizeResult result;
  result.model = path;
  result.output = output_path;

  // Open: every byte of the structure is checked, no weight has been read yet.
  const onnx::Model original = onnx::read_model(path);
  const graph::Index original_index = graph::verify(original);
  api::require_another_file(original, output_path, "the output would replace the input; choose another -o");
  if (!options.dry_run) require_folder(output_path);
  result.bytes_before = api::bytes_of(original);
  auto chosen = std::make_shared<const api::Groundwork>(path, options);
  Recipe recipe = settle(path, options, chosen, result);
  // A provider alone says nothing of the release, and its kernels were not measured.
  if (const target::Target target = target::parse_target(recipe.target);
      !recipe.target.empty() && target.is_place())
    recipe = api::fit_to_target(original, *chosen, recipe, target, pool, result.notes);
  std::vector<TensorOutcome> integer_tensors;
  if (computes_rest_on_halves(recipe)) {
    chosen = chosen->with_integers(recipe, pool, result);
    integer_tensors = std::exchange(result.tensors, {});
    recipe.format = Format::kFp16;
    if (const target::Target target = target::parse_target(recipe.target); target.is_place())
      recipe = api::fit_to_target(original, *chosen, recipe, target, pool, result.notes);
  }
  const api::Groundwork& ground = *chosen;
  const onnx::Model source = onnx::read_model(ground.model());
  const graph::Index index = graph::verify(source);

  // Plan: a decision and a reason for every float tensor.
  begin_stage(options, "reading weights", 0);
  plan::Plan plan = plan::make_plan(source, index, recipe, pool, ground.ranges());
  if (recipe.rounding == Rounding::kAdaptive) {
    const api::AdaptiveResult rounded = api::round_adaptively(ground, options, source, index, plan, pool);
    result.notes.push_back(
        fmt::format("{} layers rounded for their outputs: {:.1f} dB closer to them than "
                    "nearest rounding",
                    rounded.layers, rounded.gain_db));
    for (const std::string& reason : rounded.left_alone)
      result.notes.push_back("rounded to nearest: " + reason);
  }
  if (recipe.is_integer() && !given.recipe.integer.reduce_range && *recipe.integer.reduce_range) {
    result.notes.emplace_back(
        "weights have 7 bits, as this CPU has no VNNI; --no-reduce-range for CPUs that have it");
  }
  note_target(recipe, result);
  result.notes.insert(result.notes.begin(), ground.notes().begin(), ground.notes().end());
  result.notes.insert(result.notes.end(), plan.notes.begin(), plan.notes.end());
  api::describe_integers(plan.integer, index, result);
  api::describe_halves(plan.half, index, result);
  result.nodes.insert(result.nodes.end(), ground.float_ops().begin(), ground.float_ops().end());
  std::uint64_t stored_source = 0;
  for (const plan::Decision& decision : plan.decisions) {
    result.tensors.push_back(api::outcome_of(decision, index));
    if (decision.is_stored()) stored_source += decision.weight.tensor->byte_count();
  }
  // Whatever changes the bytes of the result belongs in here: the name of a data file is made of it.
  result.plan_digest = hex(digest_of(fmt::format("{}{} {} {}", plan.text(), static_cast<int>(recipe.scale),
                                                 static_cast<int>(recipe.rounding), version())));
  if (integer_tensors.empty())
    require_something_to_do(plan, ground, path);  // otherwise the integers are enough

  // Passes: a second reading of the file is edited; the first one stays the truth to compare with.
  onnx::Model model = onnx::read_model(ground.model());
  api::require_same_file(source, model);
  result.source_digest = ground.model() == path
                             ? api::source_digest(source, plan, pool)
                             : api::source_digest(original, plan::unread_plan(original_index), pool);
  const auto [stored, shortened] =
      api::rewrite(model, source, index, plan, {result.plan_digest, result.source_digest});
  if (shortened != 0) {
    result.notes.push_back(
        fmt::format("names inside of the model were shortened, which saves {} bytes; --keep-names keeps them",
                    shortened));
  }

  // Write: the file has its full size and no name; weights are quantized on their way into it.
  const std::string tag = hex(digest_of(result.source_digest + result.plan_digest)).substr(0, 16);
  const onnx::WriteOptions write_options{options.external_data, tag};
  if (options.dry_run) {
    result.bytes_after = onnx::written_size(model, output_path, write_options);
    result.sqnr_db = std::nan("");
    result.seconds = time.seconds();
    return result;
  }
  begin_stage(options, "writing", stored_source);
  onnx::ModelOutput output(model, output_path, write_options);
  output.write(pool, options.progress == nullptr ? nullptr : &options.progress->done);
  result.bytes_after = output.total_bytes();

  // Check, and only then put it in its place.
  begin_stage(options, "checking", stored_source);
  check_written(output, source, plan, stored, pool, options, result);
  if (options.trial.is_wanted) {
    begin_stage(options, "running", 0);
    result.trial = api::try_written(path, output_path, output, recipe, options, result);
  }
  output.commit();
  result.tensors.insert(result.tensors.end(), integer_tensors.begin(), integer_tensors.end());
  result.seconds = time.seconds();
  return result;
}

}  // namespace ounce
