#include "evaluate/metrics/metric_command.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <cctype>
#include <fstream>

#include "base/json_text.h"
#include "data/containers/npy.h"
#include "data/tensor.h"
#include "runtime/child_process.h"

namespace ounce::evaluate {
namespace {

using nlohmann::json;

constexpr std::size_t kMostSaidBytes = std::size_t{1} << 20;
constexpr std::size_t kShown = 60;  // characters of the program's output in messages
constexpr double kPatience = 5;     // seconds between closing its output and exiting

// An empty command means a metric function.
[[noreturn]] void refuse_command(const std::string& command, const std::string& why) {
  throw Error(ErrorCode::kUsage, command.empty() ? "the metric function " + why
                                                 : fmt::format("`metric_command` '{}' {}", command, why));
}

std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char letter) { return letter < ' ' || letter > '~'; }, ' ');
  return text.size() > kShown ? text.substr(0, kShown) + "…" : text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? ""
                                         : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Parses the whole output, or else its last line.
json parsed(const std::string& text, const std::string& command) {
  const std::string_view all = trimmed(text);
  const std::size_t line = all.rfind('\n');
  for (const std::string_view part :
       {all, line == std::string_view::npos ? all : trimmed(all.substr(line))}) {
    json value = parse_json_or_nothing(part);
    if (value.is_number() || value.is_object()) return value;
  }
  refuse_command(command,
                 fmt::format("printed {}, not a number: it must print 0.93 or {{\"name\": 0.93}}",
                             all.empty() ? "nothing" : fmt::format("'{}'", on_one_line(std::string(all)))));
}

// The unit is one word for all metrics, or an object with a word for each.
MetricUnit unit_of(const json& said, const SaidMetric& metric, const std::string& command) {
  const json word = said.is_object() ? said.value(metric.name, json()) : said;
  if (word.is_null() || word.is_number())  // a number: a metric named "unit"
    return metric.higher_is_better ? MetricUnit::kAbsolute : MetricUnit::kRelative;
  const auto unit = word.is_string() ? from_name<MetricUnit>(word.get<std::string>()) : std::nullopt;
  if (!unit)
    refuse_command(command,
                   fmt::format("printed the unit {}: it must be share, relative, absolute or decibel",
                               on_one_line(json_text(word))));
  return *unit;
}

}  // namespace

std::vector<SaidMetric> read_said(const std::string& text, const std::string& command) {
  constexpr const char *kLower = "lower_is_better", *kUnit = "unit";
  const json value = parsed(text, command);
  if (value.is_number()) return {{"score", value.get<double>()}};
  std::vector<SaidMetric> all;
  for (const auto& [name, number] : value.items()) {
    if (name == kLower || (name == kUnit && !number.is_number())) continue;
    if (!number.is_number())
      refuse_command(command, fmt::format("printed no number for '{}': it must print {{\"{}\": 0.93}}",
                                          on_one_line(name), on_one_line(name)));
    all.push_back({name, number.get<double>()});
  }
  if (all.empty()) refuse_command(command, "printed no metric: it must print 0.93 or {\"name\": 0.93}");
  const json lower = value.value(kLower, json(false));
  for (SaidMetric& metric : all) {
    const bool is_listed =
        lower.is_array() && std::find(lower.begin(), lower.end(), metric.name) != lower.end();
    metric.higher_is_better = !(is_listed || lower == json(true));
    metric.unit = unit_of(value.value(kUnit, json()), metric, command);
  }
  return all;
}

void require_program(const MetricCommand& command) {
  const std::string_view text = trimmed(command.command);
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n;|&()<>"));
  const bool is_plain = std::all_of(word.begin(), word.end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 ||
           std::string_view("_-+./@:,%").find(static_cast<char>(letter)) != std::string_view::npos;
  });
  if (word.empty() || !is_plain) return;
  // Paths are checked separately, because `command -v` accepts any file or folder.
  constexpr const char* kIsProgram =
      "case $0 in */*) test -f \"$0\" && test -x \"$0\" ;; *) command -v -- \"$0\" > /dev/null ;; esac";
  runtime::ChildProcess process({"/bin/sh", "-c", kIsProgram, std::string(word)},
                                runtime::ChildProcess::Errors::kKept);
  process.end_input();
  if (!process.end(kPatience).is_good())
    refuse_command(command.command,
                   fmt::format("cannot run: program '{}' not found", on_one_line(std::string(word))));
}

// Collects the values of one output in a file until the number of samples is known.
class ArrayPile {
 public:
  ArrayPile(std::filesystem::path file, std::string name)
      : name_(std::move(name)), path_(std::move(file)), out_(path_, std::ios::binary) {}

