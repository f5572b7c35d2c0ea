// Ranks the layers of a model by the error that a format causes.
//
//   ounce::SensitivityOptions options;
//   options.data.path = "val.npz";
//   const ounce::SensitivityResult result = ounce::sensitivity("model.onnx", options);
//   // result.groups[0]: the most sensitive group; result.exclude: layers to keep in FP32
//
// For each group of layers, two models are compared with the original: one with only this group quantized,
// and one with all other groups quantized. Measurements are cached on disk. Throws ounce::Error.
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
  kBlock,   // layers with a common name prefix, or adjacent layers
  kOpType,  // all Conv, all MatMul, …
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
  // Samples to measure on, evenly spread over the data (0: all; unset: 64). With a recurrent state,
  // consecutive samples from the start (unset: 1024).
  std::optional<std::uint64_t> samples;
  std::uint64_t measure = 0;  // measure only this many groups, those with the largest estimated error; 0: all
  double min_sqnr = 30;       // SQNR in dB that excluding layers should reach
  std::filesystem::path cache;  // folder for measurements; empty: the default
  bool keep = true;             // read and write cached measurements
  unsigned threads = 0;         // groups measured in parallel; 0: as many as CPUs and memory allow
  Progress* progress = nullptr;
};

struct GroupSensitivity {
  std::string name;
  std::vector<std::string> layers;  // names of nodes
  std::string op_type;              // of the first layer
  std::size_t place = 0;            // position in the network, from 0
  std::uint64_t weight_bytes = 0;
  // No layer with weights precedes it, or follows it; or it is part of attention.
  bool is_first = false, is_last = false, is_attention = false;
  double estimated_db = 0;  // SQNR of the layer's output, estimated from statistics
  bool is_measured = false;
  double alone_db = 0;                             // output SQNR if only this group is quantized
  double without_db = 0;                           // output SQNR if all other groups are quantized
  std::optional<double> alone_drop, without_drop;  // drop of the metric; positive: worse
  double share = 0;  // share of the noise of all measured groups, each quantized alone
};

struct SensitivityResult {
  std::filesystem::path model;
  Format format = Format::kInt8;
  double min_sqnr = 30;  // SensitivityOptions::min_sqnr
  std::string runtime_version;
  std::string metric;  // its name; empty without labels
  double metric_reference = 0;
  std::uint64_t samples = 0;
  double all_db = 0;  // if all groups are quantized
  std::optional<double> all_drop;
  std::vector<GroupSensitivity> groups;  // worst first
  // Overrides for Recipe::nodes with which the outputs reach min_sqnr: these layers run in FP32 with 8-bit or
  // 16-bit weights. Empty if only unchanged FP32 layers reach it; see `exclude`.
  std::map<std::string, Format> nodes;
  std::vector<std::string> exclude;   // the same layers for Recipe::exclude, which keeps them in FP32
  double exclude_db = 0;              // the measured output SQNR with these overrides
  bool is_enough = false;             // exclude_db reaches min_sqnr
  std::vector<std::string> findings;  // "the last layer is the most sensitive, as expected"
  std::vector<std::string> notes;
  std::uint64_t measured = 0, recalled = 0;  // models that were run, and cached measurements
  double seconds = 0;
};

// Measures the layers of `model`. Throws Error.
SensitivityResult sensitivity(const std::filesystem::path& model, const SensitivityOptions& options);

}  // namespace ounce
