// Reads an ONNX file into a Model without copying any weight.
//
// The file is hostile until proven otherwise: every length, count, type and path is checked here,
// and memory stays in proportion to the file. What connects the parts (names, order, cycles) is
// checked by formats/onnx/graph/validate.h. All errors are Error{kBadInput} or Error{kIo}.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/file/model.h"

namespace ounce::onnx {

// Graphs inside graphs, and types inside types.
inline constexpr int kMaxNesting = 64;

struct ReadOptions {
  // For a file that is not at its final path yet: the folder where it will be, its name there, and the real
  // paths of its external data by the location that the model names.
  std::filesystem::path folder;
  std::string name;
  std::map<std::string, std::filesystem::path> external_data_paths;
};

Model read_model(const std::filesystem::path& path);
Model read_model(const std::filesystem::path& path, const ReadOptions& options);

// A model without a file. External data is refused: there is no folder to look in.
Model read_model_from_memory(std::string bytes, std::string name);

// The fields of a model file one by one, without looking inside: what the file says, apart from its metadata.

// Every field of the file but for its metadata, with its tag, in the order of the file. `file` has been read
// by read_model().
std::vector<Bytes> fields_without_metadata(Bytes file);

// … but for the metadata entries of this key.
std::vector<Bytes> fields_without_entry(Bytes file, std::string_view key);

// A metadata entry as it stands in a file. Messages may be put behind each other: appended to a model file,
// it is a part of the model.
std::string metadata_field(std::string_view key, std::string_view value);

// Sets an entry of a model's metadata, replacing one of the same key.
void set_metadata(Model& model, const std::string& key, const std::string& value);

}  // namespace ounce::onnx
