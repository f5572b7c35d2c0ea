#include "runtime/remote.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <map>
#include <sstream>
#include <utility>

#include "base/digest.h"
#include "io/mapped_file.h"
#include "runtime/child_process.h"
#include "runtime/hosted.h"
#include "runtime/local_executors.h"
#include "runtime/masked_cpu.h"
#include "runtime/ort/library.h"
#include "runtime/places.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "ounce-place ";
constexpr double kShort = 60;  // timeout in seconds for simple commands on the device

fs::path runner_for(const std::string& machine, const RemoteOptions& remote) {
  if (!remote.runner.empty()) {
    if (fs::is_regular_file(remote.runner)) return fs::absolute(remote.runner);
    throw Error(ErrorCode::kUsage, "no such program", remote.runner.string());
  }
  if (machine == this_machine()) return Isolated::find_runner();
  fs::path found = machine == "aarch64" ? find_runner_named("ounce-runner-arm64") : fs::path();
  if (!found.empty()) return found;
  throw Error(
      ErrorCode::kUsage,
      fmt::format("no ounce-runner for {} was found next to this program: build one, or give its path",
                  machine));
}

fs::path library_for(model::ModelKind kind, const std::string& machine, const ExecutorOptions& options) {
  const bool is_onnx = kind == model::ModelKind::kOnnx;
  std::string wanted = is_onnx ? options.remote->library : options.remote->litert;
  const std::string& here = options.library_of(kind);
  if (wanted.empty() && parse_version(here)) wanted = here;
  return find_library(kind, wanted, machine);
}

// The architecture of a device and the path of Ounce's folder on it.
struct Place {
  std::string machine, folder;
};

// Creates the folder on the device. It must belong to the same user, because programs in it are executed.
Place look_at(const Device& device, const std::string& folder, double seconds) {
  const std::string enter =
      folder.empty()
          ? "d=/data/local/tmp; [ -w $d ] || d=${TMPDIR:-/tmp}; d=$d/ounce-$(id -u); "
            "mkdir -p \"$d\" && cd \"$d\" && { [ -O . ] || { echo \"$d belongs to another user\" >&2; "
            "false; }; }"
          : fmt::format("mkdir -p -- {0} && cd -- {0}", shell_word(folder));
  const std::string script = fmt::format("umask 077; {} && echo \"{}$(uname -m) $(pwd -P)\"", enter, kMark);
  std::istringstream lines(device.run(script, {}, seconds));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kMark)) continue;  // a login message
    const std::size_t blank = line.find(' ', kMark.size());
    if (blank == std::string::npos || line.find('/', blank) != blank + 1) break;
    return {machine_of(line.substr(kMark.size(), blank - kMark.size())), line.substr(blank + 1)};
  }
  throw Error(ErrorCode::kIo, "this command does not run its argument in a shell", device.name());
}

struct File {
  std::string_view bytes;
  std::string path;    // on the device
  std::string digest;  // empty: the file is always copied
};

// A file whose name has its digest, so that several versions can exist on the device.
File kept_file(const io::MappedFile& file, const std::string& start, const std::string& end = {}) {
  const std::string digest = sha256_of(file.bytes());
  return {file.bytes(), fmt::format("{}{:.16}{}", start, digest, end), digest};
}

// The digests of files on the device, by path, from lines "DIGEST  PATH". Empty if sha256sum does not exist
// there.
std::map<std::string, std::string> digests_there(const Device& device, const std::vector<File>& files,
                                                 double seconds) {
  std::string paths;
  for (const File& file : files) {
    if (!file.digest.empty()) paths += " " + shell_word(file.path);
  }
  std::map<std::string, std::string> digests;
  std::istringstream lines(device.run("sha256sum" + paths + " 2>/dev/null; true", {}, seconds));
  for (std::string digest, path; lines >> digest && std::getline(lines >> std::ws, path);)
    digests[path] = digest;
  return digests;
}

// The folder of a model's files on the device. Removed when the last process that reads them has ended.
class ModelFolder {
 public:
  ModelFolder(Device device, std::string path, bool keep)
      : device_(std::move(device)), path_(std::move(path)), keep_(keep) {}
  ~ModelFolder() {
    if (!keep_) device_.try_to_remove(path_);
  }
  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  Device device_;
  std::string path_;
  bool keep_;
};

