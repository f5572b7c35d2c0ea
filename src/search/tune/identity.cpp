#include "search/tune/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>
#include <ounce/version.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "base/cancel.h"
#include "base/cpu.h"
#include "base/digest.h"
#include "data/contract/contract_json.h"
#include "data/source/memory_source.h"
#include "formats/onnx/file/reader.h"
#include "io/mapped_file.h"
#include "quantize/statement.h"
#include "runtime/ort/library.h"

namespace ounce::search {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{4} << 20;

std::string digest_of_bytes(const io::MappedFile& file) {
  std::vector<Digest> pieces;
  for (std::size_t at = 0; at < file.bytes().size(); at += kPiece) {
    throw_if_cancelled();
    const std::string_view piece = file.bytes().substr(at, kPiece);
    pieces.push_back(digest_of(piece));
    file.release(piece);
  }
  return hex(digest_of(pieces));
}

// A list names files, relative to itself: every word in it that is one counts.
std::string digest_of_list(const fs::path& path) {
  const io::MappedFile list = io::MappedFile::open(path);
  std::string text = digest_of_bytes(list);
  constexpr std::string_view kBetween = ",;\t\r\n\"{}[]";
  const std::string_view bytes = list.bytes();
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find_first_of(kBetween, at), bytes.size());
    const std::string_view word = bytes.substr(at, end - at);
    at = end + 1;
    std::error_code none;
    if (word.empty() || word.size() > 4096 || word.find('\0') != word.npos) continue;
    const fs::path named = path.parent_path() / fs::path(word);
    if (fs::is_regular_file(named, none)) text += digest_of_bytes(io::MappedFile::open(named));
  }
  return text;
}

std::string digest_of_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code none;
    if (at->is_regular_file(none)) files.push_back(at->path());
  }
  if (failure) throw Error(ErrorCode::kIo, "cannot read the folder: " + failure.message(), folder.string());
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files)
    text += fmt::format("{} {}\n", file.lexically_relative(folder).string(),
                        digest_of_bytes(io::MappedFile::open(file)));
  return text;
}

std::string digest_of_path(const fs::path& path) {
  std::error_code none;
  if (path.empty()) return "none";
  const bool is_list = path.extension() == ".csv" || path.extension() == ".jsonl";
  const std::string text = fs::is_directory(path, none) ? digest_of_folder(path)
                           : is_list                    ? digest_of_list(path)
                                                        : digest_of_bytes(io::MappedFile::open(path));
  return hex(digest_of(text));
}

// Without opening a session.
std::string runtime_text(const RuntimeOptions& options) {
  std::string text =
      fmt::format("threads {} {} optimization {} config {}", options.threads, options.threads_between,
                  name_of(options.optimization), fmt::join(options.config, ","));
  if (options.isolate && options.isolate->memory != 0)
    text += fmt::format(" memory {}", options.isolate->memory);
  if (options.remote)
    return text + fmt::format(" remote '{}' '{}' '{}' '{}'", options.remote->via, options.remote->launcher,
                              options.remote->library, options.library);
  return text + " version " + runtime::Library::open(runtime::Library::find(options.library))->version();
}

std::string model_digest(const fs::path& path) {
  ThreadPool pool;
  return quantization::source_digest(onnx::read_model(path), {}, pool);
}

}  // namespace

std::string digest_of_data(const DataOptions& data) {
  std::string text = digest_of_path(data.path);
  if (data.memory) text += data::description_of(*data.memory);
  for (const auto& [input, path] : data.paths)
    text += fmt::format("\ninput '{}' {}", input, digest_of_path(path));
  for (const auto& [input, field] : data.fields) text += fmt::format("\nfield '{}' '{}'", input, field);
  for (const auto& [input, value] : data.constants) text += fmt::format("\nconstant '{}' {}", input, value);
  for (const auto& [input, output] : data.carry) text += fmt::format("\ncarry '{}' '{}'", input, output);
  for (const auto& [name, size] : data.shape) text += fmt::format("\nshape '{}' {}", name, size);
  text += fmt::format("\nlabels '{}' first {} samples {} part {} of {} batch {} seed {}", data.labels,
                      data.first, data.samples, data.part, data.parts, data.batch, data.seed);
  if (data.contract) text += "\n" + data::write_contract(*data.contract, -1);
  return hex(digest_of(text));
}

std::string identity_of(const fs::path& model, const DataOptions& data, const RuntimeOptions& runtime,
                        const std::string& more) {
  return fmt::format("ounce {}\nmodel {}\ndata {}\nruntime {}\nkernels {}\n{}", version(),
                     model_digest(model), digest_of_data(data), runtime_text(runtime), cpu_kernels(), more);
}

}  // namespace ounce::search
