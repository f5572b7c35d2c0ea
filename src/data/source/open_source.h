// Opens any data by its path: its kind follows from its name, or from the files in a folder.
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
  // The fields that will be used. An archive may have others, of other lengths: only these are opened, and an
  // array that is the only other one.
  std::vector<std::string> fields;
  MediaSource::Frames frames = {0, 0};
  // The only input that it feeds, if there is only one: a raw file does not tell its type and shape.
  const ValueDescription* input = nullptr;
};

// Throws Error{kIo} for a missing file, Error{kBadInput} when it is no data, Error{kUsage} when a raw file
// feeds more than one input.
std::unique_ptr<Source> open_source(const std::filesystem::path& path, const SourceRequest& request);

// Checks that the model has all inputs and axes that fields, constants, carried inputs, shapes and the
// contract name. Throws Error{kUsage}.
void require_known_names(const std::vector<ValueDescription>& inputs, const DataOptions& options);

// True if `file` is read with this data: the file itself, a sample of a folder, or a file that a list names;
// links are followed. Files of a folder that are no samples are not read. No output may replace such a file.
bool is_read_from(const DataOptions& data, const std::filesystem::path& file);

// Checks before the work that every file and folder of the data exists. Throws Error{kIo}.
void require_files(const DataOptions& data);

// Identifies data without reading all of it: copies on several machines have the same fingerprint, under any
// name. It covers sizes and some parts of each file, names and sizes of the files of a folder, values in
// memory, and which field feeds which input. 32 hexadecimal digits. Not for security. Throws Error{kIo}.
std::string fingerprint_of(const DataOptions& options);

}  // namespace ounce::data
