#include "report/decode_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/json.h"
#include "report/option_words.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Align = Table::Align;
using DecodeJson = nlohmann::ordered_json;

DecodeJson latency_json(const Latency& latency) {
  return {{"calls", latency.calls}, {"mean", latency.mean}, {"p50", latency.p50},
          {"p90", latency.p90},     {"p99", latency.p99},   {"min", latency.min}};
}

}  // namespace

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
  std::string text =
      plainly("ONNX Runtime {} on {}, {} thread{}: {} text{}, a prompt of {}, {} tokens behind\n",
              report.runtime_version, report.cpu,
              report.threads == 0 ? "all" : std::to_string(report.threads), report.threads == 1 ? "" : "s",
              report.texts, report.texts == 1 ? "" : "s", report.prompt, report.tokens);
  text += table.text();
  for (const DecodeResult& model : report.models) {
    if (!model.is_cached)
      text += plainly("note: {} keeps no past: all of a text is fed for every token\n",
                      model.model.filename().string());
  }
  for (const DecodeResult& model : report.models) {
    if (!model.verdict.empty())
      text += plainly("{}: {}\n", model.model.filename().string(), with_options(model.verdict));
  }
  for (const std::string& note : report.notes) text += plainly("note: {}\n", with_options(note));
  return text;
}

DecodeJson decode_json(const DecodeReport& report, const char* verb) {
  DecodeJson json;
  json["schema_version"] = kSchemaVersion;
  json["verb"] = verb;
  json["runtime_version"] = report.runtime_version;
  json["cpu"] = report.cpu;
  json["threads"] = report.threads;
  json["generated"] = report.is_generated;
  json["texts"] = report.texts;
  json["prompt"] = report.prompt;
  json["tokens"] = report.tokens;
  json["notes"] = with_options(report.notes);
  json["models"] = DecodeJson::array();
  for (const DecodeResult& model : report.models) {
    DecodeJson entry;
    entry["model"] = model.model.string();
    entry["bytes"] = model.bytes;
    entry["cached"] = model.is_cached;
    entry["first_token"] = latency_json(model.first_token);
    entry["next_token"] = latency_json(model.next_token);
    entry["nll"] = model.nll;
    entry["perplexity"] = model.perplexity();
    entry["flips"] = model.flips;
    if (!model.verdict.empty()) {
      entry["passed"] = model.passed;
      entry["verdict"] = with_options(model.verdict);
    }
    json["models"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace ounce::report
