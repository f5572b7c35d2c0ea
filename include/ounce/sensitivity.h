// Which layers suffer from a format, and which do not?
//
//   ounce::SensitivityOptions options;
//   options.data.path = "val.npz";
//   const ounce::SensitivityResult result = ounce::sensitivity("model.onnx", options);
//   // result.groups[0]: the worst; result.exclude: what to leave out
//
// Each group of layers is quantized alone, and everything but it: both are measured at the outputs, against
// the original. What has been measured once is kept and found again. Throws ounce::Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ounce/names.h>
#include <ounce/quantize.h>
#include <ounce/verify.h>

namespace ounce {

enum class Grouping {
  kLayer,   // every node with weights
  kBlock,   // layers that belong together, by their names or by where they stand
  kOpType,  // all Convs, all MatMuls …
};
template <>
struct NamesOf<Grouping> {
  static constexpr Named<Grouping> kAll[] = {
      {Grouping::kLayer, "layer"}, {Grouping::kBlock, "block"}, {Grouping::kOpType, "op"}};
};

struct SensitivityOptions : QualityOptions {
  Format format = Format::kInt8;  // the format to analyze: kInt8, kInt8Dynamic, kW8 or kW4
  Grouping grouping = Grouping::kLayer;
  RuntimeOptions runtime;
  DataOptions data;
  // To measure on, evenly spread over the data (0: all). A carried state is followed from the start, for
  // 1024 steps unless said otherwise.
  std::optional<std::uint64_t> samples;  // 64
  std::uint64_t measure = 0;    // only so many groups, those with the largest estimated error (0: all)
  double min_sqnr = 30;         // dB that `exclude` is to reach
  std::filesystem::path cache;  // empty: the usual place
  bool keep = true;             // measurements, for the next time
  unsigned threads = 0;         // groups at once; 0: as many as CPUs and memory allow
  Progress* progress = nullptr;
};

struct GroupSensitivity {
  std::string name;
  std::vector<std::string> layers;  // names of nodes
  std::string op_type;              // of the first
  std::size_t place = 0;            // in the order of the network
  std::uint64_t weight_bytes = 0;
  // Nothing with weights stands before it, or behind it; or it serves attention.
  bool is_first = false, is_last = false, is_attention = false;
  double estimated_db = 0;  // of what the layer gives, from statistics alone
  bool is_measured = false;
  double alone_db = 0;                             // of the model's outputs when only this is quantized
  double without_db = 0;                           // … when all but this is
  std::optional<double> alone_drop, without_drop;  // of the metric; positive: worse
  double share = 0;  // of the noise that all groups that were measured bring alone
};

struct SensitivityResult {
  std::filesystem::path model;
  Format format = Format::kInt8;
  double min_sqnr = 30;  // SensitivityOptions::min_sqnr
  std::string runtime_version;
  std::string metric;  // its name; empty without labels
  double metric_reference = 0;
  std::uint64_t samples = 0;
  double all_db = 0;  // when everything is quantized
  std::optional<double> all_drop;
  std::vector<GroupSensitivity> groups;  // worst first
  // What to leave out so that the outputs reach min_sqnr, for Recipe::nodes: these layers compute on floats,
  // and their weights are stored in 8 or 16 bits. Empty when only FP32 will do: then `exclude` says which.
  std::map<std::string, Format> nodes;
  std::vector<std::string> exclude;   // the same layers for Recipe::exclude, which leaves them in FP32
  double exclude_db = 0;              // what that brings, measured
  bool is_enough = false;             // … and whether it reaches min_sqnr
  std::vector<std::string> findings;  // "the last layer is the most sensitive, as expected"
  std::vector<std::string> notes;
  std::uint64_t measured = 0, recalled = 0;  // models that ran, and those known from before
  double seconds = 0;
};

SensitivityResult sensitivity(const std::filesystem::path& model, const SensitivityOptions& options);

}  // namespace ounce
