#include "runtime/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <onnxruntime_c_api.h>
#include <ounce/error.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "io/descriptor.h"
#include "runtime/status.h"
#include "runtime/version.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kOldestApi = 14;

// Newer libraries make an id for the device, a database of events and a log as soon as they get an
// environment, before they can be asked not to. They ask this variable first. It is set when this file is
// loaded, as a program begins: setenv() while other threads read the environment is a race. The runner is
// started with it, too.
[[maybe_unused]] const int kNoTelemetry = ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);

// Nothing is printed while one of these lives. Newer libraries ask the system who it is when they start, by a
// command that may not be there, and what the shell says then is nobody's business.
class QuietStderr {
 public:
  QuietStderr()
      : saved_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)),
        nowhere_(::open("/dev/null", O_WRONLY | O_CLOEXEC)) {
    if (saved_ && nowhere_) ::dup2(nowhere_.get(), STDERR_FILENO);
  }
  ~QuietStderr() {
    if (saved_ && nowhere_) ::dup2(saved_.get(), STDERR_FILENO);
  }
  QuietStderr(const QuietStderr&) = delete;
  QuietStderr& operator=(const QuietStderr&) = delete;

 private:
  io::Descriptor saved_, nowhere_;
};

void say_nothing(void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {}

}  // namespace

std::shared_ptr<const Library> Library::open(const fs::path& path) {
  static std::mutex mutex;
  static auto* const open_ones = new std::map<fs::path, std::shared_ptr<const Library>>;  // for ever
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Library>& place = (*open_ones)[path];
  if (place) return place;

  void* const handle = [&] {
    const QuietStderr quiet;
    return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  if (handle == nullptr) {
    throw Error(ErrorCode::kIo,
                fmt::format("cannot open ONNX Runtime: {}; 'pip install onnxruntime' brings it, or ./setup "
                            "runtime in a source tree",
                            ::dlerror()),
                path.string());
  }
  const auto get_base = reinterpret_cast<decltype(&OrtGetApiBase)>(::dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr)
    throw Error(ErrorCode::kUnsupported, "is not a library of ONNX Runtime", path.string());

  std::shared_ptr<Library> library(new Library);
  library->path_ = path;
  library->version_ = get_base()->GetVersionString();
  // Asked for a version that it has, and that we know: a library complains on stderr about any other.
  const auto version = parse_version(library->version_);
  library->api_version_ = std::min<std::uint32_t>(ORT_API_VERSION, version ? version->minor : 0);
  if (library->api_version_ >= kOldestApi) library->api_ = get_base()->GetApi(library->api_version_);
  if (library->api_ == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("is ONNX Runtime {}; 1.{} or newer is needed", library->version_, kOldestApi),
                path.string());
  }
  place = std::move(library);
  return place;
}

const OrtEnv& Library::environment() const {
  // One for each library that is open, never released: see above.
  static std::mutex mutex;
  static auto* const environments = new std::map<const Library*, const OrtEnv*>;
  const std::lock_guard lock(mutex);
  const OrtEnv*& environment = (*environments)[this];
  if (environment == nullptr) {
    OrtEnv* made = nullptr;
    const QuietStderr quiet;
    // Errors come back as a status; the library prints nothing by itself.
    check(*api_,
          api_->CreateEnvWithCustomLogger(say_nothing, nullptr, ORT_LOGGING_LEVEL_FATAL, "ounce", &made),
          path_.string());
    check(*api_, api_->DisableTelemetryEvents(made),
          path_.string());  // what a user's model is called stays here
    environment = made;
  }
  return *environment;
}

}  // namespace ounce::runtime
