#include "report/reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/recipe_command.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Align = Table::Align;

std::string speed_text(const SpeedUp& speed, bool is_base) {
  if (is_base) return "1";
  if (!speed.is_reliable) return "not known: the machine is busy";
  if (speed.rounds < SpeedUp::kLeastRounds)
    return fmt::format("too few rounds to tell ({:.3f} … {:.3f})", speed.low, speed.high);
  if (!speed.is_measurable)
    return fmt::format("no measurable difference ({:.3f} … {:.3f})", speed.low, speed.high);
  return fmt::format("{:.2f} × ({:.2f} … {:.2f})", speed.ratio, speed.low, speed.high);
}

// Percentiles hold the time that other programs took; a ratio of CPU times does not.
std::string busy_note(const BenchReport& report) {
  const bool is_reliable = std::all_of(report.models.begin(), report.models.end(), [](const auto& model) {
    return std::all_of(model.batches.begin(), model.batches.end(),
                       [](const auto& batch) { return batch.speed_up.is_reliable; });
  });
  return fmt::format(
      "note: the machine is busy: calls took {:.1f} times their CPU time, so latencies are too long. {}\n",
      report.load,
      is_reliable ? "Speed-ups compare CPU times; their intervals are 10 % wider on both sides"
                  : "Speed-ups on several threads need an idle machine: end other programs and run again");
}

constexpr std::size_t kShownOps = 10, kShownNodes = 5;

std::string share_text(double seconds, const Profile& profile) {
  return percent_text(profile.seconds > 0 ? seconds / profile.seconds : 0);
}

std::string profile_text(const BenchResult& model) {
  const Profile& profile = *model.profile;
  Table ops({{"op"}, {"nodes", Align::kRight}, {"time", Align::kRight}, {"share", Align::kRight}});
  for (std::size_t i = 0; i < std::min(kShownOps, profile.ops.size()); ++i) {
    const OpTime& op = profile.ops[i];
    ops.add(
        {op.op_type, fmt::format("{}", op.nodes), time_text(op.seconds), share_text(op.seconds, profile)});
  }
  Table nodes({{"node"}, {"op"}, {"time", Align::kRight}, {"share", Align::kRight}});
  for (std::size_t i = 0; i < std::min(kShownNodes, profile.nodes.size()); ++i) {
    const NodeTime& node = profile.nodes[i];
    nodes.add({node.node, node.op_type, time_text(node.seconds), share_text(node.seconds, profile)});
  }
  return safe_format("{}: {} in nodes, {} of it in kernels that multiply integers ({} runs)\n",
                     model.model.string(), time_text(profile.seconds), percent_text(profile.integer_share),
                     profile.runs) +
         ops.text() + nodes.text();
}

}  // namespace

std::string bench_text(const BenchReport& report) {
  Table start({{"model"},
               {"size", Align::kRight},
               {"load", Align::kRight},
               {"first run", Align::kRight},
               {"cold start", Align::kRight},
               {"peak memory", Align::kRight},
               {"load peak", Align::kRight},
               {"after load", Align::kRight}});
  Table runs({{"model"},
              {"batch", Align::kRight},
              {"p50", Align::kRight},
              {"p90", Align::kRight},
              {"p99", Align::kRight},
              {"min", Align::kRight},
              {"mean", Align::kRight},
              {"samples/s", Align::kRight},
              {"speed (95 % sure)", Align::kLeft}});
  bool is_cache_dropped = true, has_cold_starts = true;
  for (const BenchResult& model : report.models) {
    const bool is_cold = model.cold_start_seconds > 0;
    has_cold_starts = has_cold_starts && is_cold;
    is_cache_dropped = is_cache_dropped && model.is_cache_dropped;
    start.add({model.model.string(), bytes_text(model.bytes), time_text(model.load_seconds),
               time_text(model.first_seconds), is_cold ? time_text(model.cold_start_seconds) : "-",
               is_cold ? bytes_text(model.peak_memory) : "-",
               model.load_memory ? bytes_text(model.load_memory->peak) : "-",
               model.load_memory ? bytes_text(model.load_memory->stays) : "-"});
    for (const BatchResult& batch : model.batches) {
      runs.add({model.model.string(), fmt::format("{}", batch.batch), time_text(batch.latency.p50),
                time_text(batch.latency.p90), time_text(batch.latency.p99), time_text(batch.latency.min),
                time_text(batch.latency.mean), fmt::format("{:.0f}", batch.samples_per_second),
                speed_text(batch.speed_up, &model == &report.models.front())});
    }
  }
  std::string text =
      safe_format("ONNX Runtime {}{}, {} thread{}, {} rounds, {} inputs\n", report.runtime_version,
                  report.cpu.empty() ? "" : " on " + report.cpu,
                  report.threads == 0 ? "all" : std::to_string(report.threads),
                  report.threads == 1 ? "" : "s", report.rounds, report.is_generated ? "random" : "real");
  text += start.text() + runs.text();
  for (const BenchResult& model : report.models) {
    if (model.profile) text += profile_text(model);
  }
  if (has_cold_starts && !is_cache_dropped)
    text += "note: the file cache could not be dropped: cold starts read from memory\n";
  if (report.load > SpeedUp::kBusyLoad) text += busy_note(report);
  for (const std::string& note : report.notes) text += safe_format("note: {}\n", with_options(note));
  return text;
}

std::string decode_text(const DecodeReport& report) {
  Table table({{"model"},
               {"size", Align::kRight},
               {"first token", Align::kRight},
               {"next, p50", Align::kRight},
               {"p90", Align::kRight},
               {"tokens/s", Align::kRight},
               {"perplexity", Align::kRight},
               {"flips", Align::kRight}});
  for (const DecodeResult& model : report.models) {
    const bool is_first = &model == &report.models.front();
    const double each = model.next_token.mean;
    table.add({model.model.string(), bytes_text(model.bytes), time_text(model.first_token.p50),
               time_text(model.next_token.p50), time_text(model.next_token.p90),
               each > 0 ? fmt::format("{:.1f}", 1 / each) : "-", fmt::format("{:.4f}", model.perplexity()),
               is_first ? "-"
                        : fmt::format("{} ({:.2f} %)", model.flips,
                                      100.0 * static_cast<double>(model.flips) /
                                          static_cast<double>(report.tokens))});
  }
  std::string text = safe_format(
      "ONNX Runtime {} on {}, {} thread{}: {} text{}, a prompt of {}, {} tokens behind\n",
      report.runtime_version, report.cpu, report.threads == 0 ? "all" : std::to_string(report.threads),
      report.threads == 1 ? "" : "s", report.texts, report.texts == 1 ? "" : "s", report.prompt,
      report.tokens);
  text += table.text();
  for (const DecodeResult& model : report.models) {
    if (!model.is_cached)
      text += safe_format("note: {} keeps no past: all of a text is fed for every token\n",
                          model.model.filename().string());
  }
  for (const DecodeResult& model : report.models) {
    if (!model.verdict.empty())
      text += safe_format("{}: {}\n", model.model.filename().string(), with_options(model.verdict));
  }
  for (const std::string& note : report.notes) text += safe_format("note: {}\n", with_options(note));
  return text;
}

}  // namespace ounce::report
