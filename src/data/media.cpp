#include "data/media.h"

#include <ounce/error.h>

#include <algorithm>

#include "data/byte_stream.h"
#include "data/image.h"
#include "data/npy.h"
#include "data/wav.h"
#include "io/mapped_file.h"

namespace ounce::data {
namespace {

Tensor picture(std::string_view bytes, const std::string& name) {
  const Image image = decode_image(bytes, name);
  Tensor tensor{ElementType::kUint8, {image.height, image.width, image.channels}, {}, {}};
  tensor.bytes.assign(image.pixels.begin(), image.pixels.end());
  return tensor;
}

Tensor array(std::string_view bytes, const std::string& name) {
  MemoryStream stream(bytes, name);
  const NpyHeader header = read_npy_header(stream, name);
  stream.seek(header.data_offset);
  return decode_npy_values(header, header.dims, stream.read(header.data_bytes), name);
}

}  // namespace

MediaKind media_kind(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (extension == ".jpg" || extension == ".jpeg" || extension == ".png") return MediaKind::kImage;
  if (extension == ".wav") return MediaKind::kSound;
  if (extension == ".npy") return MediaKind::kArray;
  return MediaKind::kNone;
}

Media read_media(const std::filesystem::path& path, const std::string& name) {
  const io::MappedFile file = io::MappedFile::open(path);
  switch (media_kind(path)) {
    case MediaKind::kImage: return {picture(file.bytes(), name), 0};
    case MediaKind::kSound:
      return {read_wav(file.bytes(), name), static_cast<double>(probe_wav(file.bytes(), name).rate)};
    case MediaKind::kArray: return {array(file.bytes(), name), 0};
    case MediaKind::kNone: break;
  }
  throw Error(ErrorCode::kBadInput, "is none of .jpg, .png, .wav and .npy", name);
}

}  // namespace ounce::data
