#include "verbs/sessions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <string_view>

#include "base/json_text.h"

namespace ounce::verbs {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

enum class Kind { kWord, kPath, kInputPath, kVersion };

struct SharedOption {
  std::string_view name;
  Kind kind = Kind::kWord;
};

// The options that change measurements.
constexpr SharedOption kShared[] = {
    // data and preprocessing
    {"data", Kind::kInputPath},
    {"preprocess", Kind::kPath},
    {"input"},
    {"set"},
    {"carry"},
    {"labels"},
    {"first"},
    {"samples"},
    {"part"},
    {"shape"},
    {"seed"},
    {"batch"},
    {"kind"},
    {"size"},
    {"resample"},
    {"resize-backend"},
    {"crop"},
    {"crop-rule"},
    {"color"},
    {"layout"},
    {"rescale"},
    {"mean"},
    {"std"},
    {"rate"},
    {"length"},
    {"frame"},
    {"hop"},
    // metrics and thresholds
    {"task"},
    {"metric"},
    {"tags"},
    {"label-output"},
    {"outputs"},
    {"threshold"},
    {"abs-tol"},
    {"mean-tol"},
    {"max-mse"},
    {"min-sqnr"},
    {"min-agreement"},
    {"max-flips"},
    {"max-drop"},
    {"confidence"},
    // formats and runtimes
    {"to"},
    {"target"},
    {"runtime", Kind::kVersion},
    {"litert", Kind::kVersion},
    {"threads"},
    {"threads-between"},
    {"optimization"},
    {"isolate-memory"},
    {"isolate-seconds"}};

// The options of the coordinator alone.
constexpr std::string_view kOwn[] = {
    "model",    "output",   "json",   "report",   "cache", "no-cache", "objective", "budget",         "on",
    "by",       "top",      "jobs",   "verbose",  "queue", "lease",    "parts",     "metric-seconds", "junit",
    "markdown", "baseline", "expert", "tolerance"};

const SharedOption* find_shared(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kShared), std::end(kShared), [&](const auto& one) { return one.name == name; });
  return found == std::end(kShared) ? nullptr : found;
}

// INPUT=PATH, unless there is a file of this name.
std::pair<std::string, std::string> split_input(const std::string& word) {
  const std::size_t at = word.find('=');
  if (at == word.npos || fs::exists(word)) return {"", word};
  return {word.substr(0, at + 1), word.substr(at + 1)};
}

bool is_version(const std::string& word) { return word.find('/') == word.npos && !fs::exists(word); }

// "auto" of --preprocess is no file.
bool is_automatic(const SharedOption& option, const std::string& word) {
  return option.kind == Kind::kPath && word == "auto";
}

std::string with_absolute_path(const SharedOption& option, const std::string& word) {
  if (is_automatic(option, word)) return word;
  const auto absolute = [](const std::string& path) {
    return fs::absolute(path).lexically_normal().string();
  };
  if (option.kind == Kind::kPath) return absolute(word);
  if (option.kind != Kind::kInputPath) return word;
  const auto [input, path] = split_input(word);
  return input + absolute(path);
}

// Adds an option that was given to the session, if workers need it.
void share(const Option& option, const std::vector<std::string>& given, ordered_json& session) {
  const std::string name = option.names().front();
  if (std::find(std::begin(kOwn), std::end(kOwn), name) != std::end(kOwn)) return;
  const SharedOption* shared = find_shared(name);
  if (shared == nullptr)
    throw Error(ErrorCode::kUsage, fmt::format("`--{}` cannot be used with `--queue`", name));
  // Workers load their own library; the question names its version.
  if (shared->kind == Kind::kVersion && !is_version(given.back())) return;
  std::vector<std::string> words;
  for (const std::string& word : given) words.push_back(with_absolute_path(*shared, word));
  ordered_json& value = session["options"][name];
  if (option.is_list) {
    value = words;
  } else {
    value = words.back();
  }
}

std::string session_text(const Options& verb, const fs::path& model) {
  ordered_json session;
  session["verb"] = verb.verb();
  session["model"] = fs::absolute(model).lexically_normal().string();
  session["options"] = ordered_json::object();
  for (const Option& option : verb.all()) {
    if (option.given.empty()) continue;
    if (option.names().front() != "expert") {
      share(option, option.given, session);
      continue;
    }
    for (const std::string& word : option.given) {
      auto [key, value] = split_pair(word, "--expert");
      std::replace(key.begin(), key.end(), '_', '-');
      if (const Option* const expert = verb.find(key)) share(*expert, {value}, session);
    }
  }
  return json_text(session);
}

