// The trial of a written model. FP16 and BF16 models are tried as written, and again with emulated rounding
// of every result, as on a processor with 16-bit arithmetic (formats/onnx/emit/half_graph.h).
#include <fmt/format.h>
#include <ounce/error.h>

#include "base/quality.h"
#include "base/thread_pool.h"
#include "formats/onnx/emit/half_graph.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/plan/kernel_costs.h"
#include "formats/onnx/view/onnx_file.h"
#include "formats/open.h"
#include "io/temporary_files.h"
#include "quantize/pipeline.h"
#include "recipe/format_info.h"
#include "target/litert/litert_target.h"
#include "target/ort/saturation.h"
#include "target/target.h"

namespace ounce::quantization {
namespace {

// Dequantizing weights changes the time of a run by a few percent, INT8 by more.
constexpr Timing kOfDecoding = {.shortest = 0.005, .seconds = 2},
                 kOfIntegers = {.shortest = 0, .seconds = 0.3};

// Writes a model that emulates 16-bit arithmetic on this CPU.
std::filesystem::path write_emulation(onnx::Model model, ElementType half, const TemporaryFolder& folder) {
  passes::emulate_halves(model, half);
  const std::filesystem::path path = folder.path() / "model.onnx";
  ThreadPool pool;
  onnx::write_temporary(model, path, pool);
  return path;
}

// Only INT8 arithmetic differs between CPUs. With the full range of weights, skip CPUs whose products
// saturate.
std::vector<std::string> cpus_for(const Recipe& recipe, std::vector<std::string> cpus) {
  if (!recipe.is_integer()) return {};
  if (recipe.integer.reduce_range == false) std::erase_if(cpus, target::is_without_exact_products);
  return cpus;
}

const char* advice_for(const QuantizeOptions& options) {
  return options.trial.data.is_generated()
             ? "give `data`, so that values beyond the range are found and kept in FP32"
             : "use `half.keep` to keep nodes in FP32";
}

// Values beyond the FP16 range become infinite.
TrialResult try_halves(const model::ModelFile& original, const WrittenFiles& written,
                       const QuantizeOptions& options, const Work& work) {
  TrialOptions trial = options.trial;
  trial.is_timed = false;
  try {
    return try_model(original, written, trial, {{}, work});
  } catch (const NotFinite&) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("values of the model exceed the FP16 range, so nothing was written: {}",
                            advice_for(options)),
                original.path().string());
  }
}

TrialResult try_integers_or_storage(const Quantization& q, const WrittenFiles& written, const Work& work) {
  const bool is_integer = q.recipe.is_integer();
  TrialOptions trial = q.options.trial;
  trial.cpus = cpus_for(q.recipe, trial.cpus);
  if (q.file->kind() == ModelKind::kTflite)
    trial.cpus.clear();  // XNNPACK's INT8 kernels are exact on every CPU
  trial.is_timed = trial.is_timed && (q.recipe.memory == MemoryUse::kBalanced || is_integer);
  return try_model(*q.file, written, trial, {is_integer ? kOfIntegers : kOfDecoding, work, is_integer});
}

// The CPU provider does not load BF16 models, and skips FP16 rounding where it can: emulate both.
TrialResult try_rounded_halves(Quantization& q, WrittenFiles written, const Work& work) {
  const QuantizeOptions& options = q.options;
  const bool is_bfloat = info_of(q.recipe.format).arithmetic == Arithmetic::kBfloat16;
  if (!is_bfloat) try_halves(*q.file, written, options, work);
  const TemporaryFolder folder("halves");
  written.model = write_emulation(onnx::clone(onnx::as_onnx(*q.written).model()),
                                  is_bfloat ? ElementType::kBfloat16 : ElementType::kFloat16, folder);
  written.external_data_paths.clear();
  TrialResult trial = try_halves(*q.file, written, options, work);
  if (!trial.is_tried || trial.samples == 0) return trial;
  if (options.recipe.is_half() && trial.sqnr_db < Quality::kHopeless) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("in 16-bit arithmetic the output SQNR is only {:.1f} dB, so nothing was written: {}; "
                    "`trial.is_wanted=false` writes the model anyway",
                    trial.sqnr_db, advice_for(options)),
        q.path().string());
  }
  q.result.notes.push_back(
      fmt::format("output SQNR was measured with every result rounded to {}", is_bfloat ? "BF16" : "FP16"));
  if (info_of(options.recipe.format).arithmetic == Arithmetic::kFloat16 && trial.sqnr_db < Quality::kVeryGood)
    q.result.notes.push_back(
        fmt::format("{:.1f} dB is low for FP16: {}", trial.sqnr_db, advice_for(options)));
  return trial;
}

