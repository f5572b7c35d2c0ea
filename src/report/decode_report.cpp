#include "report/decode_report.h"

#include <fmt/format.h>

#include "report/option_words.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Align = Table::Align;
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

}  // namespace ounce::report
