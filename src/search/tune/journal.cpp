#include "search/tune/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <ounce/error.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/cancel.h"
#include "base/digest.h"
#include "base/json_text.h"
#include "base/machine.h"
#include "data/contract/contract_file.h"
#include "data/source/sources.h"
#include "formats/open.h"
#include "io/mapped_file.h"
#include "io/temporary_files.h"
#include "quantize/digests.h"
#include "quantize/statement.h"
#include "runtime/places.h"

namespace ounce::search {

using nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double number_or(const json& value, double otherwise) {
  if (value == "nan") return std::nan("");
  if (value == "inf") return kInfinity;
  if (value == "-inf") return -kInfinity;
  return value.is_number() ? value.get<double>() : otherwise;
}

json trial_json(const TuneTrial& trial) {
  json made = {{"problem", trial.problem},
               {"bytes", trial.bytes},
               {"sqnr_db", number(trial.sqnr_db)},
               {"is_exact", trial.sqnr_db == kInfinity},
               {"passed", trial.passed},
               {"verdict", trial.verdict},
               {"confidence", trial.confidence},
               {"samples", trial.samples},
               {"samples_needed", trial.samples_needed},
               {"too_few", trial.has_too_few_samples}};
  if (trial.agreement) made["agreement"] = *trial.agreement;
  if (trial.metric) {
    const MetricResult& metric = *trial.metric;
    made["metric"] = {{"name", metric.name},
                      {"higher_is_better", metric.higher_is_better},
                      {"unit", name_of(metric.unit)},
                      {"reference", number(metric.reference)},
                      {"candidate", number(metric.candidate)},
                      {"drop", number(metric.drop)},
                      {"drop_low", number(metric.drop_low)},
                      {"drop_high", number(metric.drop_high)}};
    if (metric.drop_bound) made["metric"]["drop_bound"] = number(*metric.drop_bound);
  }
  if (trial.gate) made["gate"] = quantization::to_json(*trial.gate);
  return made;
}

TuneTrial trial_of(const json& made) {
  TuneTrial trial;
  trial.problem = made.at("problem");
  trial.bytes = made.at("bytes");
  trial.sqnr_db = number_or(made.at("sqnr_db"), made.at("is_exact").get<bool>() ? kInfinity : -kInfinity);
  trial.passed = made.at("passed");
  trial.verdict = made.at("verdict");
  trial.confidence = made.at("confidence");
  trial.samples = made.at("samples");
  trial.samples_needed = made.at("samples_needed");
  trial.has_too_few_samples = made.at("too_few");
  if (made.contains("gate")) trial.gate = quantization::gate_from(made["gate"]);
  if (made.contains("agreement")) trial.agreement = made["agreement"].get<double>();
  if (made.contains("metric")) {
    const json& metric = made["metric"];
    const auto at = [&](const char* key) { return number_or(metric.at(key), std::nan("")); };
    trial.metric = MetricResult{metric.at("name"), metric.at("higher_is_better"),
                                at("reference"),   at("candidate"),
                                at("drop"),        at("drop_low"),
                                at("drop_high")};
    trial.metric->unit = from_name<MetricUnit>(metric.value("unit", "")).value_or(MetricUnit::kShare);
    if (metric.contains("drop_bound")) trial.metric->drop_bound = at("drop_bound");
  }
  return trial;
}

json speed_json(const SpeedUp& speed) {
  return {{"ratio", number(speed.ratio)},         {"low", number(speed.low)},
          {"high", number(speed.high)},           {"rounds", speed.rounds},
          {"is_measurable", speed.is_measurable}, {"load", number(speed.load)},
          {"is_reliable", speed.is_reliable}};
}

SpeedUp speed_of(const json& made) {
  SpeedUp speed;
  const double ratio = number_or(made.at("ratio"), 1);
  speed.ratio = ratio > 0 ? ratio : 1;
  speed.low = number_or(made.at("low"), 1);
  speed.high = number_or(made.at("high"), 1);
  speed.rounds = made.at("rounds");
  speed.is_measurable = made.at("is_measurable");
  speed.load = number_or(made.at("load"), 0);
  speed.is_reliable = made.at("is_reliable");
  return speed;
}

namespace {

namespace fs = std::filesystem;

fs::path path_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// The user's cache folder; empty if no variable names it. Never a folder in /tmp: another user may have
// created it first and could change its content.
fs::path users_cache() {
  if (const auto all = path_in("XDG_CACHE_HOME"); !all.empty()) return all / "ounce";
  if (const auto home = path_in("HOME"); !home.empty()) return home / ".cache" / "ounce";
  return {};
}

// Makes new folders private, because measurements contain the names of a model's layers.
std::error_code make_folder(const fs::path& folder) {
  std::error_code failure;
  if (fs::is_directory(folder, failure)) return {};
  failure.clear();
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), failure);
  if (failure) return failure;
  if (::mkdir(folder.c_str(), S_IRWXU) == 0) return {};
  const int error = errno;
  return fs::is_directory(folder, failure) ? std::error_code()
                                           : std::error_code(error, std::generic_category());
}

