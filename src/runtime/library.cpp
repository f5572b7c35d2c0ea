#include "runtime/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <onnxruntime_c_api.h>
#include <ounce/error.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "io/descriptor.h"
#include "runtime/status.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kOldestApi = 14;

struct Version {
  unsigned major = 0, minor = 0, patch = 0;
  bool operator<(const Version& other) const {
    return std::tie(major, minor, patch) < std::tie(other.major, other.minor, other.patch);
  }
};

// "1.22.0"; nothing for "1.30.0-aarch64", which is for another machine.
std::optional<Version> parse_version(std::string_view text) {
  Version version;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (unsigned* part : {&version.major, &version.minor, &version.patch}) {
    if (part != &version.major) {
      if (at == end || *at != '.') return std::nullopt;
      ++at;
    }
    const auto [next, failure] = std::from_chars(at, end, *part);
    if (failure != std::errc()) return std::nullopt;
    at = next;
  }
  return at == end ? std::optional(version) : std::nullopt;
}

fs::path library_of(const fs::path& version_folder) { return version_folder / "lib" / "libonnxruntime.so"; }

fs::path find_wanted(const std::string& wanted, const std::string& where) {
  if (fs::is_regular_file(wanted)) return fs::absolute(wanted);
  fs::path by_version = library_of(fs::path(OUNCE_ONNXRUNTIME_ROOT) / wanted);
  if (parse_version(wanted) && fs::exists(by_version)) return by_version;
  std::string versions;
  for (const fs::path& path : Library::installed())
    versions += (versions.empty() ? "" : ", ") + path.parent_path().parent_path().filename().string();
  throw Error(ErrorCode::kUsage,
              fmt::format("names neither a library of ONNX Runtime nor a version that is here ({}); ./setup "
                          "runtime VERSION fetches one",
                          versions.empty() ? "there are none" : versions),
              where);
}

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

std::vector<fs::path> Library::installed() {
  std::vector<std::pair<Version, fs::path>> found;
  std::error_code none;  // no folder: nothing is installed
  for (const fs::directory_entry& entry : fs::directory_iterator(OUNCE_ONNXRUNTIME_ROOT, none)) {
    const auto version = parse_version(entry.path().filename().string());
    if (version && fs::exists(library_of(entry.path())))
      found.emplace_back(*version, library_of(entry.path()));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return b.first < a.first; });
  std::vector<fs::path> paths;
  paths.reserve(found.size());
  for (auto& [version, path] : found) paths.push_back(std::move(path));
  return paths;
}

fs::path Library::find(const std::string& wanted) {
  if (!wanted.empty()) return find_wanted(wanted, wanted);
  const char* const variable = std::getenv("OUNCE_ONNXRUNTIME");
  if (variable != nullptr && *variable != '\0')
    return find_wanted(variable, fmt::format("OUNCE_ONNXRUNTIME={}", variable));
  const std::vector<fs::path> paths = installed();
  return paths.empty() ? fs::path("libonnxruntime.so") : paths.front();
}

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
                fmt::format("cannot open ONNX Runtime: {}; ./setup runtime fetches it", ::dlerror()),
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