bool is_within(const fs::path& path, const fs::path& root) {
  std::error_code failure;
  const fs::path real = fs::canonical(path, failure), folder = fs::canonical(root, failure);
  if (failure) return false;
  return std::mismatch(folder.begin(), folder.end(), real.begin(), real.end()).first == folder.end();
}

void require_within(const std::string& path, const std::vector<fs::path>& roots) {
  const bool is_allowed =
      fs::path(path).is_absolute() &&
      std::any_of(roots.begin(), roots.end(), [&](const fs::path& root) { return is_within(path, root); });
  if (is_allowed) return;
  std::vector<std::string> names;
  for (const fs::path& root : roots) names.push_back(root.string());
  throw Error(ErrorCode::kUsage,
              fmt::format("does not exist below {}, and this worker reads no other folder (`--root`)",
                          fmt::join(names, ", ")),
              path);
}

void require_allowed(const SharedOption& option, const std::string& word,
                     const std::vector<fs::path>& roots) {
  if (is_automatic(option, word)) return;
  if (option.kind == Kind::kPath) require_within(word, roots);
  if (option.kind == Kind::kInputPath) require_within(split_input(word).second, roots);
  if (option.kind == Kind::kVersion && !is_version(word))
    throw Error(ErrorCode::kUsage, fmt::format("a session must not name a library for '{}'", option.name));
}

}  // namespace

void add_queue_options(Options& options, QueueArguments& queue) {
  options.add_option("--queue", queue.folder,
                     "Measure on other machines: put questions into this shared folder, where 'ounce work' "
                     "answers them");
  add_lease_option(options, queue.limits);
}

void add_lease_option(Options& options, QueueLimits& limits) {
  options
      .add_converted("--lease", limits.lease_seconds, duration_of,
                     "Take over the work of a worker that shows no sign of life for this time")
      ->show_default("120s");
}

std::unique_ptr<WorkQueue> queue_of(const QueueArguments& queue, const Options& verb, const fs::path& model,
                                    const InMemoryInputs& given, Progress* progress) {
  if (queue.folder.empty()) return nullptr;
  if (given.data != nullptr || given.metric)
    throw Error(ErrorCode::kUsage,
                "workers cannot see the memory of this program: give `data` as a path, and no function as "
                "`metric`");
  return folder_queue(queue.folder, session_text(verb, model), queue.limits, progress);
}

std::unique_ptr<Session> open_session_text(const std::string& session, const std::vector<fs::path>& roots) {
  const auto made = parse_json<ordered_json>(session, {}, "a session");
  const auto text = [&](const char* key) {
    return made.is_object() && made.contains(key) && made[key].is_string() ? made[key].get<std::string>()
                                                                           : "";
  };
  const VerbInfo& verb = find_verb(all_verbs(), text("verb"));
  if (verb.open == nullptr || !made.contains("options") || !made["options"].is_object())
    throw Error(ErrorCode::kUsage, "is no session of a verb that workers measure for");
  ordered_json options = made["options"];
  for (const auto& [name, value] : options.items()) {
    const SharedOption* shared = find_shared(name);
    if (shared == nullptr)
      throw Error(ErrorCode::kUsage, fmt::format("a session must not have the option '{}'", name));
    for (const ordered_json& word : value.is_array() ? value : ordered_json::array({value})) {
      if (!word.is_string())
        throw Error(ErrorCode::kUsage, fmt::format("the option '{}' of a session must be text", name));
      require_allowed(*shared, word.get<std::string>(), roots);
    }
  }
  require_within(text("model"), roots);
  options["model"] = verb.name == std::string_view("calibrate") ? ordered_json(text("model"))
                                                                : ordered_json::array({text("model")});
  return verb.open(verb.name, options);
}

void add_worker_options(Options& options, std::vector<std::string>& roots, bool& times) {
  options.add_option("--root", roots,
                     "Read models and data below this folder only (repeatable; default: the current folder)");
  options.add_flag("--times", times,
                   "Measure times, too: nothing else runs on this machine, and no second worker");
}

std::function<std::unique_ptr<Session>(const std::string&)> session_opener(
    const std::vector<std::string>& roots) {
  std::vector<fs::path> folders(roots.begin(), roots.end());
  if (folders.empty()) folders.push_back(fs::current_path());
  return [folders](const std::string& session) { return open_session_text(session, folders); };
}

}  // namespace ounce::verbs
