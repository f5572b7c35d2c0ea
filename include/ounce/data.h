// Data for models: files or arrays and their mapping to model inputs, or random values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ounce/contract.h>

namespace ounce {

// An array in the caller's memory, in row-major order without gaps. The memory must stay valid during the
// call.
struct ArrayView {
  std::string name, type;  // "audio", "float32"
  std::vector<std::int64_t> shape;
  const void* values = nullptr;
};

// Data in memory: either `arrays` or `samples`.
struct MemoryData {
  // One array per input with all samples: the first axis counts samples. An array without axes is constant.
  std::vector<ArrayView> arrays = {};
  // One list of arrays per sample, if shapes differ: without a sample axis or, with has_batch_axis, complete
  // model inputs.
  std::vector<std::vector<ArrayView>> samples = {};
  bool has_batch_axis = false;
};

struct DataOptions {
  // A .npz or .npy file (the first axis counts samples), a folder of images, .wav files or ONNX test data, a
  // .csv or .jsonl list, or a raw .bin file. One path for all inputs, or one path per input name in `paths`.
  std::filesystem::path path;
  std::map<std::string, std::filesystem::path> paths;
  std::shared_ptr<const MemoryData> memory = nullptr;  // replaces `path`

  std::map<std::string, std::string> fields;  // input → array or column of the data, where names differ
  std::map<std::string, double> constants;    // inputs with the same value for every sample
  std::map<std::string, std::string> carry;   // recurrent state: input → output of the previous run
  std::string labels;                         // the array or column with the labels; empty: no labels
  std::uint64_t first = 0, samples = 0;       // the first sample, and the number of samples (0: all)
  std::uint64_t part = 0, parts = 1;          // use every parts-th sample, starting with number `part`
  std::uint64_t batch = 1;                    // samples per run
  // Lengths of dynamic axes, by axis name or as "input:axis", for random values and for states.
  std::map<std::string, std::int64_t> shape;
  std::uint64_t seed = 1;            // of random values
  std::optional<Contract> contract;  // replaces the preprocessing metadata of the model

  bool is_generated() const { return path.empty() && paths.empty() && !memory; }
};

}  // namespace ounce
