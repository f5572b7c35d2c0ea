#include "quantize/try_written.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include "base/thread_pool.h"
#include "formats/onnx/emit/emulate_halves.h"
#include "formats/onnx/emit/integer_ports.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/writer.h"
#include "io/temporary_files.h"
#include "quantize/trial.h"
#include "target/ort/kernel_pairs.h"
#include "target/target.h"

namespace ounce::quantization {
namespace {

// Decoding weights changes some percent of a run; integers change more.
constexpr Timing kOfDecoding = {.shortest = 0.005, .seconds = 2},
                 kOfIntegers = {.shortest = 0, .seconds = 0.3};
// What 16-bit floats reach in all but ill-conditioned models.
constexpr double kCloseHalves = 40;
// Below this nobody would call it the same model.
constexpr double kLeastHalves = 10;

// The model as a CPU can show what the target will give.
std::filesystem::path write_emulation(onnx::Model model, ElementType half, const TemporaryFolder& folder) {
  passes::emulate_halves(model, half);
  const std::filesystem::path path = folder.path() / "model.onnx";
  ThreadPool pool;
  onnx::write_temporary(model, path, pool);
  return path;
}

// Only integer arithmetic differs from CPU to CPU; with all 8 bits it is meant for exact ones.
std::vector<std::string> cpus_for(const Recipe& recipe, std::vector<std::string> cpus) {
  if (!recipe.is_integer()) return {};
  if (recipe.integer.reduce_range == false) std::erase_if(cpus, target::is_without_exact_products);
  return cpus;
}

const char* advice_for(const QuantizeOptions& options) {
  return options.trial.data.is_generated()
             ? "give `data`, so that values beyond them are found and stay in FP32"
             : "`half.keep` leaves nodes in FP32";
}

// Values beyond the range show as infinities; data would have told which they are.
TrialResult try_halves(const std::filesystem::path& original, const WrittenFiles& written,
                       std::uint64_t bytes_before, const QuantizeOptions& options, const Work& work) {
  TrialOptions trial = options.trial;
  trial.is_timed = false;
  try {
    return try_model(original, written, bytes_before, trial, {{}, work});
  } catch (const NotFinite&) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("values of the model leave the range of 16-bit floats, so nothing was written: {}",
                    advice_for(options)),
        original.string());
  }
}

}  // namespace

TrialResult try_written(const std::filesystem::path& original, const std::filesystem::path& name,
                        const onnx::ModelOutput& output, const Recipe& recipe, const QuantizeOptions& options,
                        const Work& work, QuantizeResult& result) {
  const onnx::UnfinishedFiles files = output.unfinished_files();
  WrittenFiles written{files.model, files.data, name, passes::ports_of(output.reopen())};
  if (!recipe.is_half()) {
    TrialOptions trial = options.trial;
    trial.cpus = cpus_for(recipe, trial.cpus);
    trial.is_timed = trial.is_timed && (recipe.memory == MemoryUse::kBalanced || recipe.is_integer());
    return try_model(original, written, result.bytes_before, trial,
                     {recipe.is_integer() ? kOfIntegers : kOfDecoding, work, recipe.is_integer()});
  }
  // CPUs do not load bfloat16, and leave out the rounding of float16 where they can.
  const bool is_bfloat = recipe.format == Format::kBf16;
  if (!is_bfloat) try_halves(original, written, result.bytes_before, options, work);
  const TemporaryFolder folder("halves");
  written.model =
      write_emulation(output.reopen(), is_bfloat ? ElementType::kBfloat16 : ElementType::kFloat16, folder);
  written.stand_ins.clear();
  TrialResult trial = try_halves(original, written, result.bytes_before, options, work);
  if (!trial.is_tried || trial.samples == 0) return trial;
  if (options.recipe.is_half() && trial.sqnr_db < kLeastHalves) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("computed on 16-bit floats the outputs are only {:.1f} dB close, so nothing was written: "
                    "{}; `trial.is_wanted=false` writes all the same",
                    trial.sqnr_db, advice_for(options)),
        original.string());
  }
  result.notes.push_back(fmt::format("output SQNR is that of a processor that rounds every result to {}",
                                     is_bfloat ? "bfloat16" : "float16"));
  if (options.recipe.format == Format::kFp16 && trial.sqnr_db < kCloseHalves)
    result.notes.push_back(
        fmt::format("{:.1f} dB is far for 16-bit floats: {}", trial.sqnr_db, advice_for(options)));
  return trial;
}

TrialResult try_file(const std::filesystem::path& original, const std::filesystem::path& model,
                     const Recipe& recipe, const TrialOptions& options, std::uint64_t original_bytes) {
  WrittenFiles written{model, {}, model, passes::ports_of(onnx::read_model(model))};
  TrialOptions trial = options;
  trial.is_timed = false;
  trial.cpus.clear();
  if (!recipe.is_half() && !computes_rest_on_halves(recipe))
    return try_model(original, written, original_bytes, trial, {});
  const TemporaryFolder folder("halves");
  written.model = write_emulation(
      onnx::read_model(model),
      recipe.format == Format::kBf16 ? ElementType::kBfloat16 : ElementType::kFloat16, folder);
  return try_model(original, written, original_bytes, trial, {});
}

bool computes_rest_on_halves(const Recipe& recipe) {
  if (!recipe.is_integer() || !recipe.integer.half_rest) return false;
  const target::Provider* const provider =
      target::find_provider(target::parse_target(recipe.target).provider);
  return provider != nullptr && provider->computes_fp16;
}

}  // namespace ounce::quantization
