// Any data by its path: what it is shows in its name, or in what a folder holds.
#pragma once

#include <ounce/data.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/source.h"
#include "data/source/media_source.h"
#include "data/tensor.h"

namespace ounce::data {

struct SourceRequest {
  // What will be asked for. An archive may hold other sets beside the one that is meant, of other lengths;
  // only these are opened, and an array that is the only other one.
  std::vector<std::string> fields;
  MediaSource::Frames frames = {0, 0};
  // The only input that it feeds, if there is only one: a raw file does not tell its type and shape.
  const ValueDescription* input = nullptr;
};

// Throws Error{kIo} when there is nothing, Error{kBadInput} when it is no data, Error{kUsage} when a raw file
// feeds more than one input.
std::unique_ptr<Source> open_source(const std::filesystem::path& path, const SourceRequest& request);

// Options speak of inputs and dimensions by name: a name that the model does not have is a mistake to tell.

// Looks at fields, constants, carried inputs, shapes and the contract. Throws Error{kUsage}.
void require_known_names(const std::vector<ValueDescription>& inputs, const DataOptions& options);

// The files that data is read from: they must exist before the work, and no output may replace one of them.

// Is `file` read when this data is? The file itself, a sample of a folder, or what a list names; links count
// as what they lead to. What is in a folder and is no sample is not read.
bool is_read_from(const DataOptions& data, const std::filesystem::path& file);

// Checks before the work that every file and folder of the data is there. Throws Error{kIo}.
void require_files(const DataOptions& data);

// Which data it is, without reading all of it: copies on several machines have the same fingerprint, whatever
// they are called.

// Of sizes and some stretches of each file, of the names and sizes of the files of a folder, of values in
// memory, and of which field feeds which input. 32 hexadecimal digits. Not for security. Throws Error{kIo}.
std::string fingerprint_of(const DataOptions& options);

}  // namespace ounce::data
