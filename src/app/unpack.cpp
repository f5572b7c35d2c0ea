#include <ounce/app.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "app/load_checks.h"
#include "app/model_bytes.h"
#include "app/session.h"
#include "app/unpacked_file.h"
#include "base/cancel.h"
#include "base/machine.h"
#include "io/descriptor.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "model/model_file.h"
#include "runtime/hosted.h"
#include "runtime/local_executors.h"
#include "runtime/ort/bound_run.h"

namespace ounce::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSaveFormat = "session.save_model_format";
constexpr std::size_t kDigits = 32;
constexpr std::string_view kExtension = ".ort";

CacheKey key_of(const std::string& identity, const runtime::Library& library, const UnpackOptions& options) {
  CacheKey key{identity, library.version(), cpu_features(), {}};
  for (const auto& [name, value] : options.config) key.settings += fmt::format("{}={};", name, value);
  return key;
}

void tell(const UnpackOptions& options, double share) {
  if (options.progress && !options.progress(share))
    throw Failure(Status::kCancelled, "unpacking was canceled");
}

// Reference outputs of the original model; the unpacked file must give the same.
using Outputs = std::vector<data::Tensor>;

template <class Runs>
Outputs try_outputs(Runs&& run) {
  Outputs kept;
  try {
    for (const data::TensorView& output : run()) kept.push_back(data::copy_of(output));
  } catch (const Error& error) {
    // The model does not accept the probe inputs: then there is nothing to compare.
    if (error.code() != ErrorCode::kBadInput) throw;
    kept.clear();
  }
  return kept;
}

std::vector<data::TensorView> views_of(const std::vector<data::Tensor>& tensors) {
  return {tensors.begin(), tensors.end()};
}

