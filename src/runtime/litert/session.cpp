#include "runtime/litert/session.h"

#include <fmt/format.h>
#include <ounce/error.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

#include "base/text.h"
#include "formats/tflite/edit/io_editor.h"
#include "formats/tflite/file/reader.h"
#include "formats/tflite/file/writer.h"
#include "io/standard_error.h"

namespace ounce::runtime::litert {
namespace {

constexpr Status kNoMemory = 2, kCancelled = 100;

struct TypeRow {
  ElementType ours;
  std::int32_t runtime;
};
// The runtime has numbers of its own: those of the file format differ.
constexpr TypeRow kTypes[] = {
    {ElementType::kFloat, 1},         {ElementType::kInt32, 2},       {ElementType::kUint8, 3},
    {ElementType::kInt64, 4},         {ElementType::kBool, 6},        {ElementType::kInt16, 7},
    {ElementType::kComplex64, 8},     {ElementType::kInt8, 9},        {ElementType::kFloat16, 10},
    {ElementType::kDouble, 11},       {ElementType::kComplex128, 12}, {ElementType::kUint64, 13},
    {ElementType::kUint32, 16},       {ElementType::kUint16, 17},     {ElementType::kInt4, 18},
    {ElementType::kBfloat16, 19},     {ElementType::kInt2, 20},       {ElementType::kUint4, 21},
    {ElementType::kFloat8E4M3FN, 22}, {ElementType::kFloat8E5M2, 23},
};

// An object of the library that gives itself back.
template <class T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

// The first line of what the runtime says, without what a terminal would obey.
std::string first_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \r\n");
  if (begin == std::string_view::npos) return {};
  text = text.substr(begin);
  return plain(text.substr(0, text.find_first_of("\r\n")));
}

// Returns the text after the last "ERROR: " of "INFO: (text) ERROR: tflite/kernels/where.cc (text)".
std::string printed_error(std::string_view text) {
  constexpr std::string_view kMark = "ERROR: ";
  const std::size_t at = text.rfind(kMark);
  return at == std::string_view::npos ? std::string() : first_line(text.substr(at + kMark.size()));
}

unsigned threads_of(const SessionOptions& options) {
  return options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
}

void add_settings(const Api& api, Options& options, const char* name, const std::string& settings) {
  OpaqueOptions* made = nullptr;
  // They become part of the options, which release the text.
  if (api.CreateOpaqueOptions(name, ::strdup(settings.c_str()), std::free, &made) == 0)
    api.AddOpaqueOptions(&options, made);
}

// Where the runtime reports errors.
enum class Reports { kPrinted = 1, kKept = 2 };

Handle<Options> make_options(const Api& api, const SessionOptions& options, Reports reports) {
  Options* made = nullptr;
  api.CreateOptions(&made);
  Handle<Options> owned(made, api.DestroyOptions);
  if (!owned) return owned;
  api.SetOptionsHardwareAccelerators(made, kCpuAccelerator);
  std::string kernels = fmt::format("num_threads = {}\n", threads_of(options));
  // 2.1.6 knows no name for the kernels that are usual.
  if (options.kernels == Kernels::kBuiltIn) kernels += "kernel_mode = \"builtin\"\n";
  add_settings(api, *made, "xnnpack", kernels);
  std::string runtime = fmt::format("error_reporter_mode = {}\n", static_cast<int>(reports));
  if (options.is_profiled) runtime += "enable_profiling = true\n";
  add_settings(api, *made, "runtime_options_string", runtime);
  return owned;
}

data::Dims dims_of(const Layout& layout) {
  const std::size_t rank = std::min(layout.rank(), kMostDims);
  return {layout.dims.begin(), layout.dims.begin() + static_cast<std::ptrdiff_t>(rank)};
}

bool is_dynamic(const ValueDescription& value) {
  return std::any_of(value.shape.begin(), value.shape.end(),
                     [](const auto& dimension) { return dimension.value < 0; });
}

// The signature that runs the main graph; a model without signatures gets one from the runtime.
std::size_t signature_of(const tflite::Model& model) {
  const auto found = std::find_if(model.signatures.begin(), model.signatures.end(),
                                  [](const tflite::Signature& signature) { return signature.subgraph == 0; });
  return found == model.signatures.end() ? 0 : static_cast<std::size_t>(found - model.signatures.begin());
}

std::vector<ValueDescription> ports_of(const tflite::SubGraph& graph,
                                       const std::vector<std::int32_t>& tensors,
                                       const std::vector<std::string>& names) {
  std::vector<ValueDescription> ports;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const tflite::Tensor& tensor = graph.tensors[static_cast<std::size_t>(tensors[i])];
    ValueDescription& port = ports.emplace_back();
    port.name = names[i];
    port.element = tflite::element_type_of(tensor.type);
    for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis)
      port.shape.push_back({tflite::is_dynamic(tensor, axis) ? -1 : tensor.shape[axis], {}});
  }
  return ports;
}

