#include "runtime/litert/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <ounce/error.h>

#include <array>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "io/mapped_file.h"
#include "io/standard_error.h"

namespace ounce::runtime::litert {
namespace {

namespace fs = std::filesystem;

// In 2.1.6 this function appeared and several others got the environment as a parameter.
constexpr const char* kSince216 = "LiteRtCreateModelFromAllocation";
constexpr const char* kOldest = "2.1.6";

constexpr int kAcceleratorsTag = 24, kLeastSeverityTag = 25;
constexpr int kSilent = 4;

bool is_version(std::string_view text) { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }

// .deps/litert/2.3.0/lib/libLiteRt.so, or ai_edge_litert/libLiteRt.so next to ai_edge_litert-2.3.0.dist-info.
std::string version_at(const fs::path& path) {
  const std::string above = path.parent_path().parent_path().filename().string();
  if (is_version(above)) return above.substr(0, above.find('-'));
  const std::string package = package_version(path.parent_path());
  return package.empty() ? "of an unknown version" : package;
}

[[noreturn]] void refuse(const Library& library, bool is_litert) {
  throw Error(ErrorCode::kUnsupported,
              is_litert ? fmt::format("is LiteRT {}; {} or newer is needed", library.version(), kOldest)
                        : std::string("is not a library of LiteRT"),
              library.path().string());
}

}  // namespace

std::string package_version(const fs::path& folder) {
  constexpr std::string_view kEnd = ".dist-info";
  const std::string package = folder.filename().string() + "-";
  std::error_code none;
  for (const std::string& name : io::names_in(folder.parent_path(), none)) {
    if (name.starts_with(package) && name.ends_with(kEnd))
      return name.substr(package.size(), name.size() - package.size() - kEnd.size());
  }
  return {};
}

std::shared_ptr<const Library> Library::open(const fs::path& path) {
  static std::mutex mutex;
  static auto* const open_ones = new std::map<fs::path, std::shared_ptr<const Library>>;  // for ever
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Library>& place = (*open_ones)[path];
  if (place) return place;

  void* const handle = [&] {
    const io::StandardErrorCapture quiet;
    return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  if (handle == nullptr) {
    throw Error(ErrorCode::kIo,
                fmt::format("cannot open LiteRT, which runs .tflite models: {}; 'pip install ai-edge-litert' "
                            "brings it, or ./setup litert in a source tree",
                            ::dlerror()),
                path.string());
  }
  std::shared_ptr<Library> library(new Library);
  library->path_ = path;
  library->version_ = version_at(path);
  const auto find = [&](const char* name) { return ::dlsym(handle, name); };
  const bool is_litert = find("LiteRtCreateEnvironment") != nullptr;
  if (find(kSince216) == nullptr) refuse(*library, is_litert);
#define OUNCE_LITERT_FIND(name, result, ...)                                            \
  library->api_.name = reinterpret_cast<result (*)(__VA_ARGS__)>(find("LiteRt" #name)); \
  if (library->api_.name == nullptr) refuse(*library, is_litert);
  OUNCE_LITERT_FUNCTIONS(OUNCE_LITERT_FIND)
#undef OUNCE_LITERT_FIND
  place = std::move(library);
  return place;
}

Environment* Library::environment() const {
  static std::mutex mutex;
  static auto* const made = new std::map<const Library*, Environment*>;  // for ever
  const std::lock_guard lock(mutex);
  Environment*& environment = (*made)[this];
  if (environment != nullptr) return environment;
  // Neither are the libraries of GPUs and NPUs searched, nor is anything printed.
  const std::array<EnvironmentOption, 2> options = {
      {{kAcceleratorsTag, {.value = kCpuAccelerator}}, {kLeastSeverityTag, {.value = kSilent}}}};
  const io::StandardErrorCapture quiet;
  const Status status = api_.CreateEnvironment(options.size(), options.data(), &environment);
  if (status != 0)
    throw Error(ErrorCode::kUnsupported, fmt::format("LiteRT does not start (status {})", status),
                path_.string());
  return environment;
}

}  // namespace ounce::runtime::litert