// Says why the user's cache cannot be used; empty if it can.
std::string refusal_of_users_cache(const fs::path& folder) {
  if (folder.empty()) return "HOME is not set";
  if (const std::error_code failure = make_folder(folder))
    return fmt::format("{}: {}", folder.string(), failure.message());
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0)
    return fmt::format("{}: {}", folder.string(), std::strerror(errno));
  if (status.st_uid != ::geteuid()) return fmt::format("{} belongs to another user", folder.string());
  const bool is_open_to_others = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (is_open_to_others && ::chmod(folder.c_str(), S_IRWXU) != 0)
    return fmt::format("others can write to {}", folder.string());
  return {};
}

constexpr const char* kAdvice = "give `cache` or `keep=false`";

constexpr JsonLimits kLine = {.depth = 32, .bytes = std::size_t{64} << 20};

// Digest of all other fields of a line. It detects damaged lines, and lines of other programs.
std::string check_of(const nlohmann::json& line) {
  const std::string text = json_text(line["key"]) + json_text(line["value"]) + json_text(line["seconds"]);
  return hex(digest_of(text)).substr(0, 16);
}

bool is_measurement(const nlohmann::json& line) {
  return line.is_object() && line.contains("key") && line["key"].is_string() && line.contains("value") &&
         line.contains("seconds") && line["seconds"].is_number() && line.contains("check") &&
         line["check"] == check_of(line);
}

// The running kernel: locks work between its processes, also between containers, on every file system that
// has locks. Empty if unknown.
std::string host_word() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  std::erase(id, '-');
  return id.substr(0, 12);
}

// "NAME." of NAME.HOST.jsonl: the files of all processes begin with it.
std::string common_start(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.find('.') + 1);
}

std::string read_from(int file, std::uint64_t begin) {
  std::string text;
  std::vector<char> piece(std::size_t{1} << 16);
  for (;;) {
    const ssize_t got = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(begin + text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

// True if the process that writes this file has ended.
bool is_free(int file) {
  if (::flock(file, LOCK_SH | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  ::flock(file, LOCK_UN);
  return true;
}

// A file of the folder's owner is trusted, because the user chose the folder.
bool is_trusted(const struct stat& status, const fs::path& file) {
  struct stat folder {};
  const fs::path above = file.has_parent_path() ? file.parent_path() : ".";
  return status.st_uid == ::geteuid() ||
         (::stat(above.c_str(), &folder) == 0 && status.st_uid == folder.st_uid);
}

bool ends_in_a_line(int file) {
  struct stat status {};
  char last = '\n';
  if (::fstat(file, &status) != 0 || status.st_size == 0) return true;
  return ::pread(file, &last, 1, status.st_size - 1) != 1 || last == '\n';
}

}  // namespace

std::filesystem::path journal_file(const std::filesystem::path& folder, const std::string& identity,
                                   std::vector<std::string>& notes) {
  fs::path where = folder.empty() ? path_in("OUNCE_CACHE") : folder;
  if (!where.empty()) {
    if (const std::error_code failure = make_folder(where))
      throw Error(ErrorCode::kIo,
                  fmt::format("cannot keep measurements here: {}; {}", failure.message(), kAdvice),
                  where.string());
  } else {
    where = users_cache();
    if (const std::string why = refusal_of_users_cache(where); !why.empty()) {
      notes.push_back(fmt::format("measurements are not kept: {}; {}", why, kAdvice));
      return {};
    }
  }
  const std::string host = host_word();
  return where / fmt::format("{}{}.jsonl", hex(digest_of(identity)), host.empty() ? "" : "." + host);
}

Journal::Journal(std::filesystem::path file) {
  if (file.empty()) return;
  // A file that another process holds is its own.
  const std::string name = file.filename().replace_extension().string();
  constexpr int kMostWriters = 64;
  for (int i = 1; i <= kMostWriters && !out_; ++i)
    open_own(i == 1 ? file : file.parent_path() / fmt::format("{}.{}.jsonl", name, i));
  while (!out_)
    open_own(file.parent_path() /
             fmt::format("{}.{}.jsonl", name, temporary_folder_name("journal").substr(14)));
  refresh();
  read_own();
}

// Returns false if another process writes this file. Throws Error{kIo} if it cannot be a journal.
bool Journal::open_own(const fs::path& file) {
  constexpr int kFlags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  io::Descriptor opened(::open(file.c_str(), kFlags, S_IRUSR | S_IWUSR));
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kIo, fmt::format("cannot keep measurements here: {}; {}", why, kAdvice),
                file.string());
  };
  if (!opened) refuse(errno == ELOOP ? "is a symbolic link" : std::strerror(errno));
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0) refuse(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse("is not a regular file");
  if (!is_trusted(status, file)) refuse("belongs to another user");
  // Without locks only a file that did not exist is known to be free.
  if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || status.st_size != 0))
    return false;
  out_ = std::move(opened);
  file_ = file;
  return true;
}

