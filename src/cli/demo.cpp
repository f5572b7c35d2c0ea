// `ounce demo` runs the main verbs on a model that is embedded in the program.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/bench.h>
#include <ounce/error.h>
#include <ounce/model.h>
#include <ounce/quantize.h>
#include <ounce/search.h>
#include <ounce/verify.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "io/temporary_files.h"
#include "report/html/page.h"
#include "report/reports.h"
#include "results/results.h"
#include "verbs/report_file.h"
#include "verbs/verb.h"

// Embeds the voice-command model of examples/commands as ONNX and as TFLite, and 64 of its validation clips:
// a .npz with `audio`, int16 [64, 8000] at 8 kHz, and `label`. The assembler includes the files, so that they
// need not be converted to source code.
#define OUNCE_EMBED(name, file)      \
  asm(".section .rodata\n"           \
      ".balign 16\n" #name           \
      ":\n"                          \
      ".incbin \"" file "\"\n" #name \
      "_end:\n"                      \
      ".previous\n");                \
  extern "C" const char name[], name##_end[]

OUNCE_EMBED(ounce_embedded_model, OUNCE_EXAMPLE_MODEL);
OUNCE_EMBED(ounce_embedded_tflite, OUNCE_EXAMPLE_TFLITE);
OUNCE_EMBED(ounce_embedded_data, OUNCE_EXAMPLE_DATA);

namespace ounce::cli {
namespace demo_verb {

using verbs::Host;
using verbs::safe_format;

namespace fs = std::filesystem;

std::string_view between(const char* first, const char* end) {
  return {first, static_cast<std::size_t>(end - first)};
}

void write(const fs::path& path, std::string_view bytes) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))
    throw Error(ErrorCode::kUsage, "exists and is not a regular file", path.string());
  std::ofstream(path, std::ios::binary) << bytes;
  std::error_code error;
  if (fs::file_size(path, error) != bytes.size() || error)
    throw Error(ErrorCode::kIo, "cannot write the example", path.string());
}

// The results for the HTML report, which is written if the files are kept.
using Runs = std::vector<report::html::Run>;

void show_inspect(Host& host) {
  host.say(verbs::Stream::kResults, fmt::format("$ ounce inspect commands.onnx\n{}\n",
                                                report::inspect_text(inspect("commands.onnx"), 5)));
}

// Stores the preprocessing of recordings in the model, so that later calls need no options for it.
void show_contract(Host& host, const DataOptions* data) {
  host.say(
      verbs::Stream::kResults,
      safe_format(
          "$ ounce contract set commands.onnx -o model.onnx --rate 8000 --length 8000 --rescale 1/32768{}\n",
          data == nullptr ? "" : " --data clips.npz"));
  Contract contract;
  InputContract& audio = contract.inputs["audio"];
  audio.kind = InputKind::kAudio;
  audio.sampling_rate = 8000;
  audio.length = 8000;
  audio.rescale_factor = 1.0 / 32768;
  const Contract written = set_contract("commands.onnx", "model.onnx", contract, data, {});
  const auto& observed = written.inputs.at("audio").observed;
  if (observed) {
    host.say(verbs::Stream::kResults, safe_format("{} clips observed, values from {:.2f} to {:.2f}\n",
                                                  observed->samples, observed->minimum, observed->maximum));
  }
  host.say(verbs::Stream::kResults, "\n");
}

void show_quantize(Host& host, const DataOptions* data, Runs& runs) {
  std::vector<report::QuantizeRow> rows;
  const auto add = [&](Format format, bool codebook, const char* name) {
    host.say(verbs::Stream::kResults,
             safe_format("$ ounce quantize model.onnx --to {}{} -o {}{}\n", name_of(format),
                         codebook ? " --codebook" : "", name, data == nullptr ? "" : " --data clips.npz"));
    QuantizeOptions options;
    options.recipe.format = format;
    options.recipe.codebook = codebook;
    options.pictures = true;
    if (data != nullptr) options.trial.data = *data;
    rows.push_back({"model.onnx", quantize("model.onnx", name, options), {}, 0});
  };
  add(Format::kW16, false, "model.w16.onnx");
  add(Format::kW8, false, "model.w8.onnx");
  add(Format::kW8, true, "model.w8-codebook.onnx");
  add(Format::kW4, false, "model.w4.onnx");
  add(Format::kFp16, false, "model.fp16.onnx");
  if (data != nullptr) {
    add(Format::kInt8Dynamic, false, "model.int8-dynamic.onnx");
    add(Format::kInt8, false, "model.int8.onnx");
  }
  runs.push_back({"", results::Document("quantize").add(rows.back()).json("")});
  host.say(verbs::Stream::kResults,
           fmt::format("{}\nBefore each file was written, it was reopened{}its weights were compared with "
                       "the original.\n\n",
                       report::quantize_table(rows, false),
                       data == nullptr ? " and " : ", its outputs were compared with the original, and "));
}

