// The provenance record of a model: its source, the recipe, and the measured results. Every model that Ounce
// writes has a record in its metadata; prove() reproduces the model and checks the record.
//
//   const std::optional<ounce::Statement> statement = ounce::statement_of("model.w8.onnx");
//
//   ounce::ProveOptions options;
//   options.source = "model.onnx";
//   options.data.path = "val.npz";
//   const ounce::Proof proof = ounce::prove("model.w8.onnx", options);
//   if (proof.verdict() != ounce::ProofVerdict::kProved) log(proof.reason());
//
// A record is not signed, so it can be forged together with the model. Only reproduction is proof: a model is
// proved if the recipe makes the same bytes from the caller's source.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ounce/data.h>
#include <ounce/names.h>
#include <ounce/progress.h>
#include <ounce/recipe.h>
#include <ounce/runtime.h>
#include <ounce/verify.h>

namespace ounce {

// A selection of samples, as in DataOptions.
struct Selection {
  std::uint64_t first = 0, samples = 0;
  std::uint64_t part = 0, parts = 1;
  std::uint64_t batch = 1;

  bool operator==(const Selection&) const = default;
};

// The comparison of the outputs. Values are rounded, so that rounding differences of another CPU do not
// change them.
struct StatedRun {
  std::string runtime_version;
  std::uint64_t samples = 0;
  bool is_generated = false;
  std::string data, labels;       // SHA-256 of the inputs and of the labels; labels: empty if there were none
  std::optional<double> sqnr_db;  // of the worst output, in whole dB, rounded down; unset: identical
};

struct StatedMetric {
  std::string name;
  double reference = 0, candidate = 0;
  double drop_low = 0, drop_high = 0;  // 95 % confidence
};

// Thresholds that were met: everything that verify() needs to repeat the check, except the data.
struct StatedGate {
  Gates gates;
  QualityOptions quality;    // without its metric_command
  bool has_command = false;  // a custom metric was used; the record does not contain it
  bool edge_cases = true;
  Selection selection;
  StatedRun run;
  std::optional<double> agreement;
  std::vector<StatedMetric> metrics;
};

struct Statement {
  static constexpr const char* kMetadataKey = "ounce.statement";

  std::string version;        // of Ounce
  std::string source, plan;   // XXH3 digests, which identify files but are not secure
  std::string source_sha256;  // of the original and its external data; empty in old statements
  std::string content;        // SHA-256 of the model without its metadata, wherever its weights are
  Recipe recipe;              // resolved, so that it reproduces the same model
  std::string ranges;         // SHA-256 of the calibration file; empty if none was used
  Selection calibration;      // the samples for calibration
  std::optional<StatedRun> trial;
  std::optional<StatedGate> gate;
  // By machine, the oldest release of ONNX Runtime from which all measured releases run the model: {"x64",
  // "1.14.0"}.
  std::map<std::string, std::string> releases;

  // False for records of older versions of Ounce, whose digests (XXH3) can be forged.
  bool has_strong_digests() const { return !source_sha256.empty(); }
};

// Reads the record of a model; nullopt if it has none. Throws Error{kBadInput} for an invalid record.
std::optional<Statement> statement_of(const std::filesystem::path& model);

enum class ProofFinding { kHolds, kFails, kNotChecked };
template <>
struct NamesOf<ProofFinding> {
  static constexpr Named<ProofFinding> kAll[] = {{ProofFinding::kHolds, "holds"},
                                                 {ProofFinding::kFails, "fails"},
                                                 {ProofFinding::kNotChecked, "not_checked"}};
};

struct ProofStep {
  std::string name;  // "content" "releases" "source" "recipe" "trial" "gate" "figures"
  ProofFinding finding = ProofFinding::kNotChecked;
  std::string what;       // a sentence
  bool is_stated = true;  // false: the record has nothing for this step
};

enum class ProofVerdict {
  kProved,    // the model was reproduced from the original, and all claims of the record were confirmed
  kUnproved,  // nothing contradicts the record, but not all claims could be checked
  kRefuted    // something contradicts the record
};
template <>
struct NamesOf<ProofVerdict> {
  static constexpr Named<ProofVerdict> kAll[] = {{ProofVerdict::kProved, "proved"},
                                                 {ProofVerdict::kUnproved, "unproved"},
                                                 {ProofVerdict::kRefuted, "refuted"}};
};

struct ProveOptions {
  std::filesystem::path source;  // the original; empty: check only claims that need no original
  DataOptions data;              // the record says which samples to use
  std::filesystem::path ranges;
  MetricCommand metric_command = {};
  RuntimeOptions runtime;
  unsigned threads = 0;
  Progress* progress = nullptr;
};

struct Proof {
  std::filesystem::path model;
  Statement statement;
  std::vector<ProofStep> steps;

  ProofVerdict verdict() const;
  std::string reason() const;  // the failed step, the unchecked steps, or the confirmed steps
  bool holds() const { return verdict() != ProofVerdict::kRefuted; }
};

// Checks the record of `model` and, with a source, reproduces the model. Throws Error{kBadInput} for a model
// without a record.
Proof prove(const std::filesystem::path& model, const ProveOptions& options);

}  // namespace ounce
