// Writes a folder with the variants of a model that Hugging Face tools expect, with configuration, tokenizer
// and a model card. Every variant is compared with the original and measured.
//
//   ounce::PublishOptions options;
//   options.verify.data.path = "val.npz";
//   const ounce::PublishResult result = ounce::publish("bert", "bert-onnx", options);
//   // bert-onnx/onnx/model.onnx, model_fp16.onnx, model_quantized.onnx …, config.json, tokenizer.json,
//   README.md
//
// The folder is written atomically. Variants that exceed a threshold are left out. Throws ounce::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ounce/bench.h>
#include <ounce/error.h>
#include <ounce/recipe.h>
#include <ounce/runtime.h>
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
  std::vector<std::string> variants;  // see variant_names(); empty: usual_variants()
  // The data, the runtime and the thresholds of every variant. INT8 variants are also run on its `cpus`
  // before they are written.
  VerifyOptions verify;
  double bench_seconds = 2;  // per model; 0: no speed and no memory in the model card
  std::string target;        // see Recipe::target
  ExternalData external_data = ExternalData::kAuto;
  bool replace = false;  // replace an existing folder, atomically
  unsigned threads = 0;
  Progress* progress = nullptr;
};

struct PublishedVariant {
  std::string variant;         // "q8"
  std::filesystem::path file;  // relative to the output: "onnx/model_quantized.onnx"
  bool is_written = false;
  bool is_gate_failure = false;  // not written, because it exceeds a threshold
  std::string why_not;           // if it was not written
  Format format = Format::kFp32;
  std::uint64_t bytes = 0;
  double ratio = 1;
  std::optional<VerifyResult> verified;  // unset for the original
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
  std::vector<std::filesystem::path> configs, carried;  // written and copied files, relative to the output
  std::vector<std::string> notes;
  std::string runtime_version, cpu;  // of the measurements
  double seconds = 0;

  std::size_t written() const;  // variants
  bool passed() const;          // every variant was written
};

// Writes the variants of `input`, a model or a folder with models, configuration and tokenizer, to the folder
// `output`. Throws Error{kUsage} if the output exists and may not be replaced, or is inside of the input.
PublishResult publish(const std::filesystem::path& input, const std::filesystem::path& output,
                      const PublishOptions& options);

// Return all variants, and the default ones.
std::vector<std::string> variant_names();
std::vector<std::string> usual_variants();

// Returns the name of the original of a variant: "model" for "model_q4"; empty for "model".
std::string original_of(const std::string& stem);

// Returns the models of a folder, sorted, without variants of another model in it (model_fp16.onnx if there
// is a model.onnx).
std::vector<std::filesystem::path> originals_in(const std::filesystem::path& folder);

}  // namespace ounce
