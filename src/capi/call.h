// One run of one verb for a program: what stands behind an ounce_call. Errors are thrown; ounce.cpp makes
// codes of them.
#pragma once

#include <nlohmann/json.hpp>
#include <ounce/data.h>
#include <ounce/progress.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/mapped_file.h"
#include "io/temporary_files.h"
#include "verbs/host.h"
#include "verbs/options.h"

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

// One call of the C API: a verb with its options and data, and what comes of it.
class ApiCall {
 public:
  explicit ApiCall(std::string verb) : verb_(std::move(verb)) {}

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
  void set_output(const verbs::Options& known);
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

// A program that called: what a verb says is kept for it, and how far it is goes to its callback.

class CallHost : public verbs::Host {
 public:
  // All of them must outlive it; `whole` is stopped when the callback says so.
  CallHost(Outcome& outcome, Progress& whole, const OnProgress& on_progress)
      : outcome_(outcome), whole_(whole), on_progress_(on_progress) {}

  std::unique_ptr<verbs::Watch> watch(const std::string& what) override;

 protected:
  void write(verbs::Stream, const std::string& text) override { outcome_.text += text; }
  void write_document(const std::string& document) override { outcome_.document = document; }
  void write_complaint(const std::string& line) override;
  void write_passing(const std::string&) override {}  // the report says it all again

 private:
  Outcome& outcome_;
  Progress& whole_;
  const OnProgress& on_progress_;
};

}  // namespace ounce::capi
