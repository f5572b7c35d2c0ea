#include "report/html/page.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <string_view>

#include "base/digest.h"
#include "base/text.h"
#include "report/html/key_figures.h"
#include "report/table.h"

namespace ounce::report::html {
namespace {

// Text as HTML, in one line, without bidirectional controls, and of limited length.
std::string markup_of(std::string_view untrusted) {
  std::string made;
  for (const char c : plain(untrusted)) {
    switch (c) {
      case '&': made += "&amp;"; break;
      case '<': made += "&lt;"; break;
      case '>': made += "&gt;"; break;
      case '"': made += "&quot;"; break;
      case '\'': made += "&#39;"; break;
      default: made += c;
    }
  }
  return made;
}

// JSON for a <script> element: in ASCII, and without the characters that could end the element.
std::string embedded(const Json& value) {
  std::string made;
  for (const char c : value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace)) {
    switch (c) {
      case '<': made += "\\u003c"; break;
      case '>': made += "\\u003e"; break;
      case '&': made += "\\u0026"; break;
      default: made += c;
    }
  }
  return made;
}

// Limits of the documents on the page. "tensors_total" is the length of a list that was cut.
constexpr std::size_t kMostEntries = 2000, kMostText = 4000, kMostContent = 400'000;
constexpr std::size_t kMostSound = 128'000;  // characters of all sounds; the others have only their waveform

// Pictures and sounds in base64, and commands to copy, may be longer than other texts.
std::size_t most_text(std::string_view key) {
  return key == "png" || key == "wav" || key == "command" || key == "line" ? kMostContent : kMostText;
}

// Six digits: waveforms and histograms have thousands of numbers.
double rounded(double value) {
  const std::string text = fmt::format("{:.6g}", value);
  double short_value = value;
  std::from_chars(text.data(), text.data() + text.size(),
                  short_value);  // leaves it if there is no such number
  return short_value;
}

// `sound_left`: the number of characters that further sounds may have.
Json shortened(const Json& value, std::size_t& sound_left, std::string_view key = {}) {
  if (value.is_number_float()) return rounded(value.get<double>());
  if (value.is_string()) return value.get_ref<const std::string&>().substr(0, most_text(key));
  Json made = value.is_object() ? Json::object() : Json::array();
  if (value.is_array()) {
    for (std::size_t i = 0; i < std::min(value.size(), kMostEntries); ++i)
      made.push_back(shortened(value[i], sound_left, key));
    return made;
  }
  if (!value.is_object()) return value;
  for (const auto& [name, inner] : value.items()) {
    const std::string short_name = name.substr(0, kMostText);
    made[short_name] = shortened(inner, sound_left, short_name);
    if (short_name == "wav" && inner.is_string()) {
      const std::size_t length = made[short_name].get_ref<const std::string&>().size();
      if (length > sound_left) made[short_name] = "";
      sound_left -= std::min(length, sound_left);
    }
    if (inner.is_array() && inner.size() > kMostEntries) made[short_name + "_total"] = inner.size();
  }
  return made;
}

const char* name_of(Verdict verdict) {
  return verdict == Verdict::kGood ? "good" : verdict == Verdict::kBad ? "bad" : "neutral";
}

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
Json json_of(const BeforeAfter& pair) {
  return {{"before", json_of(pair.before)}, {"after", json_of(pair.after)}};
}

Json json_of(const KeyFigures& one) {
  return {
      {"verb", one.verb},
      {"model", one.model},
      {"original", one.original},
      {"verdict", name_of(one.verdict)},
      {"word", one.word},
      {"sentence", one.sentence},
      {"bytes", json_of(one.bytes)},
      {"memory", json_of(one.memory)},
      {"quality", json_of(one.quality)},
      {"metric", one.metric},
      {"share", one.is_share},
      {"drop", json_of(one.drop)},
      {"agreement", json_of(one.agreement)},
      {"sqnr_db", json_of(one.sqnr_db)},
      {"exact", one.is_exact},
      {"speed", json_of(one.speed)},
      {"speed_low", json_of(one.speed_low)},
      {"speed_high", json_of(one.speed_high)},
      {"speed_certain", one.is_speed_certain},
      {"words", {{"size", size_words(one)}, {"speed", speed_words(one)}, {"quality", quality_words(one)}}},
      {"run", one.run},
      {"result", one.result}};
}

std::string from_hexadecimal(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

// Allows no network access, and only the embedded script and style sheet.
std::string content_policy() {
  const auto source = [](std::string_view code) {
    return "'sha256-" + base64(from_hexadecimal(sha256_of(code))) + "'";
  };
  return fmt::format(
      "default-src 'none'; img-src data:; media-src data:; style-src {}; script-src {}; base-uri 'none'; "
      "form-action 'none'",
      source(style_sheet()), source(script()));
}

std::string headline_of(const Overall& overall) {
  const KeyFigures& figures = overall.figures;
  std::string text = in_words(figures);
  if (figures.verdict == Verdict::kBad || text.empty()) text = figures.sentence;
  return figures.model.empty() ? text : figures.model + ": " + text;
}

std::string lead_of(const Overall& overall) {
  const KeyFigures& figures = overall.figures;
  const std::string figures_in_words = in_words(figures);
  const std::string text =
      figures.verdict == Verdict::kBad || figures_in_words.empty() ? figures_in_words : figures.sentence;
  if (overall.judged < 2) return text;
  return fmt::format("{} of {} results {}{}{}", overall.count, overall.judged,
                     figures.verdict == Verdict::kBad ? "failed" : "passed",
                     text.empty() ? "" : ". This one: ", text);
}

std::string badge_of(const KeyFigures& figures) {
  const char* const sign = figures.verdict == Verdict::kGood  ? "✓ "
                           : figures.verdict == Verdict::kBad ? "✗ "
                                                              : "";
  return fmt::format("<span class=\"badge {}\">{}{}</span>", name_of(figures.verdict), sign,
                     markup_of(figures.word));
}

std::string or_dash(const std::string& text) { return text.empty() ? "–" : markup_of(text); }

std::string bytes_words(const BeforeAfter& bytes) {
  constexpr double kMost = 1e18;
  const auto text = [](double value) {
    return value >= 0 && value < kMost ? bytes_text(static_cast<std::uint64_t>(value)) : std::string("–");
  };
  if (!bytes.after) return {};
  return bytes.before ? fmt::format("{} → {}", text(*bytes.before), text(*bytes.after)) : text(*bytes.after);
}

// The content of the page without scripts.
std::string plain_table(const std::vector<KeyFigures>& all) {
  std::string rows;
  for (const KeyFigures& one : all) {
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} "
        "{}</td></tr>\n",
        or_dash(one.model), or_dash(one.verb), or_dash(bytes_words(one.bytes)), or_dash(speed_words(one)),
        or_dash(quality_words(one)), or_dash(bytes_words(one.memory)), badge_of(one),
        markup_of(one.sentence));
  }
  return "<table><caption>Key figures</caption><thead><tr><th scope=\"col\">model</th><th "
         "scope=\"col\">command</th>"
         "<th scope=\"col\">size</th><th scope=\"col\">speed</th><th scope=\"col\">quality</th>"
         "<th scope=\"col\">memory</th><th scope=\"col\">result</th></tr></thead><tbody>\n" +
         rows + "</tbody></table>\n";
}