// Gives a model in memory a path that a runner can open.
class NamedModel {
 public:
  explicit NamedModel(const ModelBytes& model) : path_(model.path()) {
    if (!path_.empty()) return;
    file_ = io::Descriptor(::memfd_create("model", MFD_CLOEXEC));
    std::string_view rest = model.bytes();
    while (file_ && !rest.empty()) {
      const ssize_t written = ::write(file_.get(), rest.data(), std::min(rest.size(), std::size_t{1} << 28));
      if (written <= 0) break;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    if (!file_ || !rest.empty())
      throw Error(ErrorCode::kIo, "cannot copy the model to memory for ounce-runner", model.name());
    path_ = fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get());
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  io::Descriptor file_;
};

runtime::LoadSettings saving_settings(const UnpackOptions& options, const fs::path& place) {
  runtime::LoadSettings settings;
  settings.options = options.config;
  settings.options[kSaveFormat] = "ORT";
  settings.options[runtime::kSaveOptimized] = place.string();
  return settings;
}

// The runtime reports only that writing failed. Try to write to the file to find out why.
[[noreturn]] void cannot_save(const fs::path& unfinished, const fs::path& place) {
  const std::string page(std::size_t{1} << 16, 'x');
  const io::Descriptor file(::open(unfinished.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  const bool is_written =
      file && ::write(file.get(), page.data(), page.size()) == static_cast<ssize_t>(page.size());
  throw Error(ErrorCode::kIo,
              fmt::format("cannot write the unpacked model: {}",
                          is_written ? "is the disk full?" : std::strerror(errno)),
              place.string());
}

bool says_not_saved(const Error& error) {
  return std::string_view(error.what()).find("Failed to save ORT format model") != std::string_view::npos;
}

bool has_runner() {
  try {
    return !runtime::Isolated::find_runner().empty();
  } catch (const Error&) {
    return false;
  }
}

// Lets a runner write the file. Returns the outputs of the original model.
Outputs write_in_runner(const ModelBytes& model, const fs::path& place, const runtime::Library& library,
                        const UnpackOptions& options) {
  const NamedModel named(model);
  runtime::ExecutorOptions how;
  how.library = library.path().string();
  how.isolate = runtime::Limits{.memory = 0, .seconds = options.seconds};
  how.bytes = model.bytes().size();
  how.settings = saving_settings(options, place);
  try {
    runtime::Isolated runner(named.path(), how);
    tell(options, 0.6);
    const std::vector<data::Tensor> inputs = probe_inputs(runner.inputs());
    if (inputs.empty() && !runner.inputs().empty()) return {};
    return try_outputs([&] { return runner.run(views_of(inputs)); });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput || says_not_saved(error)) throw;
    // Throws if the model itself does not load. Otherwise only saving it failed.
    how.settings.options = options.config;
    as_failures(Status::kBadModel, [&] { runtime::Isolated(named.path(), how); });
    throw Error(ErrorCode::kUnsupported, error.what());
  }
}

Outputs write_here(const ModelBytes& model, const fs::path& place,
                   const std::shared_ptr<const runtime::Library>& library, const UnpackOptions& options) {
  const runtime::SessionOptions how = runtime::session_options_of(saving_settings(options, place));
  const runtime::Session session = model.path().empty()
                                       ? runtime::Session(library, model.name(), model.bytes(), how)
                                       : runtime::Session(library, model.path(), how);
  tell(options, 0.6);
  const std::vector<data::Tensor> inputs = probe_inputs(session.inputs());
  if (inputs.empty() && !session.inputs().empty()) return {};
  runtime::BoundRun run(session);
  return try_outputs([&] {
    run.bind(views_of(inputs));
    run.run();
    return run.outputs();
  });
}

// Loads the written file and runs it on the same inputs. Throws Error{kUnsupported} unless the outputs are
// bit-identical.
void require_same(const fs::path& file, const Outputs& expected,
                  const std::shared_ptr<const runtime::Library>& library, const UnpackOptions& options,
                  const ModelBytes& model) {
  const io::MappedFile mapped = io::MappedFile::open(file);
  runtime::SessionOptions how;
  how.config = options.config;
  how.config.merge(runtime::mapped_bytes());
  const runtime::Session session(library, model.name(), mapped.bytes(), how);
  if (expected.empty()) return;
  const std::vector<data::Tensor> inputs = probe_inputs(session.inputs());
  runtime::BoundRun run(session);
  run.bind(views_of(inputs));
  run.run();
  const auto outputs = run.outputs();
  const bool is_same =
      std::equal(outputs.begin(), outputs.end(), expected.begin(), expected.end(),
                 [](const data::TensorView& now, const data::Tensor& before) {
                   return now.type == before.type && now.dims == before.dims && now.bytes == before.bytes;
                 });
  if (!is_same)
    throw Error(ErrorCode::kUnsupported, "the unpacked model gives different outputs", model.name());
}

void make_file(const ModelBytes& model, const fs::path& place, const CacheKey& key,
               const std::shared_ptr<const runtime::Library>& library, const UnpackOptions& options,
               Unpacked& result) {
  std::error_code ignored;  // creating the file fails, too, and reports the reason
  fs::create_directories(place.parent_path(), ignored);
  io::OutputFile output(place, 0,
                        model.path());  // of unknown size; the runtime opens and writes it by path
  const fs::path unfinished = output.unfinished_path();
  result.used_runner = options.uses_runner && has_runner();
  Outputs expected;
  try {
    expected = result.used_runner ? write_in_runner(model, unfinished, *library, options)
                                  : write_here(model, unfinished, library, options);
  } catch (const Error& error) {
    if (!says_not_saved(error)) throw;
    cannot_save(unfinished, place);
  }
  tell(options, 0.8);
  align_weights(unfinished);
  require_same(unfinished, expected, library, options, model);
  {
    const io::MappedFile written = io::MappedFile::open(unfinished);
    finish_unpacked(unfinished, written.bytes(), key);
  }
  output.commit();
}

// The disk space of a file, without its holes.
std::uint64_t bytes_on_disk(const fs::path& file) {
  constexpr std::uint64_t kBlock = 512;
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * kBlock : 0;
}

std::size_t evict_others(const fs::path& cache, std::uint64_t max_bytes, const fs::path& kept_file) {
  std::uint64_t kept = kept_file.empty() ? 0 : bytes_on_disk(kept_file);
  std::size_t gone = 0;
  for (const CachedFile& file : cached_files(cache)) {
    if (file.file == kept_file) continue;
    kept += file.bytes;
    if (kept <= max_bytes) continue;
    std::error_code ignored;
    if (fs::remove(file.file, ignored)) ++gone;
    kept -= file.bytes;
  }
  return gone;
}

}  // namespace

Unpacking unpack_into(const ModelBytes& model, const std::string& identity, const fs::path& cache,
                      const std::shared_ptr<const runtime::Library>& library, const UnpackOptions& options,
                      Verification verification) {
  // Threads that unpack the same model wait for each other. Processes may both write the file, which is
  // harmless.
  static auto* const mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  const Stopwatch time;
  Unpacking made;
  Unpacked& result = made.result;
  const CacheKey key = key_of(identity, *library, options);
  const fs::path place = cache / key.file_name();
  result.digest = key.digest;
  result.runtime_version = key.runtime_version;
  result.cpu = cpu_kernels();
  result.model_bytes = model.bytes().size();
  made.file = open_verified(place, key, verification);
  if (!made.file) {
    std::error_code ignored;
    result.was_damaged = fs::exists(place, ignored);
    tell(options, 0);
    try {
      make_file(model, place, key, library, options, result);
      made.file = open_verified(place, key, Verification::kAlways);
      result.is_new = true;
    } catch (const Failure&) {
      throw;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw Failure(Status::kCancelled, error.what());
      result.why_not = error.what();
      result.status = status_of(error.code(), Status::kUnsupported);
    }
    tell(options, 1);
  }
  if (made.file) {
    result.file = place;
    result.bytes = bytes_on_disk(place);
    note_use(place);
    if (options.max_bytes != 0) evict_others(cache, options.max_bytes, place);
  } else if (result.why_not.empty()) {
    result.why_not = "the file was removed or changed by another process";
    result.status = Status::kIo;
  }
  result.seconds = time.seconds();
  return made;
}

Unpacked unpack(const fs::path& path, const fs::path& cache, const UnpackOptions& options) {
  const auto library = open_library(options.library);
  return as_failures(Status::kBadModel, [&] {
    const ounce::CancellationScope reading(nullptr);  // throws if a file was truncated
    ounce::model::require_support(path, "unpack");
    const ModelBytes model = ModelBytes::of_file(path);
    if (model.is_ort()) {
      Unpacked result;
      result.model = path;
      result.why_not = "the model is in ONNX Runtime's own format already: load it directly";
      result.status = Status::kUnsupported;
      result.model_bytes = model.bytes().size();
      return result;
    }
    const ModelDigest digest(model);
    Unpacked result =
        unpack_into(model, digest.identity(), cache, library, options, Verification::kAlways).result;
    result.sha256 = digest.sha256();
    result.model = path;
    return result;
  });
}

std::vector<CachedFile> cached_files(const fs::path& cache) {
  std::vector<std::pair<fs::file_time_type, CachedFile>> found;
  std::error_code error;
  for (const std::string& name : io::names_in(cache, error)) {
    const std::size_t dash = name.find('-', kDigits + 1);
    const bool is_ours = name.size() > kDigits && name[kDigits] == '-' && dash != std::string::npos &&
                         name.ends_with(kExtension);
    if (!is_ours) continue;
    const fs::path file = cache / name;
    std::error_code gone;
    const auto used = fs::last_write_time(file, gone);
    if (gone) continue;
    const std::uint64_t bytes = bytes_on_disk(file);
    found.push_back(
        {used, {file, bytes, name.substr(0, kDigits), name.substr(kDigits + 1, dash - kDigits - 1)}});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<CachedFile> files;
  for (auto& [used, file] : found) files.push_back(std::move(file));
  return files;
}

std::size_t evict(const fs::path& cache, std::uint64_t max_bytes) {
  return evict_others(cache, max_bytes, {});
}

}  // namespace ounce::app
