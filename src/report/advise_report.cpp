#include "report/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "recipe/format_info.h"
#include "report/recipe_command.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Align = Table::Align;

constexpr std::size_t kWidth = 110;  // of a line of text, in characters
constexpr std::size_t kLabel = 11;   // of what stands before it

const char* meaning_of(SizeClass size) {
  switch (size) {
    case SizeClass::kSmall: return "small: the gain may not be worth the risk";
    case SizeClass::kMedium: return "medium: worth it where downloads or memory count";
    case SizeClass::kLarge: break;
  }
  return "large: essential for downloads";
}

std::string speed_text(const MethodFinding& method) {
  const SpeedUp& speed = method.speed_up;
  if (!method.is_timed()) return speed.rounds != 0 && !speed.is_reliable ? "machine too busy" : "not timed";
  if (!speed.is_measurable) return "no difference";
  return fmt::format("{:.2f} × ({:.2f} … {:.2f})", speed.ratio, speed.low, speed.high);
}

// Words in lines of kWidth, all but the first behind `indent` spaces.
std::string wrapped(const std::string& given, std::size_t indent) {
  const std::string text = plain(given);
  std::string result;
  std::size_t column = indent, at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const auto width = static_cast<std::size_t>(std::count_if(
        word.begin(), word.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
    if (column > indent && column + 1 + width > kWidth) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += width;
    at = end + 1;
  }
  return result + '\n';
}

std::string labelled(const std::string& label, const std::string& text) {
  return fmt::format("{:<{}}", label, kLabel) + wrapped(text, kLabel);
}

std::string listed(const std::string& title, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += labelled(text.empty() ? title : "", with_options(line));
  return text;
}

std::string baseline_text(const Baseline& baseline) {
  if (!baseline.is_measured) return safe_format("not run: {}", with_options(baseline.why_not));
  std::string text = safe_format("{} a call (p99 {}), load {}, cold start {}, peak memory {}",
                                 time_text(baseline.latency.p50), time_text(baseline.latency.p99),
                                 time_text(baseline.load_seconds), time_text(baseline.cold_start_seconds),
                                 bytes_text(baseline.peak_memory));
  for (const MetricResult& metric : baseline.metrics) {
    if (!std::isnan(metric.reference)) text += safe_format(", {} {:.4f}", metric.name, metric.reference);
  }
  return text;
}

// "QLinearConv 43 %, QLinearMul 7 %, …"
std::string time_goes_text(const Profile& profile) {
  constexpr std::size_t kNamed = 5;
  constexpr double kWorthNaming = 0.02;
  std::vector<std::string> parts;
  for (const OpTime& op : profile.ops) {
    const double share = profile.seconds > 0 ? op.seconds / profile.seconds : 0;
    if (parts.size() == kNamed || share < kWorthNaming) break;
    parts.push_back(safe_format("{} {:.0f} %", op.op_type, 100 * share));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> time_goes_lines(const AdviseResult& result) {
  std::vector<std::string> lines;
  if (result.baseline.profile) lines.push_back("the original: " + time_goes_text(*result.baseline.profile));
  for (const MethodFinding& method : result.methods) {
    if (!method.profile) continue;
    lines.push_back(fmt::format("{}: {}; {:.0f} % multiplies integers", name_of(method.format),
                                time_goes_text(*method.profile), 100 * method.profile->integer_share));
  }
  return lines;
}

std::string measured_text(const AdviseResult& result) {
  std::string text = safe_format("ONNX Runtime {}; ", result.baseline.runtime_version);
  if (result.is_generated) {
    text += fmt::format("compared on {} random inputs", result.quality_samples);
  } else {
    text += fmt::format("compared on {} of {} samples", result.quality_samples, result.samples);
    for (const MethodFinding& method : result.methods) {
      if (info_of(method.format).needs_data && method.is_measured)
        text += fmt::format(" ({} on {}, calibrated on {} others)", name_of(method.format), method.samples,
                            result.calibration_samples);
    }
  }
  return text + fmt::format("; {:.0f} s of {:.0f}", result.seconds, result.budget);
}

std::string method_table(const AdviseResult& result) {
  Table table({{"method"},
               {"size", Align::kRight},
               {"", Align::kRight},
               {"speed (95 % sure)"},
               {"memory", Align::kRight},
               {"SQNR", Align::kRight},
               {"good enough?"}});
  bool has_rows = false;
  for (const MethodFinding& method : result.methods) {
    if (!method.is_measured) continue;
    has_rows = true;
    const char* verdict = method.is_acceptable ? "yes" : method.is_uncertain ? "not certain" : "NO";
    table.add({name_and_label(method.format), bytes_text(method.bytes), percent_text(method.ratio),
               speed_text(method), method.peak_memory == 0 ? "-" : bytes_text(method.peak_memory),
               decibel_text(method.sqnr_db), safe_format("{}: {}", verdict, with_options(method.quality))});
  }
  return has_rows ? '\n' + table.text() : "";
}

std::vector<std::string> unmeasured(const AdviseResult& result) {
  std::vector<std::string> lines;
  for (const MethodFinding& method : result.methods) {
    if (!method.is_measured) lines.push_back(safe_format("{}: {}", name_of(method.format), method.why_not));
  }
  return lines;
}

std::vector<std::string> risk_lines(const std::vector<Risk>& risks) {
  std::vector<std::string> lines;
  for (const Risk& risk : risks) {
    lines.push_back(risk.evidence);
    if (!risk.advice.empty()) lines.push_back("→ " + risk.advice);
  }
  return lines;
}

}  // namespace

std::string advise_text(const AdviseResult& result) {
  std::string text =
      safe_format("{}\n", result.model.string()) + wrapped(with_options(result.headline), 0) + '\n';
  text += listed("why", result.reasons);
  text += labelled("model", safe_format("{}, {} ({})", result.family.description, bytes_text(result.bytes),
                                        meaning_of(result.size)));
  for (const std::string& reason : result.family.reasons) text += labelled("", with_options(reason));
  text += labelled("as it is", baseline_text(result.baseline));
  if (!result.methods.empty()) {
    text += labelled("measured", result.baseline.is_measured ? measured_text(result) : "nothing");
    text += method_table(result) + '\n';
    text += listed("time goes", time_goes_lines(result));
    text += listed("not tried", unmeasured(result));
  }
  text += listed("risks", risk_lines(result.risks));
  text += listed("missing", result.missing);
  text += listed("notes", result.notes);
  if (!result.commands.empty()) text += '\n';
  for (const RecommendedCommand& command : result.commands)
    text += safe_format("# {}\n", with_options(command.why)) + escaped(command.line) + '\n';
  return text;
}

std::string advise_table(const std::vector<AdviseRow>& rows) {
  Table table({{"model"}, {"size", Align::kRight}, {"family"}, {"advice"}});
  std::size_t worthwhile = 0, unknown = 0;
  for (const AdviseRow& row : rows) {
    if (!row.error.empty()) {
      table.add({row.model.string(), "-", "-", "error: see above"});
      continue;
    }
    table.add({row.model.string(), bytes_text(row.result.bytes), row.result.family.description,
               with_options(row.result.headline)});
    const AdviceVerdict verdict = row.result.verdict;
    worthwhile += verdict == AdviceVerdict::kQuantize || verdict == AdviceVerdict::kStoreSmall ? 1U : 0U;
    unknown += verdict == AdviceVerdict::kUnknown ? 1U : 0U;
  }
  table.add_rule();
  table.add({fmt::format("total {}", rows.size()), "", "",
             fmt::format("{} worth it{}", worthwhile,
                         unknown == 0 ? "" : fmt::format(", {} not known yet", unknown))});
  return table.text();
}

}  // namespace ounce::report
