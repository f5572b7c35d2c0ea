#include <fmt/format.h>
#include <ounce/error.h>
#include <ounce/inspect.h>
#include <ounce/quantize.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/command.h"
#include "cli/embedded_example.h"
#include "report/inspect_report.h"
#include "report/quantize_report.h"

namespace ounce::cli {
namespace {

namespace fs = std::filesystem;

// A folder of our own that goes away with us.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "ounce-demo-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error(ErrorCode::kIo, "cannot make a temporary folder", name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

int run(const std::string& output) {
  std::unique_ptr<TemporaryFolder> temporary;
  fs::path folder = output;
  if (output.empty()) {
    temporary = std::make_unique<TemporaryFolder>();
    folder = temporary->path();
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::kIo, fmt::format("cannot make the folder: {}", error.message()), folder.string());
  folder = fs::absolute(folder);
  fs::current_path(folder);  // so that the tables show short names
  const fs::path model = "commands.onnx";
  std::ofstream(model, std::ios::binary) << embedded_model();
  if (fs::file_size(model) != embedded_model().size())
    throw Error(ErrorCode::kIo, "cannot write the example", model.string());

  fmt::print(
      "A model that tells ten voice commands apart (yes, no, up, down …) from a second of sound.\n\n$ ounce "
      "inspect commands.onnx\n");
  fmt::print("{}\n", report::inspect_text(inspect(model), 5));

  fmt::print("$ ounce quantize commands.onnx --to w16, w8, w8 --codebook, w4\n");
  std::vector<report::QuantizeRow> rows;
  const auto add = [&](StorageFormat format, bool codebook, const char* name) {
    QuantizeOptions options;
    options.recipe.format = format;
    options.recipe.codebook = codebook;
    rows.push_back({model, quantize(model, name, options), {}, 0});
  };
  add(StorageFormat::kW16, false, "commands.w16.onnx");
  add(StorageFormat::kW8, false, "commands.w8.onnx");
  add(StorageFormat::kW8, true, "commands.w8-codebook.onnx");
  add(StorageFormat::kW4, false, "commands.w4.onnx");
  fmt::print(
      "{}\nEvery file was reopened and its decoded weights compared with the source before it got its "
      "name.\n",
      report::quantize_table(rows, false));
  if (!output.empty()) fmt::print("The files are in {}.\n", folder.string());
  return 0;
}

}  // namespace

Command add_demo(CLI::App& parser) {
  auto output = std::make_shared<std::string>();
  CLI::App* app = parser.add_subcommand("demo", "all of it on the embedded example");
  app->add_option("-o,--output", *output, "a folder to keep the files in (default: none are kept)");
  return {app, [output] { return run(*output); }};
}

}  // namespace ounce::cli
