// Decoders as people use them: a prompt, then token after token, with whatever the model keeps of the past
// fed back to it.
//
//   ounce::DecodeReport report = ounce::decode({"model.onnx", "model.nbits4.onnx"}, options);
//   // report.models[1].flips: tokens that the second one would have chosen otherwise
//
// Texts are given as ids of tokens, and every model is fed with the text's own next token, whatever it would
// have chosen: so all of them are asked the same, and perplexity is that of the text.
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
  // Texts: a row of ids each. `carry` says what is fed back; without it, inputs and outputs are paired by
  // their names (past_key_values.0.key and present.0.key). Made-up ids without data.
  DataOptions data;
  std::uint64_t prompt = 16;  // ids of a text that are fed at once
  std::uint64_t tokens = 64;  // that follow, one by one, while the text lasts
  // What has to hold for every model but the first: the share of tokens that may flip, and how much the mean
  // nll may rise. Those that are not set do not decide.
  std::optional<double> max_flips, max_nll_rise;
  Progress* progress = nullptr;
};

struct DecodeResult {
  std::filesystem::path model;
  std::uint64_t bytes = 0;
  bool is_cached = false;   // keeps its past; otherwise all of the text so far is fed for every token
  Latency first_token;      // of the prompt
  Latency next_token;       // of those behind it
  double nll = 0;           // mean, of the text's tokens behind the prompt
  std::uint64_t flips = 0;  // tokens that the first model would have chosen otherwise
  bool passed = true;       // what DecodeOptions asks for, if anything
  std::string verdict;      // "passed: …", "failed: …"; empty where nothing was asked for

  double perplexity() const;
};

struct DecodeReport {
  std::string runtime_version, cpu;
  unsigned threads = 1;
  bool is_generated = false;
  std::uint64_t texts = 0, prompt = 0;
  std::uint64_t tokens = 0;  // behind the prompts, of all texts together
  std::vector<DecodeResult> models;
  std::vector<std::string> notes;
};

DecodeReport decode(const std::vector<std::filesystem::path>& models, const DecodeOptions& options);

}  // namespace ounce
