// Pictures and sound in files of their own.
#pragma once

#include <filesystem>

#include "data/tensor.h"

namespace ounce::data {

enum class MediaKind { kNone, kImage, kSound, kArray };

// By the file's name: .jpg .jpeg .png, .wav, .npy.
MediaKind media_kind(const std::filesystem::path& path);

struct Media {
  Tensor tensor;    // uint8 [height, width, 3], a recording as wav.h gives it, or a whole array
  double rate = 0;  // of sound
};

// `name` stands in errors. Throws Error{kBadInput} for a file that is none of these, or damaged.
Media read_media(const std::filesystem::path& path, const std::string& name);

}  // namespace ounce::data
