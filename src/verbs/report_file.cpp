#include "verbs/report_file.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "io/mapped_file.h"
#include "io/output_file.h"
#include "report/html/baseline.h"
#include "report/html/page.h"
#include "report/html/summary.h"
#include "report/table.h"
#include "verbs/next_step.h"

namespace ounce::verbs {
namespace {

bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code none;
  if (std::filesystem::equivalent(a, b, none) && !none) return true;
  return std::filesystem::absolute(a, none).lexically_normal() ==
         std::filesystem::absolute(b, none).lexically_normal();
}

// Replace only files that begin like a report of Ounce: any other file may be data of the user.
void require_ours_or_free(const std::filesystem::path& path) {
  io::require_file_or_free(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) return;
  const std::string_view start = report::html::page_start();
  std::string begins(start.size(), '\0');
  file.read(begins.data(), static_cast<std::streamsize>(begins.size()));
  if (file.gcount() != 0 && begins != start)
    throw Error(ErrorCode::kUsage, "exists and is not a report of Ounce; choose another name", path.string());
}

constexpr int kGateExit = 1;
constexpr std::size_t kMostMarkdown = 1 << 20;

// The first bytes of a file; empty if there is none.
std::string start_of_file(const std::filesystem::path& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string text(most, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

}  // namespace

void add_json_option(Options& options, bool& json) {
  options.add_flag("--json", json, "Print one JSON document on stdout");
}

void add_document_options(Options& options, bool& json, std::string& report) {
  add_json_option(options, json);
  options.add_option("--report", report, "Write the result as a self-contained HTML report: FILE.html")
      ->type_name("FILE");
  // ReportFile reads the words of these options.
  const auto add_file = [&](const char* name, const char* help) {
    options.add_text(name, help, [](const std::string&) {})->type_name("FILE");
  };
  add_file("--junit", "Write the results as JUnit XML, for continuous integration");
  add_file("--markdown",
           "Append the results as a Markdown table to this file, which is new, empty or from Ounce. Example: "
           "$GITHUB_STEP_SUMMARY");
}

void add_baseline_options(Options& options, const char* tolerance) {
  options
      .add_text("--baseline",
                "Fail if a figure is worse than in this JSON document of an earlier run: accuracy, "
                "agreement, SQNR, "
                "speed, memory, size",
                [](const std::string&) {})
      ->type_name("FILE");
  options
      .add_text("--tolerance",
                "Tolerate figures that are worse by this share or by this many points than --baseline",
                [](const std::string&) {})
      ->show_default(tolerance);
}

void require_page(const std::filesystem::path& path) {
  require_ours_or_free(path);
  io::require_place(path);
}

void write_page(const std::filesystem::path& path, const std::string& html) {
  require_ours_or_free(path);
  io::OutputFile file(path, html.size());
  file.write(0, html);
  file.commit();
}

ReportFile::ReportFile(const Options& verb, std::filesystem::path path, const std::string& named_by)
    : verb_(verb), path_(std::move(path)) {
  if (!path_.empty()) {
    if (path_.extension() != ".html" && path_.extension() != ".htm")
      throw Error(ErrorCode::kUsage, fmt::format("`{}`: the name of a report must end in .html", named_by),
                  path_.string());
    require_apart(path_, named_by);
    require_page(path_);
  }
  add_summary("--junit");
  add_summary("--markdown");
  if (!verb.has("--baseline")) return;
  const std::string& baseline = verb.find("--baseline")->given.back();
  baseline_ = report::html::parse_run(io::MappedFile::open(baseline).bytes(), baseline).document;
  const Option& tolerance = *verb.find("--tolerance");
  tolerance_ =
      share_of(tolerance.given.empty() ? tolerance.by_default : tolerance.given.back(), "--tolerance", 1);
}

void ReportFile::require_apart(const std::filesystem::path& path, const std::string& named_by) const {
  for (const Option& option : verb_.all()) {
    if (option.name() == named_by) continue;
    for (const std::string& value : option.given) {
      if (!value.empty() && is_same_file(path, value))
        throw Error(ErrorCode::kUsage,
                    fmt::format("`{}` would replace the file of {}; choose another name", named_by,
                                option.argument.empty() ? '`' + option.name() + '`' : option.name()),
                    path.string());
    }
  }
}

// A file of JUnit results is replaced, text is added to Markdown: the steps of a job share a file.
void ReportFile::add_summary(const char* option) {
  if (!verb_.has(option)) return;
  Summary summary{verb_.find(option)->given.back(), {}, std::string_view(option) == "--junit"};
  require_apart(summary.path, option);
  const std::string_view start = summary.is_junit ? report::html::kJunitStart : report::html::kMarkdownStart;
  const std::string old = start_of_file(summary.path, kMostMarkdown);
  if (!old.empty() && !old.starts_with(start))
    throw Error(ErrorCode::kUsage,
                fmt::format("`{}`: exists and was not written by Ounce; choose another name", option),
                summary.path.string());
  if (!summary.is_junit) summary.old = old;
  io::require_file_or_free(summary.path);
  io::require_place(summary.path);
  summaries_.push_back(std::move(summary));
}

namespace {

results::Json with_next(const results::Document& document, const Options& verb) {
  results::Json json = document.json(command_line(verb));
  if (const std::string next = next_command(verb, json); !next.empty()) json["next"] = next;
  return json;
}

void say_next(const results::Json& document, Host& host, Stream stream = Stream::kResults) {
  if (!document["next"].is_null())
    host.say(stream, safe_format("Next: {}\n", document["next"].get<std::string>()));
}

}  // namespace

void deliver(const results::Document& document, bool is_printed, const Options& verb, Host& host,
             Stream stream) {
  const results::Json json = with_next(document, verb);
  if (is_printed) return host.say_json(results::dump(json));
  say_next(json, host, stream);
}

int ReportFile::deliver(const results::Document& all, bool is_printed, Host& host, int exit_code) const {
  results::Json document = with_next(all, verb_);
  if (baseline_) {
    document["baseline"] = report::html::compare_with(*baseline_, document, tolerance_);
    host.say(for_people(is_printed), report::html::baseline_text(document["baseline"]));
    if (report::html::is_worse(document["baseline"])) exit_code = std::max(exit_code, kGateExit);
  }
  if (is_printed) host.say_json(results::dump(document));
  if (is_wanted()) {
    const std::string html = report::html::page({{"", document}});
    write_page(path_, html);
    host.say(for_people(is_printed),
             safe_format("report: {} ({})\n", path_.string(), report::bytes_text(html.size())));
  }
  for (const Summary& summary : summaries_) {
    const std::string text = summary.is_junit ? report::html::junit_of(document, exit_code)
                                              : summary.old + report::html::markdown_of(document, exit_code);
    io::OutputFile file(summary.path, text.size());
    file.write(0, text);
    file.commit();
  }
  if (!is_printed) say_next(document, host);
  return exit_code;
}

OwnFiles OwnFiles::of(const Options& verb) {
  OwnFiles own;
  own.add("--config", verb.config);
  if (verb.has("--preprocess")) own.add("--preprocess", verb.find("--preprocess")->given.back());
  return own;
}

void OwnFiles::add(const std::string& option, const std::string& path) {
  if (!path.empty()) files_.push_back({option, path});
}

void OwnFiles::require_apart(const std::filesystem::path& output) const {
  for (const File& file : files_) {
    std::error_code none;
    if (std::filesystem::equivalent(file.path, output, none) && !none)
      throw Error(ErrorCode::kUsage,
                  fmt::format("the output would replace the file of `{}`; choose another name", file.option),
                  output.string());
  }
}

}  // namespace ounce::verbs