// True if timings on this CPU apply to the target.
bool is_timed_on_target(const Recipe& recipe) {
  if (target::names_litert(recipe.target)) {
    const target::LitertTarget litert = target::parse_litert_target(recipe.target);
    return litert.accelerator.empty() && litert.machine == target::parse_litert_target("").machine;
  }
  const target::Target target = target::parse_target(recipe.target);
  return recipe.target.empty() ||
         (target.provider == "cpu" && target.machine == target::parse_target("").machine);
}

// Throws if the INT8 model is clearly slower than the original (a note if `trial.allow_slower`). Small layers
// gain little from INT8 kernels and pay for the conversions around them.
void refuse_slowness(const Recipe& recipe, const QuantizeOptions& options, QuantizeResult& result) {
  constexpr double kClearly = 0.95, kNoticeable = 50e-6;  // seconds per call
  const auto& speed = result.trial.speed_up;
  if (!recipe.is_integer() || !speed || !speed->is_measurable || speed->high > kClearly) return;
  if (result.trial.seconds_after - result.trial.seconds_before < kNoticeable) return;
  const std::string how_slow = fmt::format(
      "the INT8 model runs at {:.2f}× the speed of the original on this CPU (95 % confidence: "
      "{:.2f}× or less)",
      speed->ratio, speed->high);
  const char* remedy =
      "`format=w8` gives the same size at FP32 speed, and `tune()` finds faster mixed precision";
  if (options.trial.allow_slower || !is_timed_on_target(recipe)) {
    result.notes.push_back(fmt::format("{}; {}", how_slow, remedy));
    return;
  }
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("{}, so nothing was written; {}; `trial.allow_slower=true` writes it", how_slow, remedy),
      result.model.string());
}

}  // namespace

void run_trial(Quantization& q) {
  if (q.options.trial.is_wanted) {
    begin_stage(q.options, "running", 0);
    const io::UnfinishedFiles files = q.emitted->files();
    WrittenFiles written{files.model, files.data, q.output_path(), q.written->quantized_ports()};
    Work work;
    if (q.file->kind() == ModelKind::kOnnx)
      work = [&](const auto& inputs) {
        return plan::multiplications(q.source().model(), q.source().index(), inputs);
      };
    q.result.trial = q.recipe.is_half() ? try_rounded_halves(q, std::move(written), work)
                                        : try_integers_or_storage(q, written, work);
    if (!q.result.trial.slice.empty())
      q.result.notes.push_back(
          fmt::format("output SQNR is that of {}, which differs in kind or scale from the rest of the output",
                      q.result.trial.slice));
  }
  refuse_slowness(q.recipe, q.options, q.result);
  const bool is_onnx = q.file->kind() == ModelKind::kOnnx;  // may dequantize weights at run time
  if (std::string note = decoding_note(q.recipe, q.result.trial); is_onnx && !note.empty())
    q.result.notes.push_back(std::move(note));
  // The written model loads and runs, its outputs are finite where the source's are, and the result contains
  // its output error and speed.
}

TrialResult try_file(const model::ModelFile& original, const std::filesystem::path& model,
                     const Recipe& recipe, const TrialOptions& options) {
  TrialOptions trial = options;
  trial.is_timed = false;
  trial.cpus.clear();
  if (original.kind() != ModelKind::kOnnx)
    return try_model(original, {model, {}, model, formats::open_model(model)->quantized_ports()}, trial, {});
  onnx::Model read = onnx::read_model(model);
  WrittenFiles written{model, {}, model, onnx::quantized_ports_of(read)};
  if (!recipe.is_half() && !has_fp16_remainder(recipe)) return try_model(original, written, trial, {});
  const TemporaryFolder folder("halves");
  written.model =
      write_emulation(std::move(read),
                      info_of(recipe.format).arithmetic == Arithmetic::kBfloat16 ? ElementType::kBfloat16
                                                                                 : ElementType::kFloat16,
                      folder);
  return try_model(original, written, trial, {});
}

bool has_fp16_remainder(const Recipe& recipe) {
  if (!recipe.is_integer() || !recipe.integer.fp16_remainder || target::names_litert(recipe.target))
    return false;
  const target::Provider* const provider =
      target::find_provider(target::parse_target(recipe.target).provider);
  return provider != nullptr && provider->computes_fp16;
}

std::string decoding_note(const Recipe& recipe, const TrialResult& trial) {
  const std::optional<SpeedUp>& speed = trial.speed_up;
  if (recipe.memory != MemoryUse::kBalanced || !speed) return {};
  if (!speed->is_reliable || speed->rounds < SpeedUp::kLeastRounds) return {};
  if (speed->high >= 1 - recipe.decode_share) return {};
  return fmt::format(
      "dequantization may take {:.3g} % of a run but took {:.0f} % (95 % confidence: {:.0f} % or more); a "
      "smaller `decode_share` reduces it",
      100 * recipe.decode_share, 100 * (1 / speed->ratio - 1), 100 * (1 / speed->high - 1));
}

}  // namespace ounce::quantization