std::string plain_commands(const std::vector<Run>& runs) {
  std::string commands;
  for (const Run& run : runs) {
    if (const std::string command = words(run.document, "command"); !command.empty())
      commands += fmt::format("<pre><code>{}</code></pre>\n", markup_of(command));
  }
  return commands;
}

// Replaces each {{name}} of the template by its value.
std::string filled(std::string_view text, const std::map<std::string, std::string, std::less<>>& values) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find("{{", at), text.size());
    made += text.substr(at, begin - at);
    if (begin == text.size()) break;
    const std::size_t end = text.find("}}", begin);
    made += values.at(std::string(text.substr(begin + 2, end - begin - 2)));
    at = end + 2;
  }
  return made;
}

}  // namespace

std::string_view page_start() { return page_template().substr(0, page_template().find("<html")); }

std::string page(const std::vector<Run>& runs) {
  std::vector<KeyFigures> all;
  Json documents = Json::array();
  std::size_t sound_left = kMostSound;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    require_drawn(runs[run]);
    for (KeyFigures& figures : key_figures(runs[run].document)) {
      figures.run = run;
      all.push_back(std::move(figures));
    }
    documents.push_back({{"name", runs[run].name}, {"document", shortened(runs[run].document, sound_left)}});
  }
  const Overall overall = overall_of(all);
  const std::string headline = headline_of(overall);
  Json figures = Json::array();
  for (const KeyFigures& one : all) figures.push_back(shortened(json_of(one), sound_left));
  return filled(page_template(), {{"policy", markup_of(content_policy())},
                                  {"title", markup_of(headline)},
                                  {"style", std::string(style_sheet())},
                                  {"badge", badge_of(overall.figures)},
                                  {"headline", markup_of(headline)},
                                  {"lead", markup_of(lead_of(overall))},
                                  {"table", plain_table(all)},
                                  {"commands", plain_commands(runs)},
                                  {"version", version()},
                                  {"data", embedded({{"version", version()},
                                                     {"top", shortened(json_of(overall.figures), sound_left)},
                                                     {"figures", std::move(figures)},
                                                     {"runs", std::move(documents)}})},
                                  {"script", std::string(script())}});
}

}  // namespace ounce::report::html