// The runtime finds inputs and outputs by their names, and ends the process when two are equal.
void require_different_names(const tflite::Model& model, const std::vector<std::int32_t>& tensors,
                             const std::string& where) {
  std::set<std::string_view> names;
  for (const std::int32_t tensor : tensors) {
    const std::string_view name = model.subgraphs[0].tensors[static_cast<std::size_t>(tensor)].name;
    if (!names.insert(name).second)
      throw Error(
          ErrorCode::kUnsupported,
          fmt::format("has two tensors named '{}' among its inputs or outputs, which LiteRT cannot run",
                      plain(name)),
          where);
  }
}

// Operators that run other graphs of the model, whose operators are measured by themselves.
bool runs_graphs(std::string_view op) {
  constexpr std::string_view kThese[] = {"IF", "WHILE", "CALL", "CALL_ONCE", "STABLEHLO_COMPOSITE"};
  return std::find(std::begin(kThese), std::end(kThese), op) != std::end(kThese);
}

// An operator has no name: that of its first output stands for it.
std::string operator_name(const tflite::SubGraph& graph, std::uint64_t op) {
  for (const std::int32_t output : graph.operators[op].outputs) {
    const tflite::Bytes name =
        output < 0 ? tflite::Bytes() : graph.tensors[static_cast<std::size_t>(output)].name;
    if (!name.empty()) return plain(name);
  }
  return fmt::format("#{}", op);
}

// XNNPACK names the types that a kernel works on: "Fully Connected (NC, QD8, F32, QC8W) GEMM".
bool is_integer_product(std::string_view kernel) {
  constexpr std::string_view kProducts[] = {"Convolution", "Deconvolution", "Fully Connected",
                                            "Batch Matrix"};
  constexpr std::string_view kTypes8[] = {"QS8", "QU8", "QC8", "QD8", "QP8", "QC4", "QB4", "QDU8"};
  const auto begins = [&](std::string_view name) { return kernel.starts_with(name); };
  const auto has = [&](std::string_view name) { return kernel.find(name) != std::string_view::npos; };
  return std::any_of(std::begin(kProducts), std::end(kProducts), begins) &&
         std::any_of(std::begin(kTypes8), std::end(kTypes8), has);
}

// The kernels of TFLite are named by the operator alone: the type of its weights tells.
bool is_integer_product(const tflite::SubGraph& graph, std::uint64_t op, std::string_view name) {
  constexpr std::string_view kProducts[] = {"CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV",
                                            "FULLY_CONNECTED", "BATCH_MATMUL"};
  const std::vector<std::int32_t>& inputs = graph.operators[op].inputs;
  if (std::find(std::begin(kProducts), std::end(kProducts), name) == std::end(kProducts)) return false;
  if (inputs.size() < 2 || inputs[1] < 0) return false;
  return tflite::element_type_of(graph.tensors[static_cast<std::size_t>(inputs[1])].type) !=
         ElementType::kFloat;
}

void require_fit(const ValueDescription& takes, const TensorView& given, const std::string& model) {
  bool fits = takes.element == given.type && takes.shape.size() == given.dims.size();
  for (std::size_t i = 0; fits && i < given.dims.size(); ++i)
    fits = takes.shape[i].value < 0 || takes.shape[i].value == given.dims[i];
  if (fits) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("the input '{}' is {}, but it was given {}", takes.name, data::describe(takes),
                          data::describe(given.type, given.dims)),
              model);
}

}  // namespace

