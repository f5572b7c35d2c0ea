// The JSON document of a run: printed for --json, rendered as HTML for --report.
//
//   add_document_options(options, arguments.json, arguments.report);
//   const ReportFile report(options, arguments.report);    // before the work: checks the path
//   …
//   report.deliver(results::Document("verify").add(rows), arguments.json, host);
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/results.h"
#include "verbs/options.h"
#include "verbs/verb.h"

namespace ounce::verbs {

void add_json_option(Options& options, bool& json);
// --json, --report, --junit and --markdown.
void add_document_options(Options& options, bool& json, std::string& report);
// --baseline and --tolerance.
void add_baseline_options(Options& options, const char* tolerance);

// Delivers the document of a verb without --report: prints it if it is wanted, else the next command to
// `stream`.
void deliver(const results::Document& document, bool is_printed, const Options& verb, Host& host,
             Stream stream = Stream::kResults);

// Checks before the work that the report can be written to `path`. Throws like write_page().
void require_page(const std::filesystem::path& path);

// Writes the report atomically. Throws Error{kUsage} if `path` is a device or a file that is no report of
// Ounce, and Error{kIo} if it cannot be written.
void write_page(const std::filesystem::path& path, const std::string& html);

class ReportFile {
 public:
  // Throws Error{kUsage} if the name does not end in .html, if another option names the same file (a model,
  // data, another output), or if the file exists and is no report of Ounce; Error{kIo} if the folder is
  // missing or not writable.
  ReportFile(const Options& verb, std::filesystem::path path, const std::string& option = "--report");

  bool is_wanted() const { return !path_.empty(); }
  // Prints the document if it is wanted, writes the report and the summaries that were named, compares with
  // the baseline, and says the next command. Returns the exit code: that of the run, or 1 if a figure is
  // worse than the baseline.
  int deliver(const results::Document& document, bool is_printed, Host& host, int exit_code) const;

 private:
  // A summary for continuous integration.
  struct Summary {
    std::filesystem::path path;
    std::string old;  // text that stays before the new one
    bool is_junit = false;
  };
  void add_summary(const char* option);
  void require_apart(const std::filesystem::path& path, const std::string& named_by) const;

  const Options& verb_;
  std::filesystem::path path_;  // empty: no report
  std::vector<Summary> summaries_;
  std::optional<results::Json> baseline_;
  double tolerance_ = 0;
};

// Input files that only the command line knows (--config, --preprocess). The library cannot protect them, so
// this class checks that no output replaces them.
//
//   const OwnFiles own = OwnFiles::of(options);
//   own.require_apart(output);

class OwnFiles {
 public:
  static OwnFiles of(const Options& verb);
  void add(const std::string& option, const std::string& path);  // ignores an empty path

  // Throws Error{kUsage} if `output` is one of these files, also under another name.
  void require_apart(const std::filesystem::path& output) const;

 private:
  struct File {
    std::string option, path;
  };
  std::vector<File> files_;
};

}  // namespace ounce::verbs