void show_verify(Host& host, const DataOptions& data, Runs& runs) {
  VerifyOptions options;
  options.data = data;
  options.data.labels = "label";
  options.gates.max_drop = 0.02;
  options.pictures = true;
  std::vector<report::VerifyRow> rows;
  for (const char* small : {"model.w8.onnx", "model.int8.onnx"}) {
    rows.push_back({small, verify("model.onnx", small, options), {}, 0});
    host.say(verbs::Stream::kResults,
             fmt::format("$ ounce verify model.onnx {} --data clips.npz --labels label --max-drop 2%\n{}\n",
                         small, report::verify_text(rows.back().result)));
  }
  runs.push_back({"", results::Document("verify").add(rows).json("")});
}

void show_bench(Host& host, const DataOptions& data, Runs& runs) {
  BenchOptions options;
  options.data = data;
  options.seconds = 0.5;
  options.cold_starts = 1;
  const BenchReport timed = bench({"model.onnx", "model.w8.onnx", "model.int8.onnx"}, options);
  runs.push_back({"", results::Document("bench").add(timed).json("")});
  host.say(verbs::Stream::kResults,
           fmt::format("$ ounce bench model.onnx model.w8.onnx model.int8.onnx -t 0.5 --cold-starts 1 --data "
                       "clips.npz\n{}\n",
                       report::bench_text(timed)));
}

void show_sensitivity(Host& host, const DataOptions& data, Runs& runs) {
  SensitivityOptions options;
  options.data = data;
  options.grouping = Grouping::kBlock;
  options.keep = false;
  const SensitivityResult result = sensitivity("model.onnx", options);
  runs.push_back({"", results::Document("sensitivity").add(result).json("")});
  host.say(verbs::Stream::kResults,
           fmt::format("$ ounce sensitivity model.onnx --data clips.npz --by block\n{}\n",
                       report::sensitivity_text(result, options.min_sqnr)));
}

void show_tune(Host& host, const DataOptions& data, Runs& runs) {
  TuneOptions options;
  options.data = data;
  options.data.labels = "label";
  options.gates.max_drop = 0.05;  // half of the clips are too few to confirm a smaller drop
  options.budget.models = 40;
  options.keep = false;
  const TuneResult result = tune("model.onnx", "model.tuned.onnx", options);
  runs.push_back({"", results::Document("tune").add(result).json("")});
  host.say(
      verbs::Stream::kResults,
      fmt::format(
          "$ ounce tune model.onnx --data clips.npz --labels label --max-drop 5% --budget '40 models'\n{}\n",
          report::tune_text(result)));
}

// Checks the provenance record of a model and reproduces the model.
void show_prove(Host& host, const DataOptions& data) {
  ProveOptions options;
  options.source = "model.onnx";
  options.data = data;
  host.say(verbs::Stream::kResults,
           fmt::format("$ ounce prove model.int8.onnx --source model.onnx --data clips.npz\n{}\n",
                       report::prove_text(prove("model.int8.onnx", options))));
}

// Runs without labels: 64 clips cannot confirm a drop of half a point of accuracy, but they show the output
// error. The budget is long enough for a busy machine, too.
void show_advice(Host& host, const DataOptions& data, Runs& runs) {
  AdviseOptions options;
  options.data = data;
  options.budget = 30;
  const AdviseResult result = advise("model.onnx", options);
  runs.push_back({"", results::Document("advise").add(result).json("")});
  host.say(verbs::Stream::kResults,
           fmt::format("$ ounce advise model.onnx --data clips.npz --budget 30s\n{}\n",
                       report::advise_text(result)));
}

