// One run of one verb for a program: what stands behind an ounce_call. Errors are thrown; ounce.cpp makes
// codes of them.
#pragma once

#include <ounce/data.h>
#include <ounce/progress.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/temporary_folder.h"
#include "io/mapped_file.h"

namespace ounce::capi {

// What a call left behind.
struct Outcome {
  int code = 0;
  std::string error;  // empty: none
  std::string text;
  std::optional<std::string> document;
  std::optional<io::MappedFile> output;
};

// Gives true to stop.
using OnProgress =
    std::function<bool(const std::string& what, const char* stage, std::uint64_t done, std::uint64_t total)>;
using Metric = std::function<std::string(const std::filesystem::path& folder)>;

class CallOfVerb {
 public:
  explicit CallOfVerb(std::string verb) : verb_(std::move(verb)) {}

  std::string help() const;
  void add_options(std::string_view json);
  void add_model(const std::string& argument, std::string_view bytes);
  void add_array(ArrayView array);
  void add_sample(std::vector<ArrayView> arrays, bool has_batch_axis);
  void set_metric(Metric metric) { metric_ = std::move(metric); }
  void set_on_progress(OnProgress on_progress) { on_progress_ = std::move(on_progress); }

  // Once.
  void run();
  void stop() noexcept { whole_.stop(); }  // from any thread

  Outcome outcome;  // errors of the functions above too

 private:
  const std::filesystem::path& folder();
  void set_output(const CLI::App& verb);
  void take_output();

  std::string verb_;
  nlohmann::ordered_json options_ = nlohmann::ordered_json::object();
  std::unique_ptr<TemporaryFolder> folder_;
  std::vector<std::filesystem::path> models_;  // in the folder
  std::filesystem::path output_;               // likewise; empty: it goes where the options say
  MemoryData data_;
  bool has_data_ = false;
  Metric metric_;
  OnProgress on_progress_;
  Progress whole_;
  bool has_run_ = false;
};

// All that can be called, those inside of others with both names: "contract set" …
std::vector<std::string> all_verbs();

}  // namespace ounce::capi
