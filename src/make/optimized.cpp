#include "make/optimized.h"

#include <ounce/error.h>

#include "base/temporary_folder.h"
#include "measure/open.h"
#include "onnx/reader.h"
#include "runtime/library.h"
#include "runtime/ort_format.h"
#include "target/target.h"

namespace ounce::make {
namespace {

runtime::OrtOptions ort_options(const EmitOptions& options) {
  runtime::OrtOptions how;
  how.library = options.library;
  how.style = options.style == OrtStyle::kRuntime ? runtime::OrtStyle::kRuntime : runtime::OrtStyle::kFixed;
  const std::string machine =
      options.target.empty() ? std::string() : target::parse_target(options.target).machine;
  how.machine = machine == "x64"     ? runtime::OrtMachine::kX64
                : machine == "arm64" ? runtime::OrtMachine::kArm
                                     : runtime::OrtMachine::kAny;
  return how;
}

// The runtime optimises in this process; so that nothing happens here, the model has to load elsewhere first.
void require_loadable(const std::filesystem::path& model, const EmitOptions& options) {
  RuntimeOptions how;
  how.library = options.library;
  measure::require_loadable(model, how);
}

}  // namespace

void write_ort(const std::filesystem::path& model, const std::filesystem::path& output,
               const EmitOptions& options) {
  require_loadable(model, options);
  runtime::write_ort(model, output, ort_options(options));
}

std::optional<onnx::Model> optimized_model(const std::filesystem::path& model, const EmitOptions& options) {
  try {
    runtime::Library::find(options.library);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo || !options.library.empty()) throw;
    return std::nullopt;
  }
  try {
    const TemporaryFolder folder("optimized");
    const std::filesystem::path path = folder.path() / "model.onnx";
    require_loadable(model, options);
    runtime::write_optimized(model, path, ort_options(options));
    // The runtime leaves external data where it is and refers to it by name: only the ops are of interest.
    for (const auto& [location, file] : onnx::read_model(model).external_files) {
      std::error_code failure;
      std::filesystem::create_directories((folder.path() / location).parent_path(), failure);
      std::filesystem::create_hard_link(file.path(), folder.path() / location, failure);
      if (failure) std::filesystem::copy_file(file.path(), folder.path() / location, failure);
    }
    return onnx::read_model(path);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kTimeout ||
        error.code() == ErrorCode::kMemory)
      throw;
    return std::nullopt;  // custom ops, say: then the model's own ops are all there is
  }
}

}  // namespace ounce::make
