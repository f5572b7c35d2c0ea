#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "report/table.h"

namespace ounce::cli {
namespace {

void print(std::FILE* out, const std::string& text) { std::fwrite(text.data(), 1, text.size(), out); }

// Returns the columns of a terminal; 0 if it is no terminal or its width is unknown.
std::size_t width_of(int descriptor) {
  winsize size{};
  if (::isatty(descriptor) == 0 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace

std::size_t Terminal::help_width() const {
  constexpr std::size_t kEasy = 110, kLeast = 60;
  const std::size_t width = width_of(STDOUT_FILENO);
  return width == 0 ? kEasy : std::clamp(width, kLeast, kEasy);
}

namespace {

constexpr auto kBeforeFirst = std::chrono::milliseconds(500);  // short runs show nothing
constexpr auto kBetween = std::chrono::milliseconds(100);

// Shows the progress of a run on one line of stderr.
class ProgressLine : public verbs::Watch {
 public:
  ProgressLine(verbs::Host& host, std::string what);
  ~ProgressLine() override;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show();

  verbs::Host& host_;
  std::string what_;
  std::atomic<bool> done_{false};
  TimeLeft time_left_;
  std::thread thread_;  // not started if stderr is no terminal
};

ProgressLine::ProgressLine(verbs::Host& host, std::string what) : host_(host), what_(std::move(what)) {
  if (::isatty(STDERR_FILENO) == 0) return;
  thread_ = std::thread([this] {
    auto next = std::chrono::steady_clock::now() + kBeforeFirst;
    bool has_shown = false;
    while (!done_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (std::chrono::steady_clock::now() < next) continue;
      next += kBetween;
      show();
      has_shown = true;
    }
    if (has_shown) host_.show("");
  });
}

ProgressLine::~ProgressLine() {
  done_ = true;
  if (thread_.joinable()) thread_.join();
}

void ProgressLine::show() {
  const auto total = progress.total.load();
  const auto left = total == 0 ? std::nullopt
                               : time_left_.seconds(progress.stage.load(), progress.done.load(), total,
                                                    std::chrono::steady_clock::now());
  host_.show(report::safe_format("{}: {}", what_, progress_text(progress, left)));
}

}  // namespace

std::unique_ptr<verbs::Watch> Terminal::watch(const std::string& what) {
  return std::make_unique<ProgressLine>(*this, what);
}

void Terminal::write(verbs::Stream stream, const std::string& text) {
  if (is_quiet_) return;
  const bool is_result = stream == verbs::Stream::kResults;
  const int descriptor = is_result ? STDOUT_FILENO : STDERR_FILENO;
  const std::size_t width = width_of(descriptor);
  const std::string fitting = width == 0 ? text : fit_width(text, width);
  print(is_result ? stdout : stderr, takes_color(descriptor) ? painted(fitting) : fitting);
}

void Terminal::write_document(const std::string& document) { print(stdout, document); }

void Terminal::write_complaint(const std::string& line) {
  const std::string all = "ounce: " + line + "\n";
  print(stderr, takes_color(STDERR_FILENO) ? painted_complaint(all) : all);
}

void Terminal::write_passing(const std::string& line) {
  if (is_quiet_ || ::isatty(STDERR_FILENO) == 0) return;
  print(stderr, "\r\x1b[K" + line);
  std::fflush(stderr);
}

namespace {

constexpr const char *kGreen = "\x1b[32m", *kRed = "\x1b[1;31m", *kDim = "\x1b[2m", *kBold = "\x1b[1m",
                     *kEnd = "\x1b[0m";

struct Rule {
  std::string_view start;  // of a line, after leading blanks
  const char* colour;
  bool is_whole_line;
};
constexpr Rule kRules[] = {
    {"passed", kGreen, false},       {"failed", kRed, false},      {"FAILED", kRed, false},
    {"nothing passed", kRed, false}, {"note: ", kDim, true},       {"ok ", kGreen, false},
    {"not certain: ", kBold, false}, {"certain: ", kGreen, false}, {"different", kRed, false},
    {"the same", kGreen, false},
};

std::string painted_line(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos) return std::string(line);
  const std::string_view rest = line.substr(first);
  for (const Rule& rule : kRules) {
    if (!rest.starts_with(rule.start)) continue;
    const std::size_t length = rule.is_whole_line ? rest.size() : rule.start.find_last_not_of(" :") + 1;
    return std::string(line.substr(0, first)) + rule.colour + std::string(rest.substr(0, length)) + kEnd +
           std::string(rest.substr(length));
  }
  return std::string(line);
}

}  // namespace

bool takes_color(int descriptor) {
  const char* const none = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  if (none != nullptr && *none != '\0') return false;
  return ::isatty(descriptor) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::string painted(const std::string& text) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    made += painted_line(std::string_view(text).substr(at, end - at));
    if (end < text.size()) made += '\n';
    at = end + 1;
  }
  return made;
}

std::string painted_complaint(const std::string& line) {
  constexpr std::string_view kOurs = "ounce:";
  if (!line.starts_with(kOurs)) return line;
  return kRed + std::string(kOurs) + kEnd + line.substr(kOurs.size());
}

namespace {

constexpr std::size_t kLeastColumn = 8;  // smallest width of a cut column, in characters

// Titles of columns that a narrow terminal does not show, the least important first. --json has all of them.
constexpr std::string_view kLeastImportant[] = {
    "weights SQNR", "stored", "time",       "values",    "cosine",    "same top-5", "mean |d|", "max |d|",
    "p90",          "min",    "after load", "load peak", "first run", "samples/s",  "p99",      "opset"};

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

// Returns `count` characters, starting at the character `first`.
std::string_view part(std::string_view text, std::size_t first, std::size_t count) {
  std::size_t begin = 0, end = 0, at = 0;
  for (; end < text.size() && at < first + count; ++at) {
    if (at == first) begin = end;
    do ++end;
    while (end < text.size() && is_continuation(text[end]));
  }
  return at <= first ? std::string_view() : text.substr(begin, end - begin);
}

std::vector<std::string_view> lines_of(const std::string& text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

struct Column {
  std::size_t first, width, shown;
  bool is_left_out = false;
};

// Returns the columns of a table from its line of dashes; empty for other lines.
std::vector<Column> columns_of(std::string_view rule) {
  std::vector<Column> columns;
  if (rule.empty() || rule.find_first_not_of("- ") != std::string_view::npos || rule.front() != '-')
    return columns;
  for (std::size_t at = 0; at < rule.size();) {
    const std::size_t end = std::min(rule.find(' ', at), rule.size());
    columns.push_back({at, end - at, end - at});
    at = rule.find('-', end);
    if (at == std::string_view::npos) break;
    if (at - end != 2) return {};
  }
  return columns.size() > 1 ? columns : std::vector<Column>();
}

// False for figures, which are aligned to the right (their cells begin with blanks) and must not be cut.
bool is_of_words(const Column& column, const std::vector<std::string_view>& rows) {
  return std::any_of(rows.begin(), rows.end(), [&](std::string_view row) {
    const std::string_view cell = part(row, column.first, column.width);
    return cell.size() > 1 && cell.front() != ' ' && (cell.back() == ' ' || characters(cell) < column.width);
  });
}

std::size_t width_of(const std::vector<Column>& columns) {
  std::size_t sum = 0;
  for (const Column& column : columns) {
    if (!column.is_left_out) sum += column.shown + (sum == 0 ? 0 : 2);
  }
  return sum;
}

void leave_out(std::vector<Column>& columns, std::string_view titles, std::size_t width) {
  for (const std::string_view title : kLeastImportant) {
    for (Column& column : columns) {
      if (width_of(columns) <= width) return;
      std::string_view text = part(titles, column.first, column.width);
      text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
      text = text.substr(0, text.find_last_not_of(' ') + 1);
      if (text == title) column.is_left_out = true;
    }
  }
}

// Cuts the first column last, because it names the row.
void shrink(std::vector<Column>& columns, const std::vector<bool>& may_shrink, std::size_t width) {
  for (const std::size_t from : {std::size_t{1}, std::size_t{0}}) {
    while (width_of(columns) > width) {
      Column* widest = nullptr;
      for (std::size_t i = from; i < columns.size(); ++i) {
        if (may_shrink[i] && !columns[i].is_left_out && columns[i].shown > kLeastColumn &&
            (widest == nullptr || columns[i].shown > widest->shown))
          widest = &columns[i];
      }
      if (widest == nullptr) break;
      --widest->shown;
    }
  }
}

// Cuts the end of a sentence, but the middle of a name, because names in a model often begin alike.
std::string cut_cell(std::string_view cell, std::size_t content, std::size_t width) {
  if (cell.find_first_not_of('-') == std::string_view::npos)
    return std::string(part(cell, 0, width));  // a rule
  const bool is_name = part(cell, 0, content).find(' ') == std::string_view::npos;
  const std::size_t tail = is_name ? (width - 1) / 2 : 0;
  return std::string(part(cell, 0, width - 1 - tail)) + "…" + std::string(part(cell, content - tail, tail));
}

std::string cut_row(std::string_view row, const std::vector<Column>& columns) {
  std::string made;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    if (column.is_left_out) continue;
    const bool is_last = i + 1 == columns.size();
    std::string cell(part(row, column.first, is_last ? characters(row) : column.width));
    const std::size_t content = characters(std::string_view(cell).substr(0, cell.find_last_not_of(' ') + 1));
    if (content > column.shown) {
      cell = cut_cell(cell, content, column.shown);
    } else {
      cell = std::string(part(cell, 0, column.shown));
      cell += std::string(column.shown - characters(cell), ' ');
    }
    made += (made.empty() ? "" : "  ") + cell;
  }
  made.erase(made.find_last_not_of(' ') + 1);
  return made;
}

// Returns the end of the table whose line of dashes is lines[rule]: the first line with text between columns.
std::size_t end_of_table(const std::vector<std::string_view>& lines, std::size_t rule,
                         const std::vector<Column>& columns) {
  std::size_t end = rule + 1;
  const auto has_gaps = [&](std::string_view line) {
    if (line.empty()) return false;
    for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
      const std::string_view gap = part(line, columns[i].first + columns[i].width, 2);
      if (gap.find_first_not_of(' ') != std::string_view::npos) return false;
    }
    return true;
  };
  while (end < lines.size() && has_gaps(lines[end])) ++end;
  return end;
}

}  // namespace

std::string fit_width(const std::string& text, std::size_t width) {
  std::string made;
  const std::vector<std::string_view> lines = lines_of(text);
  const auto add = [&](std::string_view line) { made.append(line) += '\n'; };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<Column> columns = i + 1 < lines.size() ? columns_of(lines[i + 1]) : std::vector<Column>();
    if (columns.empty()) {
      add(lines[i]);
      continue;
    }
    const std::size_t end = end_of_table(lines, i + 1, columns);
    const std::vector<std::string_view> rows(lines.begin() + static_cast<std::ptrdiff_t>(i),
                                             lines.begin() + static_cast<std::ptrdiff_t>(end));
    std::vector<bool> may_shrink;
    for (const Column& column : columns) may_shrink.push_back(is_of_words(column, rows));
    leave_out(columns, lines[i], width);
    shrink(columns, may_shrink, width);
    for (const std::string_view row : rows) add(cut_row(row, columns));
    i = end - 1;
  }
  if (!text.empty() && text.back() != '\n') made.pop_back();
  return made;
}