// Takes one line; returns false if it is not valid.
bool Journal::take_line(std::string_view text, std::set<std::string>* claims) {
  nlohmann::json line = parse_json_or_nothing(text, kLine);
  if (claims != nullptr && line.is_object() && line.contains("claim") && line["claim"].is_string()) {
    claims->insert(line["claim"].get<std::string>());
    return true;
  }
  if (!is_measurement(line)) return false;
  const auto key = line["key"].get<std::string>();
  if (claims != nullptr) claims->erase(key);
  if (claims != nullptr && own_.contains(key)) return true;
  const double seconds = std::max(0.0, line["seconds"].get<double>());
  entries_[key] = &all_.emplace_back(Entry{std::move(line["value"]), seconds});
  if (claims == nullptr) own_.insert(key);
  return true;
}

// Reads by the descriptor: the path may name another file by now. The file may also become shorter meanwhile.
void Journal::read_own() {
  const std::string text = read_from(out_.get(), 0);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    take_line(line, nullptr);
  }
}

void Journal::refresh() {
  const std::scoped_lock lock(mutex_);
  if (out_) read_others();
}

// Reads the complete lines that were added since the last time.
void Journal::read_others() {
  std::error_code ignored;
  const fs::path folder = file_.has_parent_path() ? file_.parent_path() : ".";
  const std::string start = common_start(file_);
  for (const std::string& name : io::names_in(folder, ignored)) {
    if (!name.starts_with(start) || !name.ends_with(".jsonl") || name == file_.filename()) continue;
    const io::Descriptor file(
        ::open((folder / name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        !is_trusted(status, folder / name))
      continue;
    Other& other = others_[name];
    const std::string text = read_from(file.get(), other.read);
    const std::size_t whole = text.rfind('\n') + 1;  // 0 if there is no complete line
    for (std::string_view rest = std::string_view(text).substr(0, whole); !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      take_line(line, &other.claims);
    }
    other.read += whole;
    other.lives = !is_free(file.get());
    if (!other.lives) other.claims.clear();
  }
}

const Journal::Entry* Journal::find(const std::string& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second;
}

const Journal::Entry& Journal::add(const std::string& key, nlohmann::json value, double seconds) {
  const std::scoped_lock lock(mutex_);
  const Entry& added = all_.emplace_back(Entry{std::move(value), seconds});
  entries_[key] = &added;
  own_.insert(key);
  if (!out_) return added;
  // Replaces invalid UTF-8 before the checksum is computed, as the reader will see it.
  const auto exact = [](const json& text) { return parse_json(json_text(text), kLine); };
  nlohmann::json line = {{"key", exact(key)}, {"value", exact(added.value)}, {"seconds", seconds}};
  line["check"] = check_of(line);
  append(line);
  return added;
}

bool Journal::claim(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  if (!out_) return true;
  read_others();
  bool is_alone = true;
  for (const auto& [name, other] : others_) {
    if (other.claims.contains(key)) return false;
    if (other.lives) is_alone = false;
  }
  if (!is_alone) append({{"claim", key}});
  return true;
}

// Appends by one write, after an incomplete line of an earlier process, so that lines are complete or absent.
void Journal::append(const nlohmann::json& line) const {
  const std::string text = (ends_in_a_line(out_.get()) ? "" : "\n") + json_text(line) + "\n";
  if (::write(out_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw Error(ErrorCode::kIo, fmt::format("cannot keep measurements here: is the disk full? {}", kAdvice),
                file_.string());
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{4} << 20;

std::string digest_of_bytes(const io::MappedFile& file) {
  std::vector<Digest> pieces;
  for (std::size_t at = 0; at < file.bytes().size(); at += kPiece) {
    throw_if_cancelled();
    const std::string_view piece = file.bytes().substr(at, kPiece);
    pieces.push_back(digest_of(piece));
    file.release(piece);
  }
  return hex(digest_of(pieces));
}

// Covers each word of a list that names a file relative to the list.
std::string digest_of_list(const fs::path& path) {
  const io::MappedFile list = io::MappedFile::open(path);
  std::string text = digest_of_bytes(list);
  constexpr std::string_view kBetween = ",;\t\r\n\"{}[]";
  const std::string_view bytes = list.bytes();
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find_first_of(kBetween, at), bytes.size());
    const std::string_view word = bytes.substr(at, end - at);
    at = end + 1;
    std::error_code none;
    if (word.empty() || word.size() > 4096 || word.find('\0') != word.npos) continue;
    const fs::path named = path.parent_path() / fs::path(word);
    if (fs::is_regular_file(named, none)) text += digest_of_bytes(io::MappedFile::open(named));
  }
  return text;
}

std::string digest_of_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code none;
    if (at->is_regular_file(none)) files.push_back(at->path());
  }
  if (failure) throw Error(ErrorCode::kIo, "cannot read the folder: " + failure.message(), folder.string());
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files)
    text += fmt::format("{} {}\n", file.lexically_relative(folder).string(),
                        digest_of_bytes(io::MappedFile::open(file)));
  return text;
}

