// Opens data by its path. The kind of data follows from the file's extension, or from the files in a folder.
#pragma once

#include <ounce/data.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/source/sources.h"
#include "data/tensor.h"

namespace ounce::data {

struct SourceRequest {
  // The fields that will be used. An archive may have further arrays of other lengths: only the used ones are
  // opened, or a single remaining one.
  std::vector<std::string> fields;
  MediaSource::Frames frames = {0, 0};
  // The input that the data is for, if there is only one. It gives the type and shape of raw files.
  const ValueDescription* input = nullptr;
  // Inputs whose name is no array of an archive: an array is opened for one that alone fits its type and
  // shape.
  std::vector<ValueDescription> inputs = {};
  bool may_derive = false;  // see DataOptions::derive_contract
};

// Throws Error{kIo} for a missing file, Error{kBadInput} for an unsupported kind of data, Error{kUsage} for a
// raw file without a single input.
std::unique_ptr<Source> open_source(const std::filesystem::path& path, const SourceRequest& request);

// Checks that the model has all inputs and axes that are named by fields, constants, carried states, shapes
// and the contract. Throws Error{kUsage}.
void require_known_names(const std::vector<ValueDescription>& inputs, const DataOptions& options);

// True if reading this data reads `file`: the data itself, a sample in a folder, or a file named in a list.
// Links are followed. Outputs must not replace such a file. Other files in a folder do not count.
bool is_read_from(const DataOptions& data, const std::filesystem::path& file);

// Checks in advance that every file and folder of the data exists. Throws Error{kIo}.
void require_files(const DataOptions& data);

// Identifies data without reading all of it. Copies on other machines and under other names have the same
// fingerprint. It covers the size and some parts of each file, names and sizes of the files in a folder,
// values in memory, and the mapping of fields to inputs. 32 hex digits, not cryptographic. Throws Error{kIo}.
std::string fingerprint_of(const DataOptions& options);

}  // namespace ounce::data
