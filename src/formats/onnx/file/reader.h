// Reads an ONNX file into a Model without copying weights.
//
// Input files are untrusted: the reader checks every length, count, type and path, and uses memory in
// proportion to the file. formats/onnx/graph/validate.h checks the relations between parts (names, order,
// cycles). All errors are Error{kBadInput} or Error{kIo}.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/file/model.h"

namespace ounce::onnx {

// Limit for graphs in graphs, and types in types.
inline constexpr int kMaxNesting = 64;

struct ReadOptions {
  // For a file that is not yet at its final path: its future folder and name, and the real paths of its
  // external data by location in the model.
  std::filesystem::path folder;
  std::string name;
  std::map<std::string, std::filesystem::path> external_data_paths;
};

Model read_model(const std::filesystem::path& path);
Model read_model(const std::filesystem::path& path, const ReadOptions& options);

// Reads a model from memory. External data is rejected, because there is no folder to read from.
Model read_model_from_memory(std::string bytes, std::string name);

// Access to the top-level fields of a model file, without parsing them.

// Returns every field except the metadata, with its tag, in file order. `file` must have been read by
// read_model().
std::vector<Bytes> fields_without_metadata(Bytes file);

// The same, but excludes only the metadata entries with this key.
std::vector<Bytes> fields_without_entry(Bytes file, std::string_view key);

// Serializes a metadata entry. Protobuf messages can be concatenated, so appending it to a model file adds
// the entry to the model.
std::string metadata_field(std::string_view key, std::string_view value);

// Sets a metadata entry of a model; replaces an entry with the same key.
void set_metadata(Model& model, const std::string& key, const std::string& value);

}  // namespace ounce::onnx
