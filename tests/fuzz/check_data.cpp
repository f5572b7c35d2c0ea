// Checks readers of data files: arrays, archives, audio, images, lists.
#include <algorithm>

#include "data/containers/byte_stream.h"
#include "data/containers/npy.h"
#include "data/containers/wav.h"
#include "data/image/image.h"
#include "data/source/sources.h"
#include "fuzz/memory_file.h"
#include "fuzz/promise.h"
#include "fuzz/targets.h"
#include "support/temporary_folder.h"

namespace ounce::test {
namespace {

bool is_complete(const data::Tensor& tensor) {
  std::uint64_t count = 1;
  for (const auto dim : tensor.dims) count *= static_cast<std::uint64_t>(dim);
  if (tensor.type == ElementType::kString) return tensor.strings.size() == count;
  return tensor.bytes.size() * 8 >= count;  // at least one bit per value
}

// An image of any format; its name does not matter.
void check_picture(const std::string& bytes) {
  constexpr data::ImageLimits kSmall{std::uint64_t{1} << 20U};
  for (const auto mode : {data::ColorMode::kRgb, data::ColorMode::kGrey}) {
    try {
      const data::Image image = data::decode_image(bytes, "picture", mode, kSmall);
      promise(image.pixels.size() == data::row_bytes(image) * static_cast<std::size_t>(image.height),
              "an image does not have the number of pixels of its size");
    } catch (const Error& error) {
      promise(error.code() == ErrorCode::kBadInput || error.code() == ErrorCode::kUnsupported,
              "a bad image was not reported as bad input");
    }
  }
}

void check_manifest(const std::string& bytes, const char* name) {
  static const TemporaryFolder folder;
  const std::filesystem::path path = folder / name;
  write_file(path, bytes);
  unless_refused([&] {
    const data::Manifest list(path);
    constexpr std::uint64_t kMost = 16;
    for (std::uint64_t row = 0; row < std::min(list.size(), kMost); ++row) {
      unless_refused([&] {
        for (const auto& cell : list.read(row)) promise(is_complete(cell.tensor), "a cell lacks values");
        return true;
      });
    }
    return true;
  });
}

}  // namespace

void check_npy(const std::string& bytes) {
  const auto tensor = unless_refused([&] {
    data::MemoryStream stream(bytes, "x.npy");
    const data::NpyHeader header = data::read_npy_header(stream, "x.npy");
    promise(header.data_offset + header.data_bytes == bytes.size(), "an array ends before its file");
    stream.seek(header.data_offset);
    return data::decode_npy_values(header, header.dims, stream.read(header.data_bytes), "x.npy");
  });
  if (tensor) promise(is_complete(*tensor), "an array has fewer values than its shape");
}

void check_zip(const std::string& bytes) {
  unless_refused([&] {
    for (const data::ZipEntry& entry : data::read_zip_directory(bytes, "x.zip")) {
      promise(entry.data.data() >= bytes.data() &&
                  entry.data.data() + entry.data.size() <= bytes.data() + bytes.size(),
              "an entry lies outside of its archive");
      unless_refused([&] {
        data::ZipEntryStream stream(entry, "x.zip: " + entry.name);
        promise(stream.read(entry.size).size() == entry.size, "an entry has another size than it says");
        return true;
      });
    }
    return true;
  });
}

void check_npz(const std::string& bytes) {
  const MemoryFile file(bytes);
  unless_refused([&] { return data::NpzSource::list(file.path()).size(); });
  unless_refused([&] {
    data::NpzSource source(file.path());
    constexpr std::uint64_t kMost = 4;
    for (std::uint64_t i = 0; i < std::min(source.size(), kMost); ++i) source.read(i);
    return true;
  });
}

void check_png(const std::string& bytes) { check_picture(bytes); }
void check_jpeg(const std::string& bytes) { check_picture(bytes); }
void check_csv(const std::string& bytes) { check_manifest(bytes, "list.csv"); }
void check_jsonl(const std::string& bytes) { check_manifest(bytes, "list.jsonl"); }

void check_wav(const std::string& bytes) {
  const auto info = unless_refused([&] { return data::probe_wav(bytes, "x.wav"); });
  const auto sound = unless_refused([&] { return data::read_wav(bytes, "x.wav"); });
  promise(!sound || info, "sound was read from what is no sound");
  if (!sound) return;
  promise(is_complete(*sound), "sound has fewer values than its shape");
  promise(sound->dims == info->dims(info->frames), "sound has another length than it says");
}

}  // namespace ounce::test
