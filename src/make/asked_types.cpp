#include "make/asked_types.h"

#include <ounce/error.h>

#include <set>

#include "base/temporary_folder.h"
#include "base/thread_pool.h"
#include "graph/element_types.h"
#include "measure/open.h"
#include "onnx/reader.h"
#include "onnx/types.h"
#include "onnx/write_temporary.h"

namespace ounce::make {
namespace {

constexpr std::size_t kMostAsked = 4096;  // each is one more output for the runtime to carry

// Of values that nodes give, in the order of the file.
std::vector<std::string> unknown_values(const onnx::Model& model) {
  const graph::Index index(model);
  const graph::ElementTypes types(model, index);
  std::vector<std::string> names;
  for (const auto& node : index.main().nodes()) {
    for (const onnx::Bytes name : node->outputs) {
      if (!name.empty() && types.type(0, name) == ElementType::kUndefined) names.emplace_back(name);
    }
  }
  return names;
}

void add_value(onnx::Model& model, std::vector<onnx::Kept<onnx::ValueInfo>>& values, const std::string& name,
               onnx::Bytes type) {
  onnx::ValueInfo info;
  info.name = model.intern(name);
  info.type = type;
  values.emplace_back(std::move(info));
}

// The model with all of them as outputs, in the runtime.
std::unique_ptr<runtime::Executor> load_with_outputs(const std::filesystem::path& source,
                                                     const std::vector<std::string>& names,
                                                     const RuntimeOptions& options) {
  onnx::Model model = onnx::read_model(source);
  auto& outputs = model.proto.edit().graph.edit().outputs;
  std::set<onnx::Bytes> present;
  for (const auto& output : outputs) present.insert(output->name);
  for (const std::string& name : names) {
    if (!present.contains(name)) add_value(model, outputs, name, {});
  }
  const TemporaryFolder folder("types");
  ThreadPool pool;
  const std::filesystem::path path = folder.path() / "model.onnx";
  onnx::write_temporary(model, path, pool);
  RuntimeOptions how = options;
  how.optimization = OptimizationLevel::kNone;  // only types are of interest
  return runtime::load(path, measure::executor_options(how));
}

}  // namespace

std::size_t declare_asked_types(onnx::Model& model, const RuntimeOptions& options) {
  const std::vector<std::string> names = unknown_values(model);
  if (names.empty() || names.size() > kMostAsked) return 0;
  const std::set<std::string> asked(names.begin(), names.end());
  std::size_t count = 0;
  try {
    const auto loaded = load_with_outputs(model.file.path(), names, options);
    for (const data::ValueDescription& value : loaded->outputs()) {
      if (!asked.contains(value.name) || !value.is_tensor() || value.element == ElementType::kUndefined)
        continue;
      const onnx::Bytes type = onnx::make_element_type(model, value.element);
      add_value(model, model.proto.edit().graph.edit().value_infos, value.name, type);
      ++count;
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;  // otherwise nobody knows them, and their nodes stay
  }
  return count;
}

}  // namespace ounce::make
