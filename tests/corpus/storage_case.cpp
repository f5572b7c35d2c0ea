#include "corpus/storage_case.h"

#include <ounce/error.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "corpus/closeness.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/temporary_folder.h"

namespace ounce::test {
namespace {

namespace fs = std::filesystem;
using runtime::Optimization;
using runtime::Session;

std::shared_ptr<const runtime::Library> library() { return runtime::Library::open(runtime::Library::find()); }

std::vector<runtime::Tensor> run(const fs::path& model, const std::vector<runtime::NamedTensor>& data,
                                 Optimization optimization) {
  runtime::SessionOptions options;
  options.optimization = optimization;
  return Session(library(), model, options).run(data);
}

// Counts the nodes of each type that remain after the runtime's optimizations, in all graphs.
std::map<std::string, int> optimized_nodes(const fs::path& model, const fs::path& scratch) {
  runtime::SessionOptions options;
  options.optimization = Optimization::kBasic;
  options.save_optimized = scratch;
  const Session session(library(), model, options);  // saves the optimized model
  std::map<std::string, int> nodes;
  const onnx::Model optimized = onnx::read_model(scratch);
  const graph::Index index = graph::validate(optimized);
  for (const graph::Body& body : index.bodies()) {
    for (const auto& node : body.nodes()) ++nodes[std::string(node->op_type())];
  }
  return nodes;
}

void keep(const fs::path& folder) {
  if (const char* place = std::getenv("OUNCE_KEEP_CASES"))
    fs::copy(folder, place, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
}

}  // namespace

unsigned runtime_api_version() { return library()->api_version(); }

StorageVerdict store_and_run(const StorageCase& model, const QuantizeOptions& options) {
  const TemporaryFolder folder;
  const fs::path original = folder / "model.onnx", small = folder / "small/model.onnx";
  fs::create_directory(small.parent_path());
  write_file(original, model.model);
  for (const auto& [name, bytes] : model.files) write_file(folder / name, bytes);

  keep(folder.path());

  StorageVerdict verdict;
  QuantizeOptions untried = options;
  untried.trial.is_wanted = false;  // this test runs it in every version of the runtime
  verdict.result = quantize(original, small, untried);
  keep(folder.path());
  graph::validate(onnx::read_model(small));
  std::vector<runtime::Tensor> reference;
  try {
    reference = run(original, model.data, Optimization::kAll);
  } catch (const Error& error) {
    verdict.runtime_error = error.what();
    return verdict;
  }
  const Closeness folded = compare_outputs(reference, run(small, model.data, Optimization::kAll));
  const Closeness unfolded = compare_outputs(reference, run(small, model.data, Optimization::kNone));
  verdict.sqnr_db = folded.sqnr_db;
  verdict.unfolded_sqnr_db = unfolded.sqnr_db;
  verdict.difference = folded.difference + unfolded.difference;

  // In the model's folder, because references to external data are relative.
  verdict.left_over_nodes = optimized_nodes(small, small.parent_path() / "optimized.onnx");
  for (const auto& [op_type, count] : optimized_nodes(original, folder / "optimized.onnx"))
    verdict.left_over_nodes[op_type] -= count;
  std::erase_if(verdict.left_over_nodes, [](const auto& entry) { return entry.second <= 0; });
  return verdict;
}

std::vector<float> weights_like(std::size_t count, std::uint32_t seed) {
  std::uint64_t state = 0x9E3779B97F4A7C15U * (seed + 1U);
  const auto uniform = [&] {
    state ^= state << 13U, state ^= state >> 7U, state ^= state << 17U;
    return static_cast<double>(state >> 11U) / static_cast<double>(std::uint64_t{1} << 53U) - 0.5;
  };
  std::vector<float> values(count);
  for (float& value : values)
    value = static_cast<float>(0.2 * (uniform() + uniform() + uniform() + uniform()));
  return values;
}

runtime::Tensor float_input(const Dims& dims, std::uint32_t seed) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  return {ElementType::kFloat, dims, raw_floats(weights_like(count, seed + 1000))};
}

runtime::Tensor int64_input(const Dims& dims, const std::vector<std::int64_t>& values) {
  std::string bytes(values.size() * sizeof(std::int64_t), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {ElementType::kInt64, dims, bytes};
}

}  // namespace ounce::test
