#include "runtime/ort/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <onnxruntime_c_api.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

#include "io/standard_error.h"
#include "runtime/ort/c_api.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kOldestApi = 14;

// Disables the telemetry of newer libraries, which create a device id, an event database and a log with their
// environment. The variable is set at program start, because setenv() is not thread-safe. Runners inherit it.
[[maybe_unused]] const int kNoTelemetry = ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);

void say_nothing(void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {}

// The environments of the open libraries, never released (see library.h).
struct Environments {
  std::mutex mutex;
  std::map<const Library*, const OrtEnv*> made;
  std::optional<unsigned> shared_threads;
};

Environments& environments() {
  static auto* const all = new Environments;
  return *all;
}

OrtEnv* make_environment(const OrtApi& api, std::optional<unsigned> shared_threads,
                         const std::string& library) {
  constexpr OrtLoggingLevel kLevel = ORT_LOGGING_LEVEL_FATAL;  // errors are returned as a status
  constexpr const char* kName = "ounce";
  OrtEnv* made = nullptr;
  if (!shared_threads) {
    check(api, api.CreateEnvWithCustomLogger(say_nothing, nullptr, kLevel, kName, &made), library);
    return made;
  }
  OrtThreadingOptions* options = nullptr;
  check(api, api.CreateThreadingOptions(&options), library);
  const Handle<OrtThreadingOptions> owned(options, {api.ReleaseThreadingOptions});
  check(api, api.SetGlobalIntraOpNumThreads(options, static_cast<int>(*shared_threads)), library);
  check(api, api.SetGlobalInterOpNumThreads(options, 1), library);
  check(api, api.SetGlobalSpinControl(options, 0), library);  // spinning would take cores from the app
  check(
      api,
      api.CreateEnvWithCustomLoggerAndGlobalThreadPools(say_nothing, nullptr, kLevel, kName, options, &made),
      library);
  return made;
}

}  // namespace

std::shared_ptr<const Library> Library::open(const fs::path& path) {
  static std::mutex mutex;
  static auto* const open_ones = new std::map<fs::path, std::shared_ptr<const Library>>;  // never freed
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Library>& place = (*open_ones)[path];
  if (place) return place;

  void* const handle = [&] {
    const io::StandardErrorCapture quiet;  // newer libraries run a command that may not exist
    return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  if (handle == nullptr) {
    throw Error(
        ErrorCode::kIo,
        fmt::format("cannot open ONNX Runtime: {}; install it with 'pip install onnxruntime', or with "
                    "./setup runtime in a source tree",
                    ::dlerror()),
        path.string());
  }
  const auto get_base = reinterpret_cast<decltype(&OrtGetApiBase)>(::dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr)
    throw Error(ErrorCode::kUnsupported, "this file is not a library of ONNX Runtime", path.string());

  std::shared_ptr<Library> library(new Library);
  library->path_ = path;
  library->version_ = get_base()->GetVersionString();
  // The newest API version that both the library and this build support. The library prints an error for
  // unsupported ones.
  const auto version = parse_version(library->version_);
  library->api_version_ = std::min<std::uint32_t>(ORT_API_VERSION, version ? version->minor : 0);
  if (library->api_version_ >= kOldestApi) library->api_ = get_base()->GetApi(library->api_version_);
  if (library->api_ == nullptr) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("ONNX Runtime {} is too old; 1.{} or newer is required", library->version_, kOldestApi),
        path.string());
  }
  place = std::move(library);
  return place;
}

const OrtEnv& Library::environment() const {
  Environments& all = environments();
  const std::lock_guard lock(all.mutex);
  const OrtEnv*& environment = all.made[this];
  if (environment == nullptr) {
    const io::StandardErrorCapture quiet;
    OrtEnv* const made = make_environment(*api_, all.shared_threads, path_.string());
    check(*api_, api_->DisableTelemetryEvents(made),
          path_.string());  // telemetry would send the names of models
    environment = made;
  }
  return *environment;
}

bool Library::share_threads(unsigned threads) {
  Environments& all = environments();
  const std::lock_guard lock(all.mutex);
  if (all.shared_threads == threads) return true;
  if (all.shared_threads || !all.made.empty()) return false;
  all.shared_threads = threads;
  return true;
}

}  // namespace ounce::runtime
