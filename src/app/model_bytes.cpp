#include "app/model_bytes.h"

#include <fmt/format.h>
#include <ounce/error.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "app/load_checks.h"
#include "base/digest.h"
#include "formats/onnx/file/reader.h"

namespace ounce::app {
namespace {

constexpr std::string_view kOrtMark = "ORTM";
constexpr std::string_view kTfliteMark = "TFL3";
constexpr std::size_t kMarkAt = 4;  // offset of a FlatBuffer's file identifier

bool has_mark(std::string_view bytes, std::string_view mark) {
  return bytes.size() > kMarkAt && bytes.substr(kMarkAt, mark.size()) == mark;
}

void require_some(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) throw Failure(Status::kBadModel, "the model is empty", name);
}

}  // namespace

ModelBytes ModelBytes::of_file(const std::filesystem::path& path) {
  ModelBytes model;
  model.name_ = path.string();
  model.path_ = path;
  model.file_ = as_failures(Status::kIo, [&] { return io::MappedFile::open(path); });
  model.bytes_ = model.file_.bytes();
  require_some(model.bytes_, model.name_);
  return model;
}

ModelBytes ModelBytes::of_memory(std::span<const std::byte> bytes) {
  ModelBytes model;
  model.name_ = "a model in memory";
  model.bytes_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  require_some(model.bytes_, model.name_);
  return model;
}

ModelBytes ModelBytes::of_descriptor(int descriptor, std::uint64_t offset, std::uint64_t length) {
  ModelBytes model;
  model.name_ = fmt::format("descriptor {}", descriptor);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0)
    throw Failure(Status::kIo, fmt::format("cannot read: {}", std::strerror(errno)), model.name_);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (offset > size || length > size - offset) {
    throw Failure(Status::kUsage,
                  fmt::format("the file has {} bytes, but {} bytes from offset {} were requested", size,
                              length, offset),
                  model.name_);
  }
  if (length == 0) require_some({}, model.name_);
  // The offset of a mapping must be a multiple of the page size.
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t before = offset % page;
  void* const mapping = ::mmap(nullptr, before + length, PROT_READ, MAP_PRIVATE, descriptor,
                               static_cast<off_t>(offset - before));
  if (mapping == MAP_FAILED)
    throw Failure(Status::kIo, fmt::format("cannot map: {}", std::strerror(errno)), model.name_);
  model.mapping_ = mapping;
  model.mapped_ = before + length;
  model.bytes_ = {static_cast<const char*>(mapping) + before, length};
  model.guard_ = io::FileGuard({static_cast<const char*>(mapping), model.mapped_}, model.name_);
  return model;
}

ModelBytes::ModelBytes(ModelBytes&& other) noexcept
    : name_(std::move(other.name_)),
      path_(std::move(other.path_)),
      bytes_(std::exchange(other.bytes_, {})),
      file_(std::move(other.file_)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_),
      guard_(std::move(other.guard_)) {}

ModelBytes::~ModelBytes() {
  guard_ = {};  // before munmap(): other mappings may reuse the addresses
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_);
}

bool ModelBytes::is_ort() const { return has_mark(bytes_, kOrtMark); }
bool ModelBytes::is_tflite() const { return has_mark(bytes_, kTfliteMark); }

ModelDigest::ModelDigest(const ModelBytes& model) : model_(model) {
  // Models in ONNX Runtime's own format and TFLite models have no external data.
  if (!model.is_ort() && !model.is_tflite() && !model.path().empty()) read_ = onnx::read_model(model.path());
}

std::string ModelDigest::identity() const {
  const Digest own = digest_of(model_.bytes());
  if (read_.external_files.empty()) return hex(own);
  std::vector<Digest> all = {own};
  for (const auto& [location, file] : read_.external_files) all.push_back(digest_of(file.bytes()));
  return hex(digest_of(all));
}

std::string ModelDigest::sha256() const {
  const std::string own = sha256_of(model_.bytes());
  if (read_.external_files.empty()) return own;
  std::string lines = own + '\n';
  for (const auto& [location, file] : read_.external_files) lines += sha256_of(file.bytes()) + '\n';
  return sha256_of(lines);
}

std::string identity_or_nothing(const ModelBytes& model) {
  try {
    return ModelDigest(model).identity();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace ounce::app
