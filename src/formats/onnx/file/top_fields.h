// The fields of a model file one by one, without looking inside: what the file says, apart from its metadata.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/file/model.h"

namespace ounce::onnx {

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
