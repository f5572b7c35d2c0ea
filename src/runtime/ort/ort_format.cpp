#include "runtime/ort/ort_format.h"

#include <fmt/format.h>
#include <onnxruntime_session_options_config_keys.h>
#include <ounce/error.h>

#include <algorithm>

#include "formats/onnx/file/reader.h"
#include "io/output_file.h"

namespace ounce::runtime {
namespace {

namespace fs = std::filesystem;

enum class Format { kOrt, kOnnx };

const char* name_of(Format format) { return format == Format::kOrt ? "ORT" : "ONNX"; }

constexpr std::uint32_t kNamedOptimizersSince = 18;

// Disables optimizations for one kind of CPU, whose layouts do not run on others. If the runtime cannot
// disable only these, disables their whole level. On ARM int8 is as fast as uint8 and is kept.
void set_machine(OrtMachine machine, const Library& library, SessionOptions& session) {
  session.config[kOrtSessionOptionsQDQIsInt8Allowed] = machine == OrtMachine::kArm ? "1" : "0";
  if (machine == OrtMachine::kX64) return;
  if (library.api_version() >= kNamedOptimizersSince) {
    session.config[kOrtSessionOptionsDisableSpecifiedOptimizers] = "NchwcTransformer";
  } else {
    session.optimization = std::min(session.optimization, Optimization::kExtended);
  }
}

SessionOptions options_to_save(const OrtOptions& options, const Library& library, Format format,
                               const fs::path& place) {
  SessionOptions session;
  session.optimization = options.optimization;
  session.save_optimized = place;
  session.config[kOrtSessionOptionsConfigSaveModelFormat] = name_of(format);
  if (options.style == OrtStyle::kRuntime) {
    session.config[kOrtSessionOptionsConfigMinimalBuildOptimizations] =
        format == Format::kOrt ? "save" : "apply";
  }
  set_machine(options.machine, library, session);
  return session;
}

bool is_same(const std::vector<ValueDescription>& a, const std::vector<ValueDescription>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ValueDescription& one, const ValueDescription& other) {
                      return one.name == other.name && one.element == other.element &&
                             one.shape.size() == other.shape.size();
                    });
}

// Loads the written file and checks that it has the same inputs and outputs.
void check(const std::shared_ptr<const Library>& library, const fs::path& file, const Session& written) {
  SessionOptions options;
  options.optimization = Optimization::kNone;
  options.config[kOrtSessionOptionsConfigLoadModelFormat] = name_of(Format::kOrt);
  const Session read(library, file, options);
  if (!is_same(written.inputs(), read.inputs()) || !is_same(written.outputs(), read.outputs()))
    throw Error(ErrorCode::kUnsupported, "the written file has lost inputs or outputs", written.model());
}

// ORT files have signed 32-bit offsets. Protobuf messages, and so ONNX files, have the same limit.
constexpr std::uint64_t kMostBytes = 0x7FFF'FFFF;

std::uint64_t weight_bytes(const fs::path& path) {
  const onnx::Model model = onnx::read_model(path);
  std::uint64_t bytes = 0;
  for (const auto& tensor : model.proto->graph->initializers) bytes += tensor->byte_count();
  return bytes;
}

// Explains why a model could not be written: loads it to see if the model itself is the reason.
[[noreturn]] void explain(const std::shared_ptr<const Library>& library, const fs::path& model, Format format,
                          const Error& failure) {
  if (failure.code() == ErrorCode::kIo) throw failure;
  SessionOptions plain;
  plain.optimization = Optimization::kNone;
  const Session loads(library, model, plain);  // throws if the model itself does not load
  const std::uint64_t bytes = weight_bytes(model);
  if (bytes > kMostBytes) {
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format(
            "cannot write the model as {}: it has {} bytes of weights, but the format is limited to 2 GiB",
            name_of(format), bytes),
        model.string());
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("cannot write the model as {}: {}", name_of(format), failure.what()));
}

void write(const fs::path& model, const fs::path& output, Format format, const OrtOptions& options) {
  std::error_code different;  // ignored: a missing output is fine
  if (fs::equivalent(model, output, different))
    throw Error(ErrorCode::kUsage, "the output is the model itself", output.string());
  const std::shared_ptr<const Library> library = Library::open(Library::find(options.library));
  // Size 0: unknown, because the runtime writes the file by its path. The file gets the permissions of the
  // model.
  io::OutputFile file(output, 0, model);
  const fs::path unfinished = file.unfinished_path();
  try {
    const Session written(library, model, options_to_save(options, *library, format, unfinished));
    if (format == Format::kOrt) check(library, unfinished, written);
  } catch (const Error& failure) {
    explain(library, model, format, failure);
  }
  file.commit();
}

}  // namespace

void write_ort(const fs::path& model, const fs::path& output, const OrtOptions& options) {
  write(model, output, Format::kOrt, options);
}

void write_optimized(const fs::path& model, const fs::path& output, const OrtOptions& options) {
  write(model, output, Format::kOnnx, options);
}

}  // namespace ounce::runtime
