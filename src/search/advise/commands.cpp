#include "search/advise/commands.h"

#include <fmt/format.h>

#include "base/text.h"
#include "recipe/format_info.h"

namespace ounce::search {
namespace {

std::vector<std::string> words_of(const DataOptions& data) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  if (!data.path.empty()) add("--data", data.path.string());
  for (const auto& [input, path] : data.paths) add("--data", input + "=" + path.string());
  for (const auto& [input, field] : data.fields) add("--input", input + "=" + field);
  for (const auto& [input, value] : data.constants) add("--set", fmt::format("{}={}", input, value));
  for (const auto& [input, output] : data.carry) add("--carry", input + "=" + output);
  for (const auto& [name, length] : data.shape) add("--shape", fmt::format("{}={}", name, length));
  if (!data.labels.empty()) add("--labels", data.labels);
  if (data.first != 0) add("--first", fmt::format("{}", data.first));
  if (data.samples != 0) add("--samples", fmt::format("{}", data.samples));
  if (data.parts != 1) add("--part", fmt::format("{}/{}", data.part + 1, data.parts));
  return words;
}

}  // namespace

CommandWriter::CommandWriter(const AdviseOptions& options, const AdviseResult& result)
    : options_(options),
      result_(result),
      words_(options.data_words.empty() ? words_of(options.data) : options.data_words) {}

std::string CommandWriter::quantize(Format format) const {
  std::string line =
      fmt::format("ounce quantize {} --to {}{}", quoted(result_.model.string()), name_of(format), target());
  if (!info_of(format).needs_data) return line;
  return line + data(false, Part::kCalibrating);
}

std::string CommandWriter::tune() const {
  std::string line = fmt::format("ounce tune {}{}{}", quoted(result_.model.string()), target(),
                                 data(true, Part::kCalibrating));
  return line + gates() + runtime();
}

std::string CommandWriter::verify_tuned() const {
  std::filesystem::path candidate = result_.model;
  candidate.replace_extension(".tuned" + result_.model.extension().string());
  return fmt::format("ounce verify {} {}{}", quoted(result_.model.string()), quoted(candidate.string()),
                     data(true, Part::kJudging)) +
         gates() + runtime();
}

std::string CommandWriter::verify(Format format) const {
  const std::filesystem::path candidate =
      default_output(result_.model, possible_format(result_.model, format));
  std::string line =
      fmt::format("ounce verify {} {}{}", quoted(result_.model.string()), quoted(candidate.string()),
                  data(true, info_of(format).needs_data ? Part::kJudging : Part::kAll));
  return line + gates() + runtime();
}

// Halves as half.h makes them, by the words of the command line.
std::string CommandWriter::data(bool with_labels, Part part) const {
  const DataOptions& data = options_.data;
  const bool is_part = part != Part::kAll && result_.samples >= 2;
  const bool is_sequence = !data.carry.empty();
  std::string text;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const bool is_range = words_[i] == "--first" || words_[i] == "--samples";
    const bool is_replaced = is_part && (is_sequence ? is_range : words_[i] == "--part");
    if ((!with_labels && words_[i] == "--labels") || is_replaced) {
      ++i;
      continue;
    }
    text += " " + quoted(words_[i]);
  }
  if (!is_part) return text;
  const bool is_second = part == Part::kJudging;
  if (!is_sequence)
    return text + fmt::format(" --part {}/{}", data.part + (is_second ? data.parts : 0) + 1, 2 * data.parts);
  const std::uint64_t half = result_.samples / 2, first = data.first + (is_second ? half : 0);
  if (first != 0) text += fmt::format(" --first {}", first);
  if (!is_second) text += fmt::format(" --samples {}", half);
  if (is_second && data.samples != 0) text += fmt::format(" --samples {}", result_.samples - half);
  return text;
}

// What was measured is to be proved on the same runtime.
std::string CommandWriter::runtime() const {
  std::string text;
  if (!options_.runtime.library.empty()) text += " --runtime " + quoted(options_.runtime.library);
  if (options_.runtime.threads != 1) text += fmt::format(" --threads {}", options_.runtime.threads);
  return text;
}

// The gates, and how labels are counted.
std::string CommandWriter::gates() const {
  std::string text;
  const Gates& gates = result_.gates;
  if (gates.min_agreement) text += fmt::format(" --min-agreement {:g}%", 100 * *gates.min_agreement);
  if (gates.max_drop) text += fmt::format(" --max-drop {:g}%", 100 * *gates.max_drop);
  if (gates.min_sqnr) text += fmt::format(" --min-sqnr {:g}", *gates.min_sqnr);
  if (options_.task != Task::kAuto) text += fmt::format(" --task {}", name_of(options_.task));
  if (!options_.metric_command.command.empty())
    text += " --metric-command " + quoted(options_.metric_command.command);
  if (!options_.tags.empty()) text += " --tags " + quoted(fmt::format("{}", fmt::join(options_.tags, ",")));
  if (options_.threshold) text += fmt::format(" --threshold {:g}", *options_.threshold);
  if (options_.metric != kAutoMetric) text += fmt::format(" --metric {}", options_.metric);
  if (!options_.label_output.empty()) text += " --label-output " + quoted(options_.label_output);
  for (const std::string& output : options_.outputs) text += " --outputs " + quoted(output);
  return text;
}

std::string CommandWriter::target() const {
  return options_.target.empty() ? "" : " --target " + quoted(options_.target);
}

}  // namespace ounce::search