std::string digest_of_path(const fs::path& path) {
  std::error_code none;
  if (path.empty()) return "none";
  const bool is_list = path.extension() == ".csv" || path.extension() == ".jsonl";
  const std::string text = fs::is_directory(path, none) ? digest_of_folder(path)
                           : is_list                    ? digest_of_list(path)
                                                        : digest_of_bytes(io::MappedFile::open(path));
  return hex(digest_of(text));
}

// Does not open a session.
std::string runtime_text(const fs::path& model, const RuntimeOptions& options) {
  std::string text =
      fmt::format("threads {} {} optimization {} config {}", options.threads, options.threads_between,
                  name_of(options.optimization), fmt::join(options.config, ","));
  if (options.isolate && options.isolate->memory != 0)
    text += fmt::format(" memory {}", options.isolate->memory);
  if (options.remote)
    return text + fmt::format(" remote '{}' '{}' '{}' '{}'", options.remote->via, options.remote->launcher,
                              options.remote->library, options.library);
  const model::ModelKind kind = runtime::kind_to_run(model);
  return text + " version " + runtime::open_library(kind, runtime::find_library(kind, options.library));
}

std::string model_digest(const fs::path& path) {
  ThreadPool pool;
  return quantization::source_digest(*formats::open_model(path), pool);
}

}  // namespace

std::string digest_of_data(const DataOptions& data) {
  std::string text = digest_of_path(data.path);
  if (data.memory) text += data::description_of(*data.memory);
  for (const auto& [input, path] : data.paths)
    text += fmt::format("\ninput '{}' {}", input, digest_of_path(path));
  for (const auto& [input, field] : data.fields) text += fmt::format("\nfield '{}' '{}'", input, field);
  for (const auto& [input, value] : data.constants) text += fmt::format("\nconstant '{}' {}", input, value);
  for (const auto& [input, output] : data.carry) text += fmt::format("\ncarry '{}' '{}'", input, output);
  for (const auto& [name, size] : data.shape) text += fmt::format("\nshape '{}' {}", name, size);
  text += fmt::format("\nlabels '{}' first {} samples {} part {} of {} batch {} seed {}", data.labels,
                      data.first, data.samples, data.part, data.parts, data.batch, data.seed);
  if (data.contract) text += "\n" + data::write_contract(*data.contract, -1);
  return hex(digest_of(text));
}

std::string identity_of(const fs::path& model, const DataOptions& data, const RuntimeOptions& runtime,
                        const std::string& more) {
  return fmt::format("ounce {}\nmodel {}\ndata {}\nruntime {}\nkernels {}\n{}", version(),
                     model_digest(model), digest_of_data(data), runtime_text(model, runtime), cpu_kernels(),
                     more);
}

}  // namespace ounce::search
