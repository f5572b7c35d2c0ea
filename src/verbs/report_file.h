// The document of a run: printed for --json, drawn for --report.
//
//   add_document_options(options, arguments.json, arguments.report);
//   const ReportFile report(options, arguments.report);    // before the work: may it be written there?
//   …
//   report.deliver(results::Document("verify").add(rows), arguments.json, host);
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "results/results.h"
#include "verbs/options.h"
#include "verbs/verb.h"

namespace ounce::verbs {

void add_json_option(Options& options, bool& json);
// --json and --report.
void add_document_options(Options& options, bool& json, std::string& report);

// For --json of verbs that no page is drawn of.
void print_document(const results::Document& document, const Options& verb, Host& host);

// Checks before the work that a page can be written there. Throws what write_page() throws.
void require_page(const std::filesystem::path& path);

// Puts a page in its place, whole or not at all. Throws Error{kUsage} for a device and for what is there and
// is no page of ours, Error{kIo}.
void write_page(const std::filesystem::path& path, const std::string& html);

class ReportFile {
 public:
  // Throws Error{kUsage} for a name that does not end in .html, for one that the command line names as
  // something else (a model, its data, another output), and for what is there and is no page of ours;
  // Error{kIo} when the folder is missing or accepts no files.
  ReportFile(const Options& verb, std::filesystem::path path, const std::string& option = "--report");

  bool is_wanted() const { return !path_.empty(); }
  void deliver(const results::Document& document, bool is_printed, Host& host) const;

 private:
  std::filesystem::path path_;  // empty: none is wanted
  std::string command_;
};

// Files that the command line reads by itself, and the library never hears of: --config and --contract. No
// output may take their place either.
//
//   const OwnFiles own = OwnFiles::of(options);
//   own.require_apart(output);

class OwnFiles {
 public:
  static OwnFiles of(const Options& verb);
  void add(const std::string& option, const std::string& path);  // an empty path is none

  // Throws Error{kUsage} when `output` is one of them, by whatever name.
  void require_apart(const std::filesystem::path& output) const;

 private:
  struct File {
    std::string option, path;
  };
  std::vector<File> files_;
};

}  // namespace ounce::verbs
