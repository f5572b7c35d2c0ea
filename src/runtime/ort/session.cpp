#include "runtime/ort/session.h"

#include <fmt/format.h>
#include <onnxruntime_c_api.h>
#include <onnxruntime_session_options_config_keys.h>
#include <ounce/error.h>

#include <algorithm>
#include <utility>

#include "formats/onnx/file/reader.h"
#include "io/mapped_file.h"
#include "runtime/ort/bound_run.h"
#include "runtime/ort/c_api.h"

namespace ounce::runtime {
namespace {

constexpr std::uint32_t kStandInsSince = 18;

GraphOptimizationLevel to_runtime(Optimization optimization) {
  switch (optimization) {
    case Optimization::kNone: return ORT_DISABLE_ALL;
    case Optimization::kBasic: return ORT_ENABLE_BASIC;
    case Optimization::kExtended: return ORT_ENABLE_EXTENDED;
    case Optimization::kAll: break;
  }
  return ORT_ENABLE_ALL;
}

Handle<OrtSessionOptions> make_options(const Caller& call, const SessionOptions& options) {
  const OrtApi& api = call.api();
  OrtSessionOptions* made = nullptr;
  call(api.CreateSessionOptions, &made);
  Handle<OrtSessionOptions> owned(made, {api.ReleaseSessionOptions});
  if (options.shares_threads) {
    call(api.DisablePerSessionThreads, made);
  } else {
    call(api.SetIntraOpNumThreads, made, static_cast<int>(options.threads));
  }
  if (options.threads_between != 1) {
    call(api.SetSessionExecutionMode, made, ORT_PARALLEL);
    call(api.SetInterOpNumThreads, made, static_cast<int>(options.threads_between));
  }
  call(api.SetSessionGraphOptimizationLevel, made, to_runtime(options.optimization));
  for (const auto& [key, value] : options.config)
    call(api.AddSessionConfigEntry, made, key.c_str(), value.c_str());
  if (!options.save_optimized.empty())
    call(api.SetOptimizedModelFilePath, made, options.save_optimized.c_str());
  if (!options.profile.empty()) call(api.EnableProfiling, made, options.profile.c_str());
  return owned;
}

// The element type inside a sequence, a map, or a sequence of maps. Undefined for deeper nesting or if the
// model does not declare it.
ElementType type_inside(const Caller& call, const OrtTypeInfo& type, int depth = 2) {
  const OrtApi& api = call.api();
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;  // owned by `type`
  const OrtSequenceTypeInfo* sequence = nullptr;
  const OrtMapTypeInfo* map = nullptr;
  call(api.CastTypeInfoToTensorInfo, &type, &tensor);
  if (tensor != nullptr) {
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    call(api.GetTensorElementType, tensor, &element);
    return from_runtime(element);
  }
  call(api.CastTypeInfoToSequenceTypeInfo, &type, &sequence);
  call(api.CastTypeInfoToMapTypeInfo, &type, &map);
  if (depth == 0 || (sequence == nullptr && map == nullptr)) return ElementType::kUndefined;
  OrtTypeInfo* inside = nullptr;
  if (sequence != nullptr) {
    call(api.GetSequenceElementType, sequence, &inside);
  } else {
    call(api.GetMapValueType, map, &inside);
  }
  const Handle<OrtTypeInfo> owned(inside, {api.ReleaseTypeInfo});
  return type_inside(call, *inside, depth - 1);
}

void describe_type(const Caller& call, const OrtTypeInfo& type, ValueDescription& description) {
  const OrtApi& api = call.api();
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;  // owned by the type info
  call(api.CastTypeInfoToTensorInfo, &type, &tensor);
  if (tensor == nullptr) {
    description.inside = type_inside(call, type);
    return;
  }
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  call(api.GetTensorElementType, tensor, &element);
  description.element = from_runtime(element);
  std::size_t rank = 0;
  call(api.GetDimensionsCount, tensor, &rank);
  std::vector<std::int64_t> values(rank);
  std::vector<const char*> names(rank);
  call(api.GetDimensions, tensor, values.data(), rank);
  call(api.GetSymbolicDimensions, tensor, names.data(), rank);
  for (std::size_t i = 0; i < rank; ++i)
    description.shape.push_back({values[i], names[i] == nullptr ? "" : names[i]});
}

using CountFunction = decltype(OrtApi::SessionGetInputCount);
using NameFunction = decltype(OrtApi::SessionGetInputName);
using TypeFunction = decltype(OrtApi::SessionGetInputTypeInfo);

std::vector<ValueDescription> describe(const Caller& call, const OrtSession* session, CountFunction get_count,
                                       NameFunction get_name, TypeFunction get_type) {
  const OrtApi& api = call.api();
  OrtAllocator* const allocator = default_allocator(call);
  std::size_t count = 0;
  call(get_count, session, &count);
  std::vector<ValueDescription> descriptions(count);
  for (std::size_t i = 0; i < count; ++i) {
    char* name = nullptr;
    call(get_name, session, i, allocator, &name);
    descriptions[i].name = name;
    call(api.AllocatorFree, allocator, name);
    OrtTypeInfo* type = nullptr;
    call(get_type, session, i, &type);
    const Handle<OrtTypeInfo> owned(type, {api.ReleaseTypeInfo});
    describe_type(call, *type, descriptions[i]);
  }
  return descriptions;
}

// Loads a model whose external data is in other places: maps all files and passes them as memory.
OrtSession* make_session(const Caller& call, const Library& library, const std::filesystem::path& model,
                         const std::map<std::string, std::filesystem::path>& external_data_paths,
                         OrtSessionOptions* options) {
  const OrtApi& api = call.api();
  if (library.api_version() < kStandInsSince) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("ONNX Runtime {} cannot load external data from memory; use 1.{} or newer",
                            library.version(), kStandInsSince),
                model.string());
  }
  std::vector<io::MappedFile> files;
  std::vector<const char*> names;
  std::vector<char*> buffers;
  std::vector<std::size_t> sizes;
  for (const auto& [location, path] : external_data_paths) {
    const std::string_view bytes = files.emplace_back(io::MappedFile::open(path)).bytes();
    names.push_back(location.c_str());
    buffers.push_back(const_cast<char*>(bytes.data()));  // the runtime does not write to it
    sizes.push_back(bytes.size());
  }
  call(api.AddExternalInitializersFromFilesInMemory, options, names.data(), buffers.data(), sizes.data(),
       names.size());
  const io::MappedFile file = io::MappedFile::open(model);
  OrtSession* session = nullptr;
  call(api.CreateSessionFromArray, &library.environment(), file.bytes().data(), file.bytes().size(), options,
       &session);
  return session;
}