std::string wrap_help(const std::string& text, std::size_t width) {
  constexpr std::size_t kIndent = 30;  // the column of descriptions in CLI11
  std::string made;
  for (std::string_view line : lines_of(text)) {
    // Wrap descriptions only; usage lines and headings stay on one line.
    const bool is_description = characters(line) > width && line.starts_with("  ") && width > kIndent + 20;
    bool is_first = true;
    while (is_description && characters(line) > (is_first ? width : width - kIndent)) {
      const std::string_view room = part(line, 0, is_first ? width : width - kIndent);
      const std::size_t blank = room.find_last_of(' ');
      if (blank == std::string_view::npos || (is_first && blank < kIndent)) break;
      made += (is_first ? "" : std::string(kIndent, ' ')) + std::string(line.substr(0, blank)) + '\n';
      line.remove_prefix(blank + 1);
      is_first = false;
    }
    made += (is_first ? "" : std::string(kIndent, ' ')) + std::string(line) + '\n';
  }
  return made;
}

std::optional<double> TimeLeft::seconds(const char* stage, std::uint64_t done, std::uint64_t total,
                                        Time now) {
  constexpr double kLeastSeconds = 2, kLeastShare = 0.03;
  // Restart for another stage, or for the same stage of another model.
  if (stage != stage_ || total != total_ || done < first_done_) {
    stage_ = stage;
    total_ = total;
    first_done_ = done;
    start_ = now;
    return std::nullopt;
  }
  const double taken = std::chrono::duration<double>(now - start_).count();
  const auto made = static_cast<double>(done - first_done_),
             left = static_cast<double>(total - std::min(done, total));
  if (taken < kLeastSeconds || made < kLeastShare * static_cast<double>(total) || made == 0)
    return std::nullopt;
  return taken * left / made;
}

std::string progress_text(const Progress& progress, const std::optional<double>& seconds_left) {
  std::string text;
  const unsigned step = progress.step.load(), steps = progress.steps.load();
  if (step != 0)
    text += steps == 0 ? fmt::format("step {}: ", step) : fmt::format("step {} of {}: ", step, steps);
  text += progress.stage.load();
  if (const auto total = progress.total.load(); total != 0)
    text += fmt::format(" {} %", progress.done.load() * 100 / total);
  if (seconds_left) text += fmt::format(", {} left", time_left_text(*seconds_left));
  if (const std::string unit = progress.best_unit.load(); !unit.empty())
    text += fmt::format(", best so far {:.1f}{}", progress.best.load(), unit);
  return text;
}

std::string time_left_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::max(1.0, std::ceil(seconds)));
  const auto minutes = static_cast<std::uint64_t>(std::lround(seconds / 60));
  if (minutes < 90) return fmt::format("{} min", minutes);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

}  // namespace ounce::cli
