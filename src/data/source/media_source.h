// Files of pictures or of sound as samples: a folder and all below it, or one file. The field is "data".
//
// Where pictures lie in folders of their own for each class, a second field "folder" holds the class: the
// number of its folder in the order of the alphabet. Sound can be cut into frames; then a recording is a
// sequence of samples, and what does not fill a hop at its end is left out.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/source.h"
#include "data/tensor.h"

namespace ounce::data {

class MediaSource : public Source {
 public:
  // How recordings are cut: a frame for every `hop` samples, which it ends with; it begins with what lies
  // before them, or with zeros. A length of 0 takes recordings whole.
  struct Frames {
    std::uint64_t length = 0, hop = 0;
  };

  // Throws Error{kBadInput} when there is nothing of the kind.
  explicit MediaSource(const std::filesystem::path& path, Frames frames = {0, 0});

  std::uint64_t size() const override { return starts_.back(); }
  const std::vector<Field>& fields() const override { return fields_; }
  Sample read(std::uint64_t index) override;
  bool starts_sequence(std::uint64_t index) const override;

 private:
  std::size_t file_of(std::uint64_t index) const;
  void count_frames();
  Tensor read_frame(const std::filesystem::path& file, std::uint64_t number) const;

  std::filesystem::path root_;
  std::vector<std::filesystem::path> files_;  // relative to the root
  std::vector<std::int64_t> classes_;         // of the files; empty without folders
  std::vector<std::uint64_t> starts_;         // the number of each file's first sample, and the end
  Frames frames_;
  std::vector<Field> fields_;
};

// Pictures and sound in files of their own.

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
