// What models are fed with: files of data and how they meet the model's inputs, or generated values.
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

// Numbers in memory that belong to somebody else and stay there while a call runs: row after row, without
// gaps.
struct ArrayView {
  std::string name, type;  // "audio", "float32"
  std::vector<std::int64_t> shape;
  const void* values = nullptr;
};

// Data that is in memory already, one way or the other.
struct MemoryData {
  // All samples of each input: the first axis counts them, and an array without axes is the same for all.
  std::vector<ArrayView> arrays = {};
  // Sample by sample, where their shapes differ: without an axis that counts samples or, if it says so, whole
  // inputs of the model.
  std::vector<std::vector<ArrayView>> samples = {};
  bool has_batch_axis = false;
};

struct DataOptions {
  // A .npz or .npy (leading axis: the sample), a folder of images, of .wav files or of ONNX test data, a .csv
  // or .jsonl list, a raw .bin. One path for all inputs, or one for each, by the input's name.
  std::filesystem::path path;
  std::map<std::string, std::filesystem::path> paths;
  std::shared_ptr<const MemoryData> memory = nullptr;  // instead of the one path

  std::map<std::string, std::string> fields;  // which field feeds an input, where names differ: input → field
  std::map<std::string, double> constants;    // inputs that are the same for every sample, such as a rate
  std::map<std::string, std::string> carry;  // a state: the input gets what this output gave one step before
  std::string labels;                        // the field with the labels; empty: none
  std::uint64_t first = 0, samples = 0;      // which samples: from `first` on, so many (0: all)
  std::uint64_t part = 0, parts = 1;         // of these every parts-th one, beginning with number `part`
  std::uint64_t batch = 1;                   // samples in one run
  // Free dimensions, by their name or as "input:axis". For generated values, and for states.
  std::map<std::string, std::int64_t> shape;
  std::uint64_t seed = 1;            // of generated values
  std::optional<Contract> contract;  // instead of the one in the model

  bool is_generated() const { return path.empty() && paths.empty() && !memory; }
};

}  // namespace ounce
