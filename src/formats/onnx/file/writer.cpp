#include "formats/onnx/file/writer.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>

#include "formats/onnx/file/reader.h"
#include "io/output_file.h"
#include "io/rope.h"

namespace ounce::onnx {
namespace {

constexpr std::uint64_t kLargestMessage = 0x7fffffff;  // limit of protobuf, and so of all runtimes
constexpr std::size_t kTagSize = 16;                   // hexadecimal digits in a data file's name

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

bool same_folder(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  return std::filesystem::equivalent(folder_of(a), folder_of(b), error);
}

std::string data_location(const std::filesystem::path& path, const WriteOptions& options) {
  if (!options.data_name.empty()) return options.data_name;
  return fmt::format("{}.{}.data", path.filename().string(), options.data_tag);
}

// Whether data_location() could have returned this name, with any tag.
bool is_data_location(const std::string& location, const std::filesystem::path& path) {
  const std::string prefix = path.filename().string() + ".";
  constexpr std::string_view kSuffix = ".data";
  if (!location.starts_with(prefix) || !location.ends_with(kSuffix)) return false;
  if (location.size() != prefix.size() + kTagSize + kSuffix.size()) return false;
  return location.substr(prefix.size(), kTagSize).find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool keeps_files(const Model& model, const WriteOptions& options) {
  return options.external_data == ExternalData::kAuto && !model.proto.is_edited() &&
         !model.external_files.empty();
}

Serialized lay_out_model(const Model& model, const std::filesystem::path& path, const WriteOptions& options) {
  const std::string location = data_location(path, options);
  Placement placement = keeps_files(model, options) ? Placement::kKeep : Placement::kInline;
  if (options.external_data == ExternalData::kAlways) placement = Placement::kExternal;
  Serialized serialized = serialize(model, placement, location);
  const std::uint64_t largest = kLargestMessage - std::min(kLargestMessage, options.room);
  if (serialized.model.size() > largest && options.external_data == ExternalData::kAuto) {
    serialized = serialize(model, Placement::kExternal, location);
  }
  if (serialized.model.size() <= largest) return serialized;
  throw Error(options.external_data == ExternalData::kNever ? ErrorCode::kUsage : ErrorCode::kUnsupported,
              fmt::format("the model file would have {} bytes and ONNX files are limited to 2 GiB; use "
                          "`external_data=always`",
                          serialized.model.size()),
              path.string());
}

[[noreturn]] void refuse_to_replace(const std::filesystem::path& path) {
  throw Error(ErrorCode::kUsage,
              "the output would replace external data of the input; choose another `output`", path.string());
}

}  // namespace

std::uint64_t written_size(const Model& model, const std::filesystem::path& path,
                           const WriteOptions& options) {
  const Serialized serialized = lay_out_model(model, path, options);
  return serialized.model.size() + serialized.data.size();
}

ModelOutput::ModelOutput(const Model& model, const std::filesystem::path& path, const WriteOptions& options)
    : model_(model),
      path_(path),
      data_location_(data_location(path, options)),
      is_temporary_(options.is_temporary),
      serialized_(lay_out_model(model, path, options)) {
  if (is_read_from(path)) refuse_to_replace(path);
  file_.emplace(path, serialized_.model.size());
  if (serialized_.data.size() != 0) {
    const std::filesystem::path data = folder_of(path) / data_location_;
    std::error_code ignored;
    if (!options.data_name.empty() && std::filesystem::exists(data, ignored))
      throw Error(ErrorCode::kUsage, "a file with the name of the model's data file already exists",
                  data.string());
    data_.emplace(data, serialized_.data.size(), path);  // with the access permissions of the model file
  }
  if (!keeps_files(model, options) || same_folder(model.file.path(), path)) return;
  for (const auto& [location, file] : model.external_files) {
    const auto target = folder_of(path) / location;
    if (std::filesystem::path(location).lexically_normal() == path.filename()) refuse_to_replace(path);
    std::error_code error;
    std::filesystem::create_directories(target.parent_path(), error);
    if (error)
      throw Error(ErrorCode::kIo, fmt::format("cannot create its folder: {}", error.message()),
                  target.string());
    if (std::filesystem::exists(target, error)) {
      if (io::MappedFile::open(target).bytes() == file.bytes()) continue;  // already present
      throw Error(
          ErrorCode::kUsage,
          "a different file with the name of the model's external data already exists; choose another folder",
          target.string());
    }
    kept_.emplace_back(location, io::OutputFile(target, file.bytes().size(), path));
  }
}

std::uint64_t ModelOutput::total_bytes() const {
  std::uint64_t total = model_bytes() + data_bytes();
  for (const auto& [location, file] : kept_) total += file.size();
  return total;
}

void ModelOutput::write(ThreadPool& pool, std::atomic<std::uint64_t>* done) {
  io::RopeWriter writer;
  writer.add(serialized_.model, *file_);
  if (data_) writer.add(serialized_.data, *data_);
  for (const auto& [location, file] : kept_)
    writer.add(model_.external_files.find(location)->second.bytes(), file);
  writer.run(
      pool, [this](Bytes bytes) { model_.release(bytes); }, done);
  if (is_temporary_) return;
  // Flush in the background while the caller checks the files.
  file_->start_flush();
  if (data_) data_->start_flush();
  for (auto& [location, file] : kept_) file.start_flush();
}

Model ModelOutput::reopen() const {
  ReadOptions options;
  options.folder = folder_of(path_);
  options.name = path_.string();
  if (data_) options.external_data_paths[data_location_] = data_->unfinished_path();
  for (const auto& [location, file] : kept_) options.external_data_paths[location] = file.unfinished_path();
  return read_model(file_->unfinished_path(), options);
}

io::UnfinishedFiles ModelOutput::unfinished_files() const {
  io::UnfinishedFiles files{file_->unfinished_path(), {}};
  if (data_) files.data[data_location_] = data_->unfinished_path();
  for (const auto& [location, file] : kept_) files.data[location] = file.unfinished_path();
  return files;
}

void ModelOutput::append(std::string_view field) { file_->append(field); }

// Moves the data files first and the model that references them last. If that fails, the data files are
// removed.
void ModelOutput::commit() {
  if (is_temporary_) {
    for (auto& [location, file] : kept_) file.commit(io::OutputFile::Flush::kNone);
    if (data_) data_->commit(io::OutputFile::Flush::kNone);
    file_->commit(io::OutputFile::Flush::kNone);
    return;
  }
  // Flush before taking the lock, because it takes long.
  if (data_) data_->flush();
  for (const auto& [location, file] : kept_) file.flush();
  const io::ReplaceLock lock(path_);
  const io::Descriptor next = file_->shared_lock();
  const std::vector<std::filesystem::path> stale =
      lock.has_file() ? data_of_replaced_model() : std::vector<std::filesystem::path>();
  std::vector<std::filesystem::path> added;
  const auto commit_data = [&](io::OutputFile& file) {
    std::error_code ignored;
    const bool is_new =
        !std::filesystem::exists(file.path(), ignored);  // the same name means the same content
    if (is_new) added.push_back(file.path());
    file.commit();
  };
  std::error_code ignored;
  try {
    for (auto& [location, file] : kept_) commit_data(file);
    if (data_) commit_data(*data_);
    file_->commit();
  } catch (...) {
    if (file_->is_in_place()) throw;  // only flushing the folder failed
    for (const auto& path : added) std::filesystem::remove(path, ignored);
    throw;
  }
  for (const auto& path : stale) std::filesystem::remove(path, ignored);
}

bool ModelOutput::is_kept(const std::string& location) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const auto& file) { return file.first == location; });
}

bool ModelOutput::is_read_from(const std::filesystem::path& path) const {
  return std::any_of(model_.external_files.begin(), model_.external_files.end(),
                     [&](const auto& file) { return file.second.same_file_as(path); });
}

// The data files of the model that this output replaces, if they have names made by data_location(); except
// those still in use.
std::vector<std::filesystem::path> ModelOutput::data_of_replaced_model() const {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path_, error)) return files;
  try {
    const Model replaced = read_model(path_);
    for (const auto& [location, file] : replaced.external_files) {
      const bool is_ours = is_data_location(location, path_);
      const bool is_in_use =
          (data_ && location == data_location_) || is_kept(location) || is_read_from(file.path());
      if (is_ours && !is_in_use) files.push_back(file.path());
    }
  } catch (const Error&) {
    // Not a valid model, so it has no data files of Ounce.
  }
  return files;
}

std::uint64_t write_temporary(const Model& model, const std::filesystem::path& file, ThreadPool& pool) {
  ModelOutput output(model, file, {.external_data = ExternalData::kAuto, .is_temporary = true});
  output.write(pool, nullptr);
  output.commit();
  return output.total_bytes();
}

}  // namespace ounce::onnx