struct Session::Loaded {
  explicit Loaded(const Api& functions)
      : api(functions),
        model(nullptr, api.DestroyModel),
        options(nullptr, api.DestroyOptions),
        compiled(nullptr, api.DestroyCompiledModel) {}

  const Api& api;
  Handle<Model> model;
  Handle<Options> options;
  Handle<CompiledModel> compiled;
  Profiler* profiler = nullptr;  // the compiled model's
  struct Bound {
    Handle<Buffer> buffer;
    data::Dims dims;
    std::uint64_t bytes;
  };
  std::vector<Bound> inputs, outputs;
  std::vector<Buffer*> input_pointers, output_pointers;
};

Session::Session(std::shared_ptr<const Library> library, const std::filesystem::path& model,
                 const SessionOptions& options)
    : Session(std::move(library), tflite::read_model(model), {}, model.string(), options) {}

Session::Session(std::shared_ptr<const Library> library, tflite::Model model, std::string_view bytes,
                 std::string name, const SessionOptions& options)
    : library_(std::move(library)),
      file_(std::move(model)),
      name_(std::move(name)),
      options_(options),
      signature_(signature_of(file_)) {
  const tflite::SubGraph& graph = file_.subgraphs[0];
  require_different_names(file_, graph.inputs, name_);
  require_different_names(file_, graph.outputs, name_);
  inputs_ = ports_of(graph, graph.inputs, tflite::input_names(file_));
  outputs_ = ports_of(graph, graph.outputs, tflite::output_names(file_));
  results_.resize(outputs_.size());
  try {
    load(bytes.empty() ? file_.file.bytes() : bytes);
  } catch (const Error& error) {
    // A dynamic dimension has some value in the file, and that may be none that the model works with.
    if (error.code() != ErrorCode::kBadInput || std::none_of(inputs_.begin(), inputs_.end(), is_dynamic))
      throw;
    loaded_.reset();
  }
}

Session::~Session() = default;

void Session::fail(Status status, const char* doing, std::string message) const {
  // Built-in kernels report a stopped run as a failed one.
  if (status == kCancelled || is_stopped_.load(std::memory_order_relaxed))
    throw Error(ErrorCode::kCancelled, "the run was stopped", name_);
  const Api& api = library_->api();
  char* kept = nullptr;
  if (message.empty() && loaded_ && loaded_->compiled &&
      api.CompiledModelGetErrorMessages(loaded_->compiled.get(), &kept) == 0 && kept != nullptr) {
    message = first_line(kept);
    std::free(kept);  // NOLINT(cppcoreguidelines-no-malloc): the library allocates it so
    api.CompiledModelClearErrors(loaded_->compiled.get());
  }
  if (message.empty()) message = fmt::format("{} failed (status {})", doing, status);
  throw Error(status == kNoMemory ? ErrorCode::kMemory : ErrorCode::kBadInput, "LiteRT: " + message, name_);
}

// A compiled model, or why there is none.
void Session::compile(std::string_view bytes) {
  const Api& api = library_->api();
  Environment* const environment = library_->environment();
  const auto try_to = [&](Reports reports) {
    const io::StandardErrorCapture quiet;
    Model* model = nullptr;
    Status status = api.CreateModelFromBuffer(environment, bytes.data(), bytes.size(), &model);
    loaded_->model.reset(model);
    if (status == 0) {
      loaded_->options = make_options(api, options_, reports);
      CompiledModel* compiled = nullptr;
      status = api.CreateCompiledModel(environment, model, loaded_->options.get(), &compiled);
      loaded_->compiled.reset(compiled);
    }
    return std::pair(status, status == 0 ? std::string() : printed_error(quiet.text()));
  };
  if (try_to(Reports::kKept).first == 0) return;
  // Errors that are kept go with the model that is not made: a second try prints them.
  auto [status, printed] = try_to(Reports::kPrinted);
  if (status != 0) fail(status, "loading the model", std::move(printed));
}

