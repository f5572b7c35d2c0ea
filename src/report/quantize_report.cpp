#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "recipe/format_info.h"
#include "report/messages.h"
#include "report/recipe_command.h"
#include "report/reports.h"
#include "report/table.h"

namespace ounce::report {
namespace {

constexpr std::size_t kReasonsShown = 12;

struct Totals {
  std::uint64_t before = 0, after = 0;
  double seconds = 0;
  std::size_t models = 0, failed = 0;
};

Totals totals_of(const std::vector<QuantizeRow>& rows) {
  Totals totals;
  for (const QuantizeRow& row : rows) {
    ++totals.models;
    if (!row.error.empty()) {
      ++totals.failed;
      continue;
    }
    totals.before += row.result.bytes_before;
    totals.after += row.result.bytes_after;
    totals.seconds += row.result.seconds;
  }
  return totals;
}

double ratio(std::uint64_t after, std::uint64_t before) {
  return before == 0 ? 1 : static_cast<double>(after) / static_cast<double>(before);
}

// The output SQNR; a dash if the model was not run.
std::string output_text(const TrialResult& trial) {
  return trial.is_tried && trial.samples != 0 ? decibel_text(trial.sqnr_db) : "-";
}

// The number of compressed tensors, and their format if it is not the requested one.
std::string stored_text(const QuantizeResult& result) {
  const std::string count = fmt::format("{}/{}", result.stored_count(), result.tensors.size());
  return result.stored_as() == result.format ? count
                                             : fmt::format("{} as {}", count, name_of(result.stored_as()));
}

}  // namespace

std::string quantize_table(const std::vector<QuantizeRow>& rows, bool dry_run) {
  Table table({"model", "format", ">before", ">after", ">size", ">stored", ">weights SQNR", ">output SQNR",
               ">time", dry_run ? "would write" : "written"});
  for (const QuantizeRow& row : rows) {
    if (!row.error.empty()) {
      table.add({row.model.string(), "-", "-", "-", "-", "-", "-", "-", "-", "nothing (error below)"});
      continue;
    }
    const QuantizeResult& result = row.result;
    table.add({row.model.string(), display_name(result.format), bytes_text(result.bytes_before),
               bytes_text(result.bytes_after), percent_text(result.ratio()), stored_text(result),
               decibel_text(result.sqnr_db), output_text(result.trial), seconds_text(result.seconds),
               result.output.string()});
  }
  const Totals totals = totals_of(rows);
  if (rows.size() > 1 && rows.front().model != rows.back().model) {
    table.add_rule();
    table.add({fmt::format("total {}", totals.models), "", bytes_text(totals.before),
               bytes_text(totals.after),
               totals.before == 0 ? "-" : percent_text(ratio(totals.after, totals.before)), "", "", "",
               seconds_text(totals.seconds),
               totals.failed == 0 ? "" : fmt::format("{} not written", totals.failed)});
  }
  return table.text();
}

std::string tensor_table(const std::vector<TensorOutcome>& tensors, std::size_t at_most) {
  Table table({"tensor", "shape", "op", ">before", ">after", ">SQNR", "decision"});
  std::size_t shown = 0;
  for (const TensorOutcome& tensor : tensors) {
    if (shown++ == at_most) break;
    const bool is_half = tensor.encoding == StoredAs::kFloat16 || tensor.encoding == StoredAs::kBfloat16;
    const bool is_taken_as_it_is = is_half && tensor.decoder == Decoder::kKernel;
    const char* const encoding = name_of(tensor.encoding);
    const std::string reason = with_options(tensor.reason);
    const std::string decision =
        !tensor.stored ? safe_format("kept: {}", reason)
        : is_taken_as_it_is
            ? safe_format("{}: {}", encoding, reason)
            : safe_format("{} per {}, {}: {}", encoding, tensor.granularity, name_of(tensor.decoder), reason);
    const std::string name = tensor.scope.empty() ? tensor.name : tensor.scope + "/" + tensor.name;
    table.add({name, fmt::format("{}[{}]", tensor.type, fmt::join(tensor.shape, ",")), tensor.op_type,
               bytes_text(tensor.bytes_before), bytes_text(tensor.bytes_after),
               tensor.stored ? decibel_text(tensor.sqnr_db) : "-", decision});
  }
  std::string text = table.text();
  if (tensors.size() > at_most) text += fmt::format("… and {} more\n", tensors.size() - at_most);
  return text;
}

std::string arithmetic_lines(const std::vector<NodeOutcome>& nodes) {
  std::map<std::string, std::size_t> integer, half;
  std::map<std::pair<std::string, std::string>, std::size_t> floats;
  for (const NodeOutcome& node : nodes) {
    if (node.arithmetic == Arithmetic::kFloat) {
      ++floats[{node.op_type, with_options(node.reason)}];
    } else {
      ++(is_integer(node.arithmetic) ? integer : half)[node.op_type];
    }
  }
  const auto line = [](const char* what, const std::map<std::string, std::size_t>& ops) {
    std::string text;
    for (const auto& [op, count] : ops) text += safe_format("{} {} {}", text.empty() ? what : ",", count, op);
    return text.empty() ? text : text + '\n';
  };
  std::string text = line("  runs in INT8:", integer) + line("  runs in 16-bit floating point:", half);
  std::size_t shown = 0, hidden = 0;
  for (const auto& [what, count] : floats) {
    if (shown++ < kReasonsShown) {
      text += safe_format("  kept in FP32: {} {}: {}\n", count, what.first, what.second);
    } else {
      hidden += count;
    }
  }
  if (hidden != 0) text += fmt::format("  kept in FP32: {} more (--json lists all)\n", hidden);
  return text;
}

std::string left_alone(const std::vector<TensorOutcome>& tensors) {
  std::map<std::string, std::pair<std::size_t, std::uint64_t>> reasons;
  for (const TensorOutcome& tensor : tensors) {
    if (tensor.stored) continue;
    auto& [count, bytes] = reasons[with_options(tensor.reason)];
    ++count;
    bytes += tensor.bytes_before;
  }
  std::string text;
  for (const auto& [reason, sums] : reasons) {
    text += safe_format("  unchanged: {} tensor{}, {}: {}\n", sums.first, sums.first == 1 ? "" : "s",
                        bytes_text(sums.second), reason);
  }
  return text;
}

std::string trial_line(const TrialResult& trial) {
  if (!trial.is_tried)
    return trial.why_not.empty() ? "" : safe_format("not run: {}", with_options(trial.why_not));
  if (trial.samples == 0)
    return safe_format("loads in {} {}, but {}", trial.runtime, trial.runtime_version,
                       with_options(trial.why_not));
  return safe_format("outputs compared in {} {} on {} {}{}", trial.runtime, trial.runtime_version,
                     trial.samples, trial.is_generated ? "random input" : "sample",
                     trial.samples == 1 ? "" : "s");
}

std::string memory_line(const QuantizeResult& result) {
  constexpr std::uint64_t kShows = 8 << 20;  // below, the memory of the runtime itself dominates
  const auto &before = result.trial.memory_before, &after = result.trial.memory_after;
  if (!before || !after || before->peak == 0 || result.bytes_before < kShows) return "";
  return safe_format("memory after load: {} (original: {}); peak while loading: {} (original: {})",
                     bytes_text(after->stays), bytes_text(before->stays), bytes_text(after->peak),
                     bytes_text(before->peak));
}

std::string speed_line(const TrialResult& trial) {
  if (!trial.speed_up) return "";
  const SpeedUp& speed = *trial.speed_up;
  if (!speed.is_reliable)
    return "speed: unknown, because the machine is busy; measure it with 'ounce bench' on an idle machine";
  if (!speed.is_measurable)
    return fmt::format("speed: no measurable difference (95 % CI {:.2f}–{:.2f})", speed.low, speed.high);
  return fmt::format("speed: {:.2f}× the original (95 % CI {:.2f}–{:.2f})", speed.ratio, speed.low,
                     speed.high);
}

std::string kernels_line(const TrialResult& trial) {
  if (!trial.kernels) return "";
  return fmt::format("{} nodes run in INT8 kernels, {} in others (profile of {} {})", trial.kernels->integer,
                     trial.kernels->other, trial.runtime, trial.runtime_version);
}

namespace {

std::string range_text(const ValueRange& range) {
  return fmt::format("{:.4g} … {:.4g}", range.low, range.high);
}

}  // namespace

std::string calibrate_text(const CalibrateResult& result, std::size_t at_most) {
  std::vector<const ObservedValue*> order;
  for (const ObservedValue& value : result.values) order.push_back(&value);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->sqnr_db < b->sqnr_db; });
  Table table({"activation", ">observed", ">chosen", "method", ">SQNR at 8 bits"});
  for (const ObservedValue* value : order) {
    if (at_most-- == 0) break;
    table.add({value->name, range_text({value->minimum, value->maximum}), range_text(value->chosen),
               name_of(value->method), decibel_text(value->sqnr_db)});
  }
  std::string text = table.text();
  if (result.values.size() > order.size() || at_most == static_cast<std::size_t>(-1))
    text += "… (the worst are shown; --verbose lists all)\n";
  text += safe_format("{} activation{} on {} sample{} → {}\n", result.values.size(),
                      result.values.size() == 1 ? "" : "s", result.samples, result.samples == 1 ? "" : "s",
                      result.output.string());
  for (const std::string& note : result.notes) text += safe_format("note: {}\n", note_text(note));
  return text;
}

}  // namespace ounce::report
