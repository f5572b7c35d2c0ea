#include "data/source/sources.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <set>

#include "data/containers/npy.h"
#include "data/containers/wav.h"
#include "data/image/image.h"
#include "io/mapped_file.h"

namespace ounce::data {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> find_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, options, error), end; !error && at != end;
       at.increment(error)) {
    const MediaKind kind = media_kind(at->path());
    const bool is_hidden = at->path().filename().string().starts_with(".");
    if (is_hidden) at.disable_recursion_pending();  // skips the content of hidden folders
    if (!is_hidden && (kind == MediaKind::kImage || kind == MediaKind::kSound) && at->is_regular_file())
      files.push_back(at->path().lexically_relative(folder));
  }
  if (error)
    throw Error(ErrorCode::kIo, fmt::format("cannot read the folder: {}", error.message()), folder.string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::int64_t> classes_of(const std::vector<fs::path>& files) {
  std::set<fs::path> folders;
  for (const fs::path& file : files) folders.insert(file.has_parent_path() ? *file.begin() : fs::path());
  std::vector<std::int64_t> classes;
  if (folders.contains(fs::path()) || folders.size() < 2) return classes;
  for (const fs::path& file : files)
    classes.push_back(std::distance(folders.begin(), folders.find(*file.begin())));
  return classes;
}

}  // namespace

MediaSource::MediaSource(const fs::path& path, Frames frames) : frames_(frames) {
  if (frames_.hop == 0) frames_.hop = frames_.length;
  if (fs::is_directory(path)) {
    root_ = path;
    files_ = find_files(path);
  } else {
    root_ = path.parent_path();
    files_ = {path.filename()};
  }
  if (files_.empty()) throw Error(ErrorCode::kBadInput, "has no .jpg, .png or .wav files", path.string());
  const MediaKind kind = media_kind(files_.front());
  for (const fs::path& file : files_) {
    if (media_kind(file) != kind)
      throw Error(ErrorCode::kBadInput, "has both images and sound; give a folder of one kind",
                  path.string());
  }
  if (frames_.length != 0 && kind != MediaKind::kSound) {
    throw Error(ErrorCode::kBadInput, "frames need .wav files, but these are images", path.string());
  }
  classes_ = classes_of(files_);
  fields_.push_back({"data", kind == MediaKind::kImage ? ElementType::kUint8 : ElementType::kUndefined, {}});
  if (!classes_.empty()) fields_.push_back({"folder", ElementType::kInt64, Dims{}});
  count_frames();
}

void MediaSource::count_frames() {
  starts_.push_back(0);
  for (const fs::path& file : files_) {
    const std::uint64_t frames = frames_.length == 0 ? 1 : probe_wav(root_ / file).frames / frames_.hop;
    starts_.push_back(starts_.back() + frames);
  }
}

std::size_t MediaSource::file_of(std::uint64_t index) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), index);
  return static_cast<std::size_t>(after - starts_.begin()) - 1;
}

bool MediaSource::starts_sequence(std::uint64_t index) const { return starts_[file_of(index)] == index; }

Tensor MediaSource::read_frame(const fs::path& file, std::uint64_t number) const {
  const std::uint64_t end = (number + 1) * frames_.hop;
  const std::uint64_t begin = end > frames_.length ? end - frames_.length : 0;
  Tensor sound = read_wav(file, begin, end - begin);
  const std::uint64_t missing = frames_.length - (end - begin);
  if (missing == 0) return sound;
  const std::uint64_t frame_bytes = sound.bytes.size() / (end - begin);
  sound.bytes.insert(0, missing * frame_bytes, '\0');
  sound.dims[0] = static_cast<std::int64_t>(frames_.length);
  return sound;
}

Sample MediaSource::read(std::uint64_t index) {
  const std::size_t number = file_of(index);
  const fs::path& file = files_[number];
  Sample sample;
  sample.name = file.string();
  Media media;
  if (frames_.length == 0) {
    media = read_media(root_ / file, sample.name);
  } else {
    const std::uint64_t frame = index - starts_[number];
    sample.name = fmt::format("{}[{}]", sample.name, frame);
    media.tensor = read_frame(root_ / file, frame);
    media.rate = static_cast<double>(probe_wav(root_ / file).rate);
  }
  sample.sampling_rate = media.rate;
  sample.fields.push_back({"data", std::move(media.tensor)});
  if (!classes_.empty()) {
    Tensor of_class{ElementType::kInt64, {}, std::string(sizeof(std::int64_t), '\0'), {}};
    values_of<std::int64_t>(of_class)[0] = classes_[number];
    sample.fields.push_back({"folder", std::move(of_class)});
  }
  return sample;
}

namespace {

Tensor picture(std::string_view bytes, const std::string& name) {
  const Image image = decode_image(bytes, name);
  Tensor tensor{ElementType::kUint8, {image.height, image.width, image.channels}, {}, {}};
  tensor.bytes.assign(image.pixels.begin(), image.pixels.end());
  return tensor;
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
    case MediaKind::kArray: return {read_npy(file.bytes(), name), 0};
    case MediaKind::kNone: break;
  }
  throw Error(ErrorCode::kBadInput, "is not a .jpg, .png, .wav or .npy file", name);
}

}  // namespace ounce::data