  void add(const data::TensorView& view) {
    std::vector<float> floats;
    std::string_view bytes = view.bytes;
    ElementType type = view.type;
    if (type == ElementType::kBfloat16) {  // NumPy has no bfloat16
      data::to_floats(view, floats, name_);
      bytes = {reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float)};
      type = ElementType::kFloat;
    }
    if (!data::is_numpy_type(type)) return;  // strings
    is_alike_ = is_alike_ && (dims_.empty() || (dims_.front() == view.dims && type_ == type));
    type_ = type;
    dims_.push_back(view.dims);
    sizes_.push_back(bytes.size());
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out_) throw Error(ErrorCode::kIo, "cannot write: is the disk full?", path_.string());
  }

  bool is_empty() const { return dims_.empty(); }

  void write(data::NpzWriter& archive) {
    if (is_empty()) return;
    out_.flush();
    std::ifstream in(path_, std::ios::binary);
    std::string bytes;
    for (std::size_t i = 0; i < dims_.size(); ++i) {
      if (!is_alike_) archive.begin(fmt::format("{}/{}", name_, i), type_, dims_[i]);
      if (is_alike_ && i == 0) archive.begin(name_, type_, all_dims());
      bytes.resize(sizes_[i]);
      if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
        throw Error(ErrorCode::kIo, "cannot read the file back: is the disk full?", path_.string());
      archive.write(bytes);
    }
  }

 private:
  // The first axis counts the samples. It replaces a first axis of 1, or is added.
  data::Dims all_dims() const {
    data::Dims dims = dims_.front();
    if (dims.empty() || dims[0] != 1) dims.insert(dims.begin(), 1);
    dims[0] = static_cast<std::int64_t>(dims_.size());
    return dims;
  }

  std::string name_;
  std::filesystem::path path_;
  std::ofstream out_;
  ElementType type_ = ElementType::kUndefined;
  bool is_alike_ = true;
  std::vector<data::Dims> dims_;
  std::vector<std::size_t> sizes_;
};

namespace {

void write_archive(const std::filesystem::path& path, const std::vector<std::unique_ptr<ArrayPile>>& piles) {
  data::NpzWriter archive(path);
  for (const auto& pile : piles) pile->write(archive);
  archive.finish();
}

void require_no(const std::error_code& problem, const std::filesystem::path& path) {
  if (problem) throw Error(ErrorCode::kIo, fmt::format("cannot write: {}", problem.message()), path.string());
}

std::vector<SaidMetric> ask(const MetricCommand& command, const std::filesystem::path& folder) {
  if (command.function) return read_said(command.function(folder), "");
  // The folder is passed as $0, so that the shell does not interpret its characters.
  runtime::ChildProcess process({"/bin/sh", "-c", command.command + " \"$0\"", folder.string()},
                                runtime::ChildProcess::Errors::kKept);
  process.end_input();
  std::string said;
  const runtime::Outcome outcome =
      runtime::read_to_end(process.socket(), said, kMostSaidBytes, runtime::deadline_in(command.seconds));
  if (outcome == runtime::Outcome::kLate)
    refuse_command(command.command,
                   fmt::format("took more than {:g} s: raise `metric_command.seconds`", command.seconds));
  const runtime::ChildProcess::End end = process.end(kPatience);
  if (!end.is_good()) {
    const std::string words = process.said();
    refuse_command(command.command, fmt::format("{}{}", end.how(), words.empty() ? "" : ": " + words));
  }
  return read_said(said, command.command);
}

}  // namespace

CommandMeter::CommandMeter(const MetricCommand& command, const std::vector<data::ValueDescription>& outputs)
    : command_(command), folder_("metric") {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    reference_.push_back(
        std::make_unique<ArrayPile>(folder_.path() / fmt::format("original.{}", i), outputs[i].name));
    candidate_.push_back(
        std::make_unique<ArrayPile>(folder_.path() / fmt::format("candidate.{}", i), outputs[i].name));
  }
  labels_ = std::make_unique<ArrayPile>(folder_.path() / "labels", "labels");
}

CommandMeter::~CommandMeter() = default;

void CommandMeter::add(const Sample& sample) {
  for (std::size_t i = 0; i < reference_.size(); ++i) {
    reference_[i]->add(sample.reference[i]);
    candidate_[i]->add(sample.candidate[i]);
  }
  if (sample.label != nullptr) labels_->add(*sample.label);
}

std::vector<MetricResult> CommandMeter::results() const {
  const std::filesystem::path folder = folder_.path() / "outputs";
  std::error_code problem;
  std::filesystem::create_directory(folder, problem);
  require_no(problem, folder);
  write_archive(folder / "original.npz", reference_);
  write_archive(folder / "candidate.npz", candidate_);
  if (!labels_->is_empty()) {
    data::NpzWriter labels(folder / "labels.npz");
    labels_->write(labels);
    labels.finish();
  }
  const std::vector<SaidMetric> theirs = ask(command_, folder);
  std::filesystem::copy_file(folder / "original.npz", folder / "candidate.npz",
                             std::filesystem::copy_options::overwrite_existing, problem);
  require_no(problem, folder / "candidate.npz");
  const std::vector<SaidMetric> ours = ask(command_, folder);
  std::vector<MetricResult> all;
  for (const SaidMetric& their : theirs) {
    const auto our = std::find_if(ours.begin(), ours.end(),
                                  [&](const SaidMetric& metric) { return metric.name == their.name; });
    if (our == ours.end())
      refuse_command(command_.command,
                     fmt::format("printed '{}' for the candidate, but not for the original: it must "
                                 "print the same names each time",
                                 on_one_line(their.name)));
    MetricResult& result = all.emplace_back();
    result.name = their.name;
    result.higher_is_better = their.higher_is_better;
    result.unit = their.unit;
    result.reference = our->value;
    result.candidate = their.value;
    result.drop = (their.higher_is_better ? 1 : -1) * (our->value - their.value);
    result.drop_low = result.drop_high = result.drop;
    result.has_interval = false;
  }
  return all;
}

}  // namespace ounce::evaluate