void Session::load(std::string_view bytes) {
  const Api& api = library_->api();
  loaded_.reset();  // before the next one takes its memory
  loaded_ = std::make_unique<Loaded>(api);
  compile(bytes);
  CompiledModel* const model = loaded_->compiled.get();
  std::vector<Layout> layouts(outputs_.size());
  if (const Status status =
          api.GetCompiledModelOutputTensorLayouts(model, signature_, layouts.size(), layouts.data(), true))
    fail(status, "computing the shapes of the outputs");
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    Layout layout;
    BufferRequirements* requirements = nullptr;
    if (const Status status = api.GetCompiledModelInputTensorLayout(model, signature_, i, &layout))
      fail(status, "reading the shape of an input");
    if (const Status status =
            api.GetCompiledModelInputBufferRequirements(model, signature_, i, &requirements))
      fail(status, "preparing an input");
    add_buffer(inputs_[i], layout, requirements, true);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    BufferRequirements* requirements = nullptr;
    if (const Status status =
            api.GetCompiledModelOutputBufferRequirements(model, signature_, i, &requirements))
      fail(status, "preparing an output");
    add_buffer(outputs_[i], layouts[i], requirements, false);
  }
  for (const Loaded::Bound& input : loaded_->inputs) loaded_->input_pointers.push_back(input.buffer.get());
  for (const Loaded::Bound& output : loaded_->outputs)
    loaded_->output_pointers.push_back(output.buffer.get());
  // A tensor has one place: an output that is an input as well is where the input is.
  const tflite::SubGraph& graph = file_.subgraphs[0];
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const auto same = std::find(graph.outputs.begin(), graph.outputs.end(), graph.inputs[i]);
    if (same != graph.outputs.end())
      loaded_->output_pointers[static_cast<std::size_t>(same - graph.outputs.begin())] =
          loaded_->input_pointers[i];
  }
  api.SetCompiledModelCancellationFunction(model, &is_stopped_, [](void* is_stopped) {
    return static_cast<const std::atomic<bool>*>(is_stopped)->load(std::memory_order_relaxed);
  });
  if (!options_.is_profiled) return;
  if (const Status status = api.CompiledModelGetProfiler(model, &loaded_->profiler))
    fail(status, "measuring operators");
  api.StartProfiler(loaded_->profiler);
  profiled_runs_ = 0;
}

void Session::add_buffer(const ValueDescription& value, const Layout& layout,
                         BufferRequirements* requirements, bool is_input) {
  const Api& api = library_->api();
  TensorType type;
  type.layout = layout;
  type.layout.rank_and_strides = static_cast<std::uint32_t>(layout.rank());
  const auto* const row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                       [&](const TypeRow& known) { return known.ours == value.element; });
  const bool is_known = row != std::end(kTypes);
  data::Dims dims = dims_of(layout);
  const std::uint64_t bytes = is_known ? data::byte_count(value.element, dims, value.name) : 0;
  Buffer* made = nullptr;
  std::size_t size = 0;
  if (is_known && bytes != 0) {
    type.element = row->runtime;
    const Status status =
        api.CreateManagedTensorBufferFromRequirements(library_->environment(), &type, requirements, &made);
    if (status == kNoMemory) fail(status, "making room for a tensor");
  }
  Handle<Buffer> buffer(made, api.DestroyTensorBuffer);
  if (!buffer || api.GetTensorBufferSize(made, &size) != 0 || size < bytes)
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("LiteRT gives no memory to '{}', which is {}: Ounce runs models whose inputs and "
                    "outputs are numbers and have a size that does not depend on the values of inputs",
                    value.name, data::describe(value.element, dims)),
        name_);
  (is_input ? loaded_->inputs : loaded_->outputs).push_back({std::move(buffer), std::move(dims), bytes});
}

// The sizes of dynamic dimensions go into the file: the runtime computes what follows from them as it loads.
void Session::load_for(std::span<const TensorView> inputs) {
  tflite::Model resized = file_;
  const std::vector<std::int32_t>& tensors = resized.subgraphs[0].inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    tflite::set_shape(resized, static_cast<std::size_t>(tensors[i]), inputs[i].dims);
  loaded_.reset();  // before the bytes that it reads change
  rewritten_ = tflite::to_bytes(resized);
  load(rewritten_);
}