// Guards against truncation of the external data, which the runtime maps and reads during the lifetime of the
// session.
std::vector<io::FileGuard> guards_of(const std::filesystem::path& model) {
  std::vector<io::FileGuard> guards;
  if (!io::FileGuard::is_wanted()) return guards;
  try {
    // Skip models without external data, which do not contain this key.
    if (io::MappedFile::open(model).bytes().find("location") == std::string_view::npos) return guards;
    const onnx::Model read = onnx::read_model(model);
    for (const auto& [location, file] : read.external_files) guards.push_back(io::FileGuard::of_all(file));
  } catch (const Error&) {  // the runtime will report the error
  }
  return guards;
}

}  // namespace

std::map<std::string, std::string> mapped_bytes() {
  return {{kOrtSessionOptionsConfigLoadModelFormat, "ORT"},
          {kOrtSessionOptionsConfigUseORTModelBytesDirectly, "1"},
          {kOrtSessionOptionsConfigUseORTModelBytesForInitializers, "1"}};
}

Session::Session(std::shared_ptr<const Library> library, const std::filesystem::path& model,
                 const SessionOptions& options)
    : library_(std::move(library)), model_(model.string()), handles_(std::make_unique<Handles>()) {
  const OrtApi& api = library_->api();
  const Caller call(api, model_);
  const Handle<OrtSessionOptions> session_options = make_options(call, options);
  OrtSession* session = nullptr;
  if (options.external_data_paths.empty()) {
    guards_ = guards_of(model);
    call(api.CreateSession, &library_->environment(), model.c_str(), session_options.get(), &session);
  } else {
    session = make_session(call, *library_, model, options.external_data_paths, session_options.get());
  }
  take(session);
}