std::string make_folder(const Device& device, const std::string& below, double seconds) {
  const std::string start = below + "/model.";
  std::istringstream lines(device.run("mktemp -d " + shell_word(start + "XXXXXX"), {}, seconds));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start) && line.find('/', start.size()) == std::string::npos) return line;
  }
  throw Error(ErrorCode::kIo, "cannot create a folder on the device", device.name());
}

std::string digest_of(const ModelFiles& files) {
  std::string all;
  for (const auto& [name, file] : files) all += sha256_of(file.bytes()) + shell_word(name);
  return sha256_of(all).substr(0, 16);
}

// Copies files to the device that it does not have yet.
void bring(const Device& device, const std::vector<File>& files, double seconds) {
  const auto digests = digests_there(device, files, seconds);
  for (const File& file : files) {
    const auto there = digests.find(file.path);
    if (there == digests.end() || file.digest.empty() || there->second != file.digest)
      device.push(file.bytes, file.path, seconds);
  }
}

void launch_there(Launch& launch, const fs::path& path, const ExecutorOptions& options,
                  const std::string& memory) {
  const RemoteOptions& remote = *options.remote;
  if (options.settings.options.contains(kSaveOptimized))
    throw Error(ErrorCode::kUnsupported, "the optimized model cannot be saved on another machine",
                remote.via);
  const model::ModelKind kind = kind_to_run(path);
  const ModelFiles model_files = files_of(kind, path, options.settings);

  const Device device(remote.via);
  const double seconds = launch.load_seconds > 0 ? std::min(launch.load_seconds, kShort) : kShort;
  const Place place = look_at(device, remote.folder, seconds);
  const std::string emulated = emulated_machine(remote.launcher);
  const std::string machine = emulated.empty() ? place.machine : emulated;
  const auto runner = io::MappedFile::open(runner_for(machine, remote));
  const auto library = io::MappedFile::open(library_for(kind, machine, options));
  std::vector<File> files = {
      kept_file(runner, place.folder + "/ounce-runner-"),
      kept_file(library, place.folder + fmt::format("/{}-", library_stem(kind)), ".so")};
  const auto folder =
      std::make_shared<ModelFolder>(device,
                                    remote.keep ? place.folder + "/model-" + digest_of(model_files)
                                                : make_folder(device, place.folder, seconds),
                                    remote.keep);
  for (const auto& [name, file] : model_files) {
    files.push_back(
        {file.bytes(), folder->path() + "/" + name, remote.keep ? sha256_of(file.bytes()) : std::string()});
  }
  bring(device, files, launch.load_seconds);

  launch.files = folder;
  launch.load = {kind, files[1].path, folder->path() + "/" + path.filename().string(), options.settings};
  launch.load.settings.external_data_paths.clear();  // on the device the files have their final names
  // Temporary files of libraries go into the model's folder, which is removed afterwards.
  launch.command = device.command(fmt::format("export TMPDIR={}; {} {} {}", shell_word(folder->path()),
                                              remote.launcher, shell_word(files[0].path), memory));
  launch.runtime = fmt::format("{} behind '{}'", runtime_of(kind), remote.via);
}

void launch_here(Launch& launch, const fs::path& path, const ExecutorOptions& options,
                 const std::string& memory) {
  const RemoteOptions& remote = *options.remote;
  const std::string emulated = emulated_machine(remote.launcher);
  const std::string machine = emulated.empty() ? this_machine() : emulated;
  launch.command = words_of(remote.launcher);
  launch.command.push_back(runner_for(machine, remote).string());
  launch.command.push_back(memory);
  const model::ModelKind kind = kind_to_run(path);
  launch.load = {kind, library_for(kind, machine, options).string(), path.string(), options.settings};
  launch.runtime = fmt::format("{} under '{}'", runtime_of(kind), remote.launcher);
}

