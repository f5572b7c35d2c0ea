// The provenance record of a model: its source, the recipe, what it was compared with, and the result. A
// model that Ounce writes carries it in its metadata; prove() does it again.
//
//   const std::optional<ounce::Statement> statement = ounce::statement_of("model.w8.onnx");
//
//   ounce::ProveOptions options;
//   options.source = "model.onnx";
//   options.data.path = "val.npz";
//   const ounce::Proof proof = ounce::prove("model.w8.onnx", options);
//   if (proof.verdict() != ounce::ProofVerdict::kProved) log(proof.reason());
//
// A statement is not signed: whoever changes a model can change its statement as well. So the statement alone
// proves nothing. A model is proved if the recipe makes the same bytes of the source that the caller has.
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

// Which samples of the data, as in DataOptions.
struct Selection {
  std::uint64_t first = 0, samples = 0;
  std::uint64_t part = 0, parts = 1;
  std::uint64_t batch = 1;

  bool operator==(const Selection&) const = default;
};

// What ran, and how close the outputs were. Figures are rounded so that the last bits of another CPU's floats
// do not change them.
struct StatedRun {
  std::string runtime_version;
  std::uint64_t samples = 0;
  bool is_generated = false;
  std::string data, labels;       // SHA-256 of what was fed; labels: empty without
  std::optional<double> sqnr_db;  // whole dB, rounded down, of the worst output; nothing: it was exact
};

struct StatedMetric {
  std::string name;
  double reference = 0, candidate = 0;
  double drop_low = 0, drop_high = 0;  // 95 % confidence
};

// A gate that was passed: all that verify() needs to try it again, but for the data.
struct StatedGate {
  Gates gates;
  QualityOptions quality;    // without its metric_command
  bool has_command = false;  // the user's own metric, which is not repeated from here
  bool edge_cases = true;
  Selection selection;
  StatedRun run;
  std::optional<double> agreement;
  std::vector<StatedMetric> metrics;
};

struct Statement {
  static constexpr const char* kMetadataKey = "ounce.statement";

  std::string version;        // of Ounce
  std::string source, plan;   // digests that tell files apart (XXH3), of the metadata beside the statement
  std::string source_sha256;  // of the original and its external data; empty in old statements
  std::string content;        // SHA-256 of the model without its metadata, wherever its weights are
  Recipe recipe;              // resolved: the same model comes out every time
  std::string ranges;         // SHA-256 of the file of ranges; empty without
  Selection calibration;      // of the data, where it was calibrated on
  std::optional<StatedRun> trial;
  std::optional<StatedGate> gate;
  // The oldest release of ONNX Runtime from which on all that were measured run it, by machine: {"x64",
  // "1.14.0"}.
  std::map<std::string, std::string> releases;

  // False for statements of older versions of Ounce, whose digests (XXH3) can be forged.
  bool has_strong_digests() const { return !source_sha256.empty(); }
};

// Nothing for a model without one. Throws Error{kBadInput} for one that says nothing that makes sense.
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
  bool is_stated = true;  // false: the model states nothing that this step could check
};

enum class ProofVerdict {
  kProved,    // made again from the original, the model is the same, and all that it states holds
  kUnproved,  // nothing contradicts the statement, but not all of it could be checked
  kRefuted    // something contradicts the statement
};
template <>
struct NamesOf<ProofVerdict> {
  static constexpr Named<ProofVerdict> kAll[] = {{ProofVerdict::kProved, "proved"},
                                                 {ProofVerdict::kUnproved, "unproved"},
                                                 {ProofVerdict::kRefuted, "refuted"}};
};

struct ProveOptions {
  std::filesystem::path source;  // the original; empty: only what the model itself tells is checked
  DataOptions data;              // which samples is known from the statement
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
  std::string reason() const;  // the step that fails, those that were not checked, or those that hold
  bool holds() const { return verdict() != ProofVerdict::kRefuted; }  // nothing that was checked fails
};

// Error{kBadInput} for a model without a statement.
Proof prove(const std::filesystem::path& model, const ProveOptions& options);

}  // namespace ounce
