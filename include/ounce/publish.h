// A folder as people expect to find a model: every variant of it, made, gated and measured, with the
// configuration, the tokenizer and a model card.
//
//   ounce::PublishOptions options;
//   options.verify.data.path = "val.npz";
//   const ounce::PublishResult result = ounce::publish("bert", "bert-onnx", options);
//   // bert-onnx/onnx/model.onnx, model_fp16.onnx, model_quantized.onnx …, config.json, tokenizer.json,
//   README.md
//
// The folder appears whole or not at all. A variant that fails its gate is not in it. Throws ounce::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ounce/bench.h>
#include <ounce/names.h>
#include <ounce/progress.h>
#include <ounce/recipe.h>
#include <ounce/verify.h>

namespace ounce {

enum class Layout {
  kHuggingFace,  // onnx/model_q4.onnx and onnx/model_q4.onnx_data, as transformers.js and optimum look for
                 // them
  kGenai,        // q4/model.onnx, q4/model.onnx.data and q4/genai_config.json: a folder for each variant
  kPlain,        // model.q4.onnx and model.q4.onnx.data
};
template <>
struct NamesOf<Layout> {
  static constexpr Named<Layout> kAll[] = {
      {Layout::kHuggingFace, "huggingface"}, {Layout::kGenai, "genai"}, {Layout::kPlain, "plain"}};
};

struct PublishOptions {
  Layout layout = Layout::kHuggingFace;
  std::vector<std::string> variants;  // by their names (variant_names()); empty: the usual ones
  // The data, the runtime and the gate of every variant. Those that compute on integers are run on its `cpus`
  // as well before they are written.
  VerifyOptions verify;
  double bench_seconds = 2;  // for each model; 0: no speed and no memory in the model card
  std::string target;        // see Recipe::target
  ExternalData external_data = ExternalData::kAuto;
  bool replace = false;  // a folder that stands at the output, in one step
  unsigned threads = 0;
  Progress* progress = nullptr;
};

struct PublishedVariant {
  std::string variant;         // "q8"
  std::filesystem::path file;  // below the output: "onnx/model_quantized.onnx"
  bool is_written = false;     // otherwise:
  bool is_gate_failure = false;
  std::string why_not;
  Format format = Format::kFp32;
  std::uint64_t bytes = 0;
  double ratio = 1;
  std::optional<VerifyResult> verified;  // nothing of the original
  std::optional<BenchResult> bench;
  std::map<std::string, std::string> releases;  // see Statement::releases
  std::vector<std::string> notes;
};

struct PublishedModel {
  std::filesystem::path model;  // the original
  std::vector<PublishedVariant> variants;
};

struct PublishResult {
  std::filesystem::path output;
  Layout layout = Layout::kHuggingFace;
  std::vector<PublishedModel> models;
  std::vector<std::filesystem::path> configs, carried;  // below the output: written by us, and copied
  std::vector<std::string> notes;
  std::string runtime_version, cpu;  // of what was measured
  double seconds = 0;

  std::size_t written() const;  // variants
  bool passed() const;          // every variant was written
};

// `input` is a model, or a folder with models and all that belongs to them. Error{kUsage} when the output is
// there and may not be replaced, or stands in the input.
PublishResult publish(const std::filesystem::path& input, const std::filesystem::path& output,
                      const PublishOptions& options);

// All that there are, and those that are made when none are chosen.
std::vector<std::string> variant_names();
std::vector<std::string> usual_variants();

// The name of the model that a file is a variant of, by its own: "model" for "model_q4", and empty for
// "model".
std::string original_of(const std::string& stem);

// The models of a folder, sorted, without those that are a variant of one beside it (model_fp16.onnx beside
// model.onnx).
std::vector<std::filesystem::path> originals_in(const std::filesystem::path& folder);

}  // namespace ounce