Launch remote_launch(const fs::path& path, const ExecutorOptions& options) {
  const Limits limits = options.isolate.value_or(Limits{});
  Launch launch;
  launch.load_seconds = launch.run_seconds = limits.seconds > 0 ? limits.seconds : options.remote->seconds;
  launch.model = path.string();
  launch.errors = ChildProcess::Errors::kKept;
  const std::string memory = std::to_string(limits.memory);
  const auto how = options.remote->via.empty() ? launch_here : launch_there;
  how(launch, path, options, memory);
  return launch;
}

}  // namespace

Remote::Remote(const fs::path& model, const ExecutorOptions& options)
    : Hosted(remote_launch(model, options)) {}

std::unique_ptr<Hosted> load_hosted(const std::filesystem::path& model, const ExecutorOptions& options) {
  if (options.remote) return std::make_unique<Remote>(model, options);
  return std::make_unique<Isolated>(model, options);
}

std::unique_ptr<Executor> load(const std::filesystem::path& path, const ExecutorOptions& options) {
  if (options.isolate || options.remote || options.masked) return load_hosted(path, options);
  return load_here(request_for(path, options));
}

namespace {

constexpr std::size_t kMostOutput = std::size_t{64} << 10;
constexpr double kPatience = 5, kRemovePatience = 20;  // seconds

}  // namespace

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  char quote = '\0';
  bool is_inside = false;
  for (const char c : line) {
    const bool is_blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == '\0' && is_blank) {
      is_inside = false;
      continue;
    }
    if (!is_inside) words.emplace_back();
    is_inside = true;
    if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = '\0';
    } else {
      words.back() += c;
    }
  }
  if (quote != '\0') throw Error(ErrorCode::kUsage, fmt::format("the quote {} is not closed", quote), line);
  return words;
}

std::string shell_word(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\0') throw Error(ErrorCode::kBadInput, "a name with a zero byte cannot be used in a shell");
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::vector<std::string> Device::command(const std::string& script) const {
  std::vector<std::string> words = prefix_;
  words.push_back(script);
  return words;
}

std::string Device::run(const std::string& script, std::string_view input, double seconds) const {
  ChildProcess process(command(script), ChildProcess::Errors::kKept);
  const Deadline deadline = deadline_in(seconds);
  std::string output;
  Outcome outcome = write_all(process.socket(), input, deadline);
  if (outcome == Outcome::kDone) process.end_input();
  if (outcome != Outcome::kLate) outcome = read_to_end(process.socket(), output, kMostOutput, deadline);
  if (outcome == Outcome::kLate)
    throw Error(ErrorCode::kIo, fmt::format("timeout: no answer within {} s", seconds), via_);
  const ChildProcess::End end = process.end(kPatience);
  if (end.is_good()) return output;
  const std::string said = process.said();
  throw Error(ErrorCode::kIo, end.how() + (said.empty() ? "" : ": " + said), via_);
}

void Device::push(std::string_view bytes, const std::string& path, double seconds) const {
  const std::string folder = path.substr(0, path.rfind('/'));
  const std::string script = fmt::format(
      "umask 077; f={}; mkdir -p {} && cat > \"$f.$$\" && chmod 700 \"$f.$$\" && "
      "mv -f \"$f.$$\" \"$f\" && wc -c < \"$f\"",
      shell_word(path), shell_word(folder));
  std::istringstream answer(run(script, bytes, seconds));
  std::string last;  // skips login messages
  for (std::string word; answer >> word;) last = word;
  std::uint64_t arrived = 0;
  std::from_chars(last.data(), last.data() + last.size(), arrived);
  if (arrived == bytes.size()) return;
  throw Error(
      ErrorCode::kIo,
      fmt::format("{} arrived with {} bytes of {}: the command must transfer bytes unchanged, without a "
                  "terminal (use ssh -T or adb shell -T)",
                  path, arrived, bytes.size()),
      via_);
}

void Device::try_to_remove(const std::string& path) const noexcept try {
  ChildProcess process(command("rm -rf " + shell_word(path)), ChildProcess::Errors::kDropped);
  process.end_input();
  process.end(kRemovePatience);
} catch (const std::exception&) {  // leaving the files there is harmless
}

}  // namespace ounce::runtime
