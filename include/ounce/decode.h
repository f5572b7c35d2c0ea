// Measures language models on texts: a prompt, then one token at a time, with the KV cache.
//
//   ounce::DecodeReport report = ounce::decode({"model.onnx", "model.nbits4.onnx"}, options);
//   // report.models[1].flips: tokens that the second model predicts differently
//
// Texts are rows of token ids. Every model gets the next token of the text, not its own prediction (teacher
// forcing), so that all models see the same input and perplexity is that of the text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <ounce/bench.h>
#include <ounce/data.h>
#include <ounce/progress.h>
#include <ounce/runtime.h>

namespace ounce {

struct DecodeOptions {
  RuntimeOptions runtime;
  // Texts: one row of token ids each; random ids without data. `carry` maps cache inputs to outputs; without
  // it, they are paired by name (past_key_values.0.key and present.0.key).
  DataOptions data;
  std::uint64_t prompt = 16;  // length of the prompt in tokens
  std::uint64_t tokens = 64;  // tokens after the prompt, at most
  // Thresholds for every model but the first: the share of changed tokens, and the rise of the mean negative
  // log-likelihood. Unset thresholds do not apply.
  std::optional<double> max_flips, max_nll_rise;
  Progress* progress = nullptr;
};

struct DecodeResult {
  std::filesystem::path model;
  std::uint64_t bytes = 0;
  bool is_cached = false;   // has a KV cache; otherwise each token processes the whole text so far
  Latency first_token;      // of the prompt
  Latency next_token;       // of each later token
  double nll = 0;           // mean negative log-likelihood of the tokens after the prompt
  std::uint64_t flips = 0;  // tokens that the first model predicts differently
  bool passed = true;       // meets the thresholds, if there are any
  std::string verdict;      // "passed: …" or "failed: …"; empty without thresholds

  double perplexity() const;
};

struct DecodeReport {
  std::string runtime_version, cpu;
  unsigned threads = 1;
  bool is_generated = false;
  std::uint64_t texts = 0, prompt = 0;
  std::uint64_t tokens = 0;  // after the prompts, of all texts together
  std::vector<DecodeResult> models;
  std::vector<std::string> notes;
};

// Runs `models` on the same texts; the first one is the reference. Throws Error.
DecodeReport decode(const std::vector<std::filesystem::path>& models, const DecodeOptions& options);

}  // namespace ounce
