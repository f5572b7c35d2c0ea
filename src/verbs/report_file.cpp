#include "verbs/report_file.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <fstream>
#include <system_error>

#include "io/output_file.h"
#include "report/html/page.h"
#include "report/table.h"

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

}  // namespace

void add_json_option(Options& options, bool& json) {
  options.add_flag("--json", json, "Print one JSON document on stdout");
}

void add_document_options(Options& options, bool& json, std::string& report) {
  add_json_option(options, json);
  options.add_option("--report", report, "Write the result as a self-contained HTML report: FILE.html");
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
    : path_(std::move(path)), command_(command_line(verb)) {
  if (path_.empty()) return;
  if (path_.extension() != ".html" && path_.extension() != ".htm")
    throw Error(ErrorCode::kUsage, fmt::format("`{}`: the name of a report must end in .html", named_by),
                path_.string());
  for (const Option& option : verb.all()) {
    if (option.name() == named_by) continue;
    for (const std::string& value : option.given) {
      if (!value.empty() && is_same_file(path_, value))
        throw Error(ErrorCode::kUsage,
                    fmt::format("`{}` would replace the file of {}; choose another name", named_by,
                                option.argument.empty() ? '`' + option.name() + '`' : option.name()),
                    path_.string());
    }
  }
  require_page(path_);
}

void print_document(const results::Document& document, const Options& verb, Host& host) {
  host.say_json(results::dump(document.json(command_line(verb))));
}

void ReportFile::deliver(const results::Document& all, bool is_printed, Host& host) const {
  if (!is_printed && !is_wanted()) return;
  const results::Json document = all.json(command_);
  if (is_printed) host.say_json(results::dump(document));
  if (is_wanted()) {
    const std::string html = report::html::page({{"", document}});
    write_page(path_, html);
    host.say(for_people(is_printed),
             safe_format("report: {} ({})\n", path_.string(), report::bytes_text(html.size())));
  }
}

OwnFiles OwnFiles::of(const Options& verb) {
  OwnFiles own;
  own.add("--config", verb.config);
  if (verb.has("--contract")) own.add("--contract", verb.find("--contract")->given.back());
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
