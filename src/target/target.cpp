#include "target/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "target/coreml.h"
#include "target/support_matrix.h"

namespace ounce::target {
namespace {

constexpr auto kCpus = std::to_array<std::string_view>({"avx2", "avx512", "vnni"});

[[noreturn]] void refuse_name(std::string_view text) {
  std::vector<std::string_view> places, names;
  for (const Place& place : kPlaces) places.push_back(place.name);
  for (const Provider& provider : providers()) names.push_back(provider.name);
  std::vector<std::string_view> systems;
  for (const CoremlSystem& system : coreml_systems())
    systems.insert(systems.end(), {system.ios, system.macos});
  throw Error(
      ErrorCode::kUsage,
      fmt::format(
          "`target` '{}' is not valid: use a platform and a release such as linux-x64@1.30.0 ({}), host, "
          "or a provider ({}); append +PROVIDER or, for x64, +CPU ({}) to a platform: "
          "linux-x64@1.30.0+vnni; targets of Core ML models are {}",
          text, fmt::join(places, ", "), fmt::join(names, ", "), fmt::join(kCpus, ", "),
          fmt::join(systems, ", ")));
}

// Major and minor version; nullopt for an invalid text.
std::optional<std::pair<int, int>> numbers_of(std::string_view version) {
  std::vector<int> numbers;
  for (bool has_more = true; has_more;) {
    const std::size_t dot = version.find('.');
    const std::string_view part = version.substr(0, dot);
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), numbers.emplace_back());
    if (error != std::errc() || end != part.data() + part.size()) return std::nullopt;
    has_more = dot != std::string_view::npos;
    version.remove_prefix(has_more ? dot + 1 : version.size());
  }
  if (numbers.size() != 2 && numbers.size() != 3) return std::nullopt;
  return std::pair(numbers[0], numbers[1]);
}

std::string oldest_measured(std::string_view machine) {
  for (const Release& release : SupportMatrix::measured().releases()) {
    if (release.machine == machine) return std::string(release.version);  // releases are sorted
  }
  return {};
}

// Refuses releases that are older than all measured ones or of another major version: they are probably
// typos, and nothing is known about them. Other releases that were not measured are accepted.
void require_measurable(std::string_view text, const Target& target) {
  const std::string oldest = oldest_measured(target.machine), newest = newest_measured(target.machine);
  const auto asked = numbers_of(target.version), first = numbers_of(oldest), last = numbers_of(newest);
  if (!asked) refuse_name(text);
  if (!first || !last || (*asked >= *first && asked->first == last->first)) return;
  throw Error(ErrorCode::kUsage,
              fmt::format("`target` '{}': no data for ONNX Runtime {} on {} (oldest measured: {}, latest "
                          "measured: {})",
                          text, target.version, target.machine, oldest, newest));
}

// ONNX models do not run in LiteRT (litert/litert_target.h).
void require_onnx_runtime(std::string_view text, std::string_view version) {
  if (!version.starts_with("litert") && !version.starts_with("tflite")) return;
  throw Error(ErrorCode::kUsage,
              fmt::format("`target` '{}' names LiteRT, which runs TFLite models; for an ONNX model use a "
                          "release of ONNX Runtime such as linux-x64@1.30.0",
                          text));
}

}  // namespace

bool names_litert(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return false;
  const std::string_view release = text.substr(at + 1);
  return release.starts_with("litert") || release.starts_with("tflite");
}

Target parse_target(std::string_view text) {
  Target target;
  target.name = text;
  target.provider = "cpu";
  if (find_provider(text) != nullptr && !text.empty() && text != "cpu") {
    target.provider = text;
    return target;
  }
  // A target of Core ML models (coreml.h).
  if (const std::optional<CoremlTarget> coreml = parse_coreml_target(text)) {
    target.system = coreml->system->ios;
    target.machine = "arm64";
    return target;
  }
  std::string_view rest = text.empty() || text == "cpu" ? "host" : text;
  for (std::size_t plus = rest.rfind('+'); plus != std::string_view::npos; plus = rest.rfind('+')) {
    const std::string_view word = rest.substr(plus + 1);
    const bool is_cpu = std::find(kCpus.begin(), kCpus.end(), word) != kCpus.end();
    const bool is_second = is_cpu ? !target.cpu.empty() : target.provider != "cpu";
    if (is_second || (!is_cpu && (word.empty() || find_provider(word) == nullptr))) refuse_name(text);
    (is_cpu ? target.cpu : target.provider) = word;
    rest = rest.substr(0, plus);
  }
  const std::size_t at = rest.find('@');
  if (at != std::string_view::npos) {
    require_onnx_runtime(text, rest.substr(at + 1));
    target.version = rest.substr(at + 1);
  }
  const Place* const found = find_place(rest.substr(0, at));
  const bool is_version = std::all_of(target.version.begin(), target.version.end(),
                                      [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
  if (found == nullptr || !is_version || (at != std::string_view::npos && target.version.empty()))
    refuse_name(text);
  target.system = found->system;
  target.machine = found->machine;
  if (!target.cpu.empty() && target.machine != "x64") refuse_name(text);
  if (target.version.empty()) {
    target.version = newest_measured(target.machine);
  } else {
    require_measurable(text, target);
  }
  return target;
}

std::string newest_measured(std::string_view machine) {
  std::string newest;
  for (const Release& release : SupportMatrix::measured().releases()) {
    if (release.machine == machine) newest = release.version;  // releases are sorted
  }
  return newest;
}

namespace {

// From the documentation of the providers; measured for the CPU (docs/explanation/fp16.md).
constexpr auto kProviders = std::to_array<Provider>({
    {"cpu", false, false},
    {"coreml", true, false},
    {"cuda", true, true},
    {"directml", true, false},
    {"migraphx", true, false},
    {"nnapi", true, false},
    {"openvino", true, false},
    {"qnn", true, false},
    {"tensorrt", true, true},
    {"webgpu", true, false},
    {"webnn", true, false},
    {"xnnpack", false, false},
});

}  // namespace

std::span<const Provider> providers() { return kProviders; }

const Provider* find_provider(std::string_view name) {
  if (name.empty()) return kProviders.data();
  const auto* found =
      std::find_if(kProviders.begin(), kProviders.end(), [&](const Provider& p) { return p.name == name; });
  return found == kProviders.end() ? nullptr : found;
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::vector<std::string_view> words_of(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    if (const std::string_view part = text.substr(0, at); !part.empty()) parts.push_back(part);
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

}  // namespace ounce::target
