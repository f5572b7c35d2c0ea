#include "report/calibrate_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/option_words.h"
#include "report/table.h"

namespace ounce::report {
namespace {

using Align = Table::Align;

std::string range_text(const ValueRange& range) {
  return fmt::format("{:.4g} … {:.4g}", range.low, range.high);
}

}  // namespace

std::string calibrate_text(const CalibrateResult& result, std::size_t at_most) {
  std::vector<const ObservedValue*> order;
  for (const ObservedValue& value : result.values) order.push_back(&value);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->sqnr_db < b->sqnr_db; });
  Table table(
      {{"value"}, {"observed", Align::kRight}, {"chosen", Align::kRight}, {"by"}, {"8 bits", Align::kRight}});
  for (const ObservedValue* value : order) {
    if (at_most-- == 0) break;
    table.add({value->name, range_text({value->minimum, value->maximum}), range_text(value->chosen),
               name_of(value->method), decibel_text(value->sqnr_db)});
  }
  std::string text = table.text();
  if (result.values.size() > order.size() || at_most == static_cast<std::size_t>(-1))
    text += "… and more: the worst are shown\n";
  text += plainly("{} value{} over {} sample{} → {}\n", result.values.size(),
                  result.values.size() == 1 ? "" : "s", result.samples, result.samples == 1 ? "" : "s",
                  result.output.string());
  for (const std::string& note : result.notes) text += plainly("note: {}\n", with_options(note));
  return text;
}

}  // namespace ounce::report