void show_check(Host& host, bool has_integers, Runs& runs) {
  const CheckOptions options{{"android-arm64@1.22.0", "linux-x64@1.30.0", "linux-x64@1.14.0"}};
  std::vector<report::CheckRow> rows;
  for (const char* model : {"model.fp16.onnx", has_integers ? "model.int8.onnx" : "model.w8.onnx"}) {
    rows.push_back({model, check(model, options), {}, 0});
    host.say(verbs::Stream::kResults,
             fmt::format("$ ounce check {} --target {}\n{}\n", model, fmt::join(options.targets, ","),
                         report::check_text(rows.back().result)));
  }
  runs.push_back({"", results::Document("check").add(rows).json("")});
}

// Checks and compares the same model in TFLite format. Checking needs no runtime, comparing needs ONNX
// Runtime and LiteRT.
void show_tflite(Host& host, const DataOptions* data) {
  const CheckOptions targets{{"android-arm64@litert-2.3.0", "android-arm64@tflite-2.9.0"}};
  host.say(verbs::Stream::kResults,
           fmt::format("$ ounce check commands.tflite --target {}\n{}\n", fmt::join(targets.targets, ","),
                       report::check_text(check("commands.tflite", targets))));
  if (data == nullptr) return;
  VerifyOptions options;
  options.data = *data;
  host.say(verbs::Stream::kResults, "$ ounce verify model.onnx commands.tflite --data clips.npz\n");
  try {
    const VerifyResult compared = verify("model.onnx", "commands.tflite", options);
    host.say(verbs::Stream::kResults, report::verify_text(compared) + "\n");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo && error.code() != ErrorCode::kUnsupported) throw;
    host.say(verbs::Stream::kResults, safe_format("The TFLite model was not run: {}\n\n", error.what()));
  }
}

struct Arguments {
  std::string output;
};

void declare(verbs::Options& options, Arguments& arguments) {
  options.add_option("-o,--output", arguments.output,
                     "Keep the files and an HTML report in this folder (default: keep nothing)");
}

int run(const Arguments& arguments, Host& host, const verbs::Options&) {
  const std::string& output = arguments.output;
  std::unique_ptr<TemporaryFolder> temporary;
  fs::path folder = output;
  if (output.empty()) {
    temporary = std::make_unique<TemporaryFolder>("demo");
    folder = temporary->path();
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::kIo, fmt::format("cannot make the folder: {}", error.message()), folder.string());
  folder = fs::absolute(folder);
  fs::current_path(folder);  // so that the tables show short names
  if (!output.empty()) verbs::require_page("report.html");
  write("commands.onnx", between(ounce_embedded_model, ounce_embedded_model_end));
  write("commands.tflite", between(ounce_embedded_tflite, ounce_embedded_tflite_end));
  write("clips.npz", between(ounce_embedded_data, ounce_embedded_data_end));

  DataOptions data;
  data.path = "clips.npz";
  const bool can_run = !installed_runtimes().empty();
  host.say(verbs::Stream::kResults,
           "The model classifies one second of audio into ten voice commands (yes, no, up, down …).\n\n");
  show_inspect(host);
  show_contract(host, can_run ? &data : nullptr);
  Runs runs;
  show_quantize(host, can_run ? &data : nullptr, runs);
  show_check(host, can_run, runs);
  show_tflite(host, can_run ? &data : nullptr);
  if (can_run) {
    show_verify(host, data, runs);
    show_bench(host, data, runs);
    show_sensitivity(host, data, runs);
    show_tune(host, data, runs);
    show_prove(host, data);
    show_advice(host, data, runs);
  } else {
    host.say(verbs::Stream::kResults,
             "No ONNX Runtime was found, so no model was run. Install it with 'pip install onnxruntime', or "
             "with './setup runtime' in a source tree.\n");
  }
  if (!output.empty()) {
    verbs::write_page("report.html", report::html::page(runs));
    host.say(verbs::Stream::kResults,
             safe_format("The files are in {}; report.html shows all results.\n", folder.string()));
  }
  return 0;
}

constexpr std::string_view kExamples[] = {"ounce demo", "ounce demo -o demo/"};

}  // namespace demo_verb

extern constinit const verbs::VerbInfo kDemo = {
    .name = "demo",
    .summary = "Run the main commands on an embedded sample model",
    .audience = verbs::Audience::kEveryday,
    .examples = demo_verb::kExamples,
    .call = verbs::call_of<demo_verb::Arguments, demo_verb::declare, demo_verb::run>};

}  // namespace ounce::cli