void Session::bind(std::span<const TensorView> inputs) {
  if (inputs.size() != inputs_.size())
    throw Error(ErrorCode::kBadInput,
                fmt::format("takes {} inputs, but got {}", inputs_.size(), inputs.size()), name_);
  bool is_loaded = loaded_ != nullptr;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    require_fit(inputs_[i], inputs[i], name_);
    is_loaded = is_loaded && loaded_->inputs[i].dims == inputs[i].dims;
  }
  if (!is_loaded) load_for(inputs);
  const Api& api = library_->api();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Loaded::Bound& input = loaded_->inputs[i];
    if (inputs[i].bytes.size() != input.bytes)
      throw Error(
          ErrorCode::kBadInput,
          fmt::format("has {} bytes where its type and shape take {}", inputs[i].bytes.size(), input.bytes),
          fmt::format("tensor '{}'", inputs_[i].name));
    void* place = nullptr;
    if (const Status status = api.LockTensorBuffer(input.buffer.get(), &place, kWrite))
      fail(status, "writing an input");
    std::memcpy(place, inputs[i].bytes.data(), inputs[i].bytes.size());
    api.UnlockTensorBuffer(input.buffer.get());
  }
}

void Session::run() {
  if (const Status status = library_->api().RunCompiledModel(
          loaded_->compiled.get(), signature_, loaded_->input_pointers.size(), loaded_->input_pointers.data(),
          loaded_->output_pointers.size(), loaded_->output_pointers.data()))
    fail(status, "running the model");
  ++profiled_runs_;
}

std::span<const TensorView> Session::results() {
  const Api& api = library_->api();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Loaded::Bound& output = loaded_->outputs[i];
    void* place = nullptr;
    if (const Status status = api.LockTensorBuffer(loaded_->output_pointers[i], &place, kRead))
      fail(status, "reading an output");
    api.UnlockTensorBuffer(loaded_->output_pointers[i]);  // memory of this process is not moved
    results_[i].type = outputs_[i].element;
    results_[i].dims = output.dims;
    results_[i].bytes = {static_cast<const char*>(place), output.bytes};
  }
  return results_;
}

SessionProfile Session::end_profile() {
  const Api& api = library_->api();
  const tflite::SubGraph& graph = file_.subgraphs[0];
  SessionProfile profile;
  profile.runs = profiled_runs_;
  profile.operators = graph.operators.size();
  int count = 0;
  if (loaded_ == nullptr || loaded_->profiler == nullptr) return profile;
  api.StopProfiler(loaded_->profiler);
  if (const Status status = api.GetNumProfilerEvents(loaded_->profiler, &count))
    fail(status, "reading the profile");
  std::vector<ProfilerEvent> events(static_cast<std::size_t>(std::max(0, count)));
  if (const Status status = api.GetProfilerEvents(loaded_->profiler, count, events.data()))
    fail(status, "reading the profile");
  std::set<std::uint64_t> built_in;  // operators of the main graph that XNNPACK has not taken
  std::uint64_t place = 0;           // of an operator of XNNPACK in its run
  for (const ProfilerEvent& event : events) {
    const std::string_view tag = event.tag == nullptr ? "" : event.tag;
    const double seconds = 1e-6 * static_cast<double>(event.microseconds);
    if (event.type == kWhole && tag == "Invoke") place = 0;
    if (event.type == kDelegated)
      profile.times.push_back(
          {fmt::format("xnnpack {}", place++), plain(tag), true, is_integer_product(tag), seconds});
    if (event.type != kBuiltIn) continue;
    const bool is_main = event.subgraph == 0 && event.node < graph.operators.size();
    if (is_main) built_in.insert(event.node);
    if (runs_graphs(tag)) continue;
    profile.times.push_back(
        {is_main ? operator_name(graph, event.node) : fmt::format("graph {} #{}", event.subgraph, event.node),
         plain(tag), false, is_main && is_integer_product(graph, event.node, tag), seconds});
  }
  profile.delegated = profile.operators - built_in.size();
  return profile;
}

}  // namespace ounce::runtime::litert