Session::Session(std::shared_ptr<const Library> library, std::string name, std::string_view bytes,
                 const SessionOptions& options)
    : library_(std::move(library)), model_(std::move(name)), handles_(std::make_unique<Handles>()) {
  const OrtApi& api = library_->api();
  const Caller call(api, model_);
  const Handle<OrtSessionOptions> session_options = make_options(call, options);
  OrtSession* session = nullptr;
  call(api.CreateSessionFromArray, &library_->environment(), bytes.data(), bytes.size(),
       session_options.get(), &session);
  take(session);
}

void Session::take(OrtSession* session) {
  const OrtApi& api = library_->api();
  const Caller call(api, model_);
  handles_->session = {session, {api.ReleaseSession}};
  OrtMemoryInfo* memory = nullptr;
  call(api.CreateCpuMemoryInfo, OrtDeviceAllocator, OrtMemTypeDefault, &memory);
  handles_->memory = {memory, {api.ReleaseMemoryInfo}};
  inputs_ =
      describe(call, session, api.SessionGetInputCount, api.SessionGetInputName, api.SessionGetInputTypeInfo);
  outputs_ = describe(call, session, api.SessionGetOutputCount, api.SessionGetOutputName,
                      api.SessionGetOutputTypeInfo);
}

std::optional<std::string> Session::metadata(const std::string& key) const {
  const OrtApi& api = library_->api();
  const Caller call(api, model_);
  OrtModelMetadata* metadata = nullptr;
  call(api.SessionGetModelMetadata, handles_->session.get(), &metadata);
  const Handle<OrtModelMetadata> owned(metadata, {api.ReleaseModelMetadata});
  OrtAllocator* const allocator = default_allocator(call);
  char* value = nullptr;
  call(api.ModelMetadataLookupCustomMetadataMap, metadata, allocator, key.c_str(), &value);
  if (value == nullptr) return std::nullopt;
  std::string found = value;
  call(api.AllocatorFree, allocator, value);
  return found;
}

bool Session::was_cut() const noexcept {
  return std::any_of(guards_.begin(), guards_.end(),
                     [](const io::FileGuard& guard) { return guard.was_cut(); });
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::filesystem::path Session::end_profile() {
  const OrtApi& api = library_->api();
  const Caller call(api, model_);
  OrtAllocator* const allocator = default_allocator(call);
  char* name = nullptr;
  call(api.SessionEndProfiling, handles_->session.get(), allocator, &name);
  std::filesystem::path path = name;
  call(api.AllocatorFree, allocator, name);
  return path;
}

std::vector<Tensor> Session::run(const std::vector<NamedTensor>& inputs,
                                 const std::vector<std::string>& outputs) const {
  std::vector<TensorView> views;
  for (const ValueDescription& takes : inputs_) {
    const auto found = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const NamedTensor& given) { return given.name == takes.name; });
    if (found == inputs.end())
      throw Error(ErrorCode::kBadInput, fmt::format("the input '{}' was not given", takes.name), model_);
    views.emplace_back(found->tensor);
  }
  BoundRun bound(*this, outputs);
  bound.bind(views);
  bound.run();
  std::vector<Tensor> tensors;
  for (const TensorView& view : bound.outputs()) tensors.push_back(data::copy_of(view));
  return tensors;
}

}  // namespace ounce::runtime
