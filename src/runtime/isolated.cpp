#include "runtime/isolated.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstdlib>

#include "base/machine.h"
#include "runtime/places.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;

constexpr double kSlowestLoad = 10e6;                           // bytes a second
constexpr std::uint64_t kLeastMemory = std::uint64_t{8} << 30;  // of address space, which is not memory yet

std::uint64_t bytes_of(const fs::path& model, const ExecutorOptions& options) {
  std::error_code ignored;
  const auto file = fs::file_size(model, ignored);
  return std::max<std::uint64_t>(options.bytes, ignored ? 0 : file);
}

Launch isolated_launch(const fs::path& model, const ExecutorOptions& options) {
  const Limits limits = options.isolate.value_or(Limits{});
  Launch launch;
  const std::uint64_t memory =
      limits.memory != 0 ? limits.memory : std::max(kLeastMemory, installed_memory());
  launch.command = {Isolated::find_runner().string(), std::to_string(memory)};
  if (options.masked) launch.command.push_back(name_of(*options.masked));
  // Found here, so that the process needs no settings of its own and a mistake in them is ours to explain.
  launch.load = request_for(model, options);
  launch.load_seconds = launch.run_seconds = limits.seconds;
  // A large model takes its time to load, and that is no fault.
  if (limits.seconds > 0) launch.load_seconds += static_cast<double>(bytes_of(model, options)) / kSlowestLoad;
  launch.runners = options.runners;
  launch.model = model.string();
  launch.runtime = runtime_of(launch.load.kind);
  return launch;
}

}  // namespace

// Beside this program; beside the library that we are in, or in the bin beside its folder, if somebody else's
// program has loaded it; where it was installed or built.
fs::path find_runner_named(const std::string& name) {
  std::vector<fs::path> folders;
  for (const fs::path& own : own_folders()) {
    folders.push_back(own);
    folders.push_back(own.parent_path() / "bin");  // of a library in lib/
  }
  for (const char* const known : {OUNCE_RUNNER_INSTALLED, OUNCE_RUNNER_BUILT}) {
    if (*known != '\0') folders.push_back(fs::path(known).parent_path());
  }
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    fs::path runner = folder / name;
    if (fs::is_regular_file(runner, ignored)) return runner;
  }
  return {};
}

fs::path Isolated::find_runner() {
  if (const char* named = std::getenv("OUNCE_RUNNER"); named != nullptr && *named != '\0') {
    if (fs::is_regular_file(named)) return fs::absolute(named);
    throw Error(ErrorCode::kIo, "no such program", fmt::format("OUNCE_RUNNER={}", named));
  }
  fs::path found = find_runner_named("ounce-runner");
  if (!found.empty()) return found;
  throw Error(ErrorCode::kIo,
              "cannot run a model in a process of its own: the program ounce-runner is not beside this one; "
              "OUNCE_RUNNER can name it");
}

Isolated::Isolated(const fs::path& model, const ExecutorOptions& options)
    : Hosted(isolated_launch(model, options)) {}

}  // namespace ounce::runtime
