// Any data by its path: what it is shows in its name, or in what a folder holds.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/media_source.h"
#include "data/source.h"

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

}  // namespace ounce::data
