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

// A model with layouts for one kind of processor cannot run on others; if the runtime cannot disable only
// these optimizations, their whole level is disabled. On ARM signed 8-bit integers are as fast as unsigned
// ones and are kept.
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

// Reads the file again: the same inputs and outputs must come back.
void check(const std::shared_ptr<const Library>& library, const fs::path& file, const Session& written) {
  SessionOptions options;
  options.optimization = Optimization::kNone;
  options.config[kOrtSessionOptionsConfigLoadModelFormat] = name_of(Format::kOrt);
  const Session read(library, file, options);
  if (!is_same(written.inputs(), read.inputs()) || !is_same(written.outputs(), read.outputs()))
    throw Error(ErrorCode::kUnsupported, "inputs or outputs got lost", written.model());
}

// Offsets in the runtime's format are signed numbers of 32 bits; ONNX's is a protobuf, which has the same
// limit.
constexpr std::uint64_t kMostBytes = 0x7FFF'FFFF;

std::uint64_t weight_bytes(const fs::path& path) {
  const onnx::Model model = onnx::read_model(path);
  std::uint64_t bytes = 0;
  for (const auto& tensor : model.proto->graph->initializers) bytes += tensor->byte_count();
  return bytes;
}

// A model that could not be written: is it the model, or is it the format?
[[noreturn]] void explain(const std::shared_ptr<const Library>& library, const fs::path& model, Format format,
                          const Error& failure) {
  if (failure.code() == ErrorCode::kIo) throw failure;
  SessionOptions plain;
  plain.optimization = Optimization::kNone;
  const Session loads(library, model, plain);  // throws if it is the model
  const std::uint64_t bytes = weight_bytes(model);
  if (bytes > kMostBytes) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("cannot be written as {}: has {} bytes of weights, and the format holds 2 GiB",
                            name_of(format), bytes),
                model.string());
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("cannot be written as {}: {}", name_of(format), failure.what()));
}

void write(const fs::path& model, const fs::path& output, Format format, const OrtOptions& options) {
  std::error_code different;  // or missing: both are fine
  if (fs::equivalent(model, output, different))
    throw Error(ErrorCode::kUsage, "the output is the model itself", output.string());
  const std::shared_ptr<const Library> library = Library::open(Library::find(options.library));
  // The size is not known: the runtime opens it by its path and writes. It is as private as the model.
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
