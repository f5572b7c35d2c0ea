// Runs probes in one ONNX Runtime library and prints the result of each.
//
//   probe_runner LIBRARY PACK SCRATCH < indices > results
//
// PACK is what probe_pack.py writes, stdin names probes by their place in it, one a line. Each session has
// the CPU provider, one thread and the default optimizations, and writes its optimized model to the path
// SCRATCH. A result is a line of five fields, with tabs between:
//
//   index  ok | load:CODE | run:CODE | crash:SIGNAL  message  operators of the optimized model  outputs
//
// CODE is the number of an OrtErrorCode. An output is TYPE:DIM,DIM:HEX, with one HEX for each string; a
// sequence or a map is "[" its parts "]".
//
// The probes run in a child process. When one of them kills it, or hangs, the next child goes on behind it.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#define ORT_API_MANUAL_INIT
#include <onnxruntime_c_api.h>

namespace {

constexpr unsigned kSecondsBeforeItHangs = 120;

struct Input {
  std::string name;
  ONNXTensorElementDataType type;
  std::vector<int64_t> shape;
  std::string_view bytes;
};

struct Probe {
  std::string_view model;
  std::vector<Input> inputs;
};

// The pack as it lies in memory: u32 count, u64 offset of each probe, the probes.
class Pack {
 public:
  explicit Pack(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (file < 0 || ::fstat(file, &about) != 0) throw std::runtime_error("cannot open the pack");
    size_ = static_cast<size_t>(about.st_size);
    void* const place = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (place == MAP_FAILED) throw std::runtime_error("cannot map the pack");
    data_ = static_cast<const char*>(place);
  }

  Probe probe(uint32_t index) const {
    size_t at = 0;
    if (index >= number<uint32_t>(at)) throw std::runtime_error("no such probe");
    at += sizeof(uint64_t) * index;
    at = number<uint64_t>(at);
    Probe probe;
    probe.model = bytes(at);
    probe.inputs.resize(number<uint32_t>(at));
    for (Input& input : probe.inputs) {
      input.name = bytes(at);
      input.type = static_cast<ONNXTensorElementDataType>(number<uint32_t>(at));
      input.shape.resize(number<uint32_t>(at));
      for (int64_t& dim : input.shape) dim = number<int64_t>(at);
      input.bytes = bytes(at);
    }
    return probe;
  }

 private:
  template <class T>
  T number(size_t& at) const {
    T value;
    if (at + sizeof value > size_) throw std::runtime_error("the pack is cut short");
    std::memcpy(&value, data_ + at, sizeof value);
    at += sizeof value;
    return value;
  }
  std::string_view bytes(size_t& at) const {
    const size_t size = number<uint64_t>(at);
    if (size > size_ - at) throw std::runtime_error("the pack is cut short");
    const std::string_view view(data_ + at, size);
    at += size;
    return view;
  }

  const char* data_ = nullptr;
  size_t size_ = 0;
};

// Just enough of protobuf to list the operators of a saved model.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  // The next field of length-delimited type; others are skipped. False at the end.
  bool next(uint64_t& field, std::string_view& value) {
    while (!rest_.empty()) {
      const uint64_t tag = varint();
      field = tag >> 3;
      switch (tag & 7) {
        case 0: varint(); break;
        case 1: take(8); break;
        case 2: value = take(varint()); return true;
        case 5: take(4); break;
        default: rest_ = {}; break;
      }
    }
    return false;
  }

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; !rest_.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }
  std::string_view take(uint64_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
};

std::string operators_of(const std::string& path) {
  constexpr uint64_t kModelGraph = 7, kGraphNode = 1, kNodeOperator = 4, kNodeDomain = 7;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::string list;
  uint64_t field = 0;
  std::string_view graph, node, text;
  for (Message model(bytes); model.next(field, graph);) {
    if (field != kModelGraph) continue;
    for (Message in_graph(graph); in_graph.next(field, node);) {
      if (field != kGraphNode) continue;
      std::string name, domain;
      for (Message in_node(node); in_node.next(field, text);) {
        if (field == kNodeOperator) name = text;
        if (field == kNodeDomain && !text.empty() && text != "ai.onnx") domain = std::string(text) + ".";
      }
      list += (list.empty() ? "" : ",") + domain + name;
    }
  }
  return list;
}

std::string hex(const void* data, size_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<const unsigned char*>(data)[i];
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

size_t bytes_of(ONNXTensorElementDataType type, size_t count) {
  switch (static_cast<int>(type)) {
    case 1:
    case 6:
    case 12: return 4 * count;  // float, int32, uint32
    case 4:
    case 5:
    case 10:
    case 16: return 2 * count;  // uint16, int16, float16, bfloat16
    case 7:
    case 11:
    case 13:
    case 14: return 8 * count;  // int64, double, uint64, complex64
    case 21:
    case 22:
    case 23: return (count + 1) / 2;  // uint4, int4, float4
    default: return count;
  }
}

// One library. Every call that can fail throws Failure.
class Runtime {
 public:
  struct Failure {
    int code;
    std::string message;
  };

  explicit Runtime(const char* library) {
    void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw std::runtime_error(::dlerror());
    const auto base = reinterpret_cast<decltype(&OrtGetApiBase)>(::dlsym(handle, "OrtGetApiBase"));
    if (base == nullptr) throw std::runtime_error("not a library of ONNX Runtime");
    unsigned minor = 0;
    std::sscanf(base()->GetVersionString(), "1.%u", &minor);
    api_ = base()->GetApi(std::min<uint32_t>(ORT_API_VERSION, minor));
    if (api_ == nullptr) throw std::runtime_error("the library has no API that we know");
    const auto silence = [](void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {};
    check(api_->CreateEnvWithCustomLogger(silence, nullptr, ORT_LOGGING_LEVEL_FATAL, "probe", &env_));
    check(api_->DisableTelemetryEvents(env_));
    check(api_->GetAllocatorWithDefaultOptions(&allocator_));
    check(api_->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory_));
  }

  std::string run(const Probe& probe, const std::string& scratch) {
    std::string operators;
    OrtSession* session = nullptr;
    try {
      session = load(probe.model, scratch);
      operators = operators_of(scratch);
    } catch (const Failure&) {  // of the model, or only of saving it?
      try {
        session = load(probe.model, {});
      } catch (const Failure& failure) {
        return "load:" + std::to_string(failure.code) + "\t" + failure.message + "\t\t";
      }
    }
    const std::unique_ptr<OrtSession, void (*)(OrtSession*)> owned(session, api_->ReleaseSession);
    try {
      return "ok\t\t" + operators + "\t" + outputs_of(*session, probe);
    } catch (const Failure& failure) {
      return "run:" + std::to_string(failure.code) + "\t" + failure.message + "\t" + operators + "\t";
    }
  }

 private:
  void check(OrtStatus* status) const {
    if (status == nullptr) return;
    Failure failure{api_->GetErrorCode(status), std::string(api_->GetErrorMessage(status)).substr(0, 300)};
    api_->ReleaseStatus(status);
    for (char& c : failure.message) {
      if (c == '\t' || c == '\n' || c == '\r') c = ' ';
    }
    throw failure;
  }

  OrtSession* load(std::string_view model, const std::string& scratch) const {
    OrtSessionOptions* made = nullptr;
    check(api_->CreateSessionOptions(&made));
    const std::unique_ptr<OrtSessionOptions, void (*)(OrtSessionOptions*)> options(
        made, api_->ReleaseSessionOptions);
    check(api_->SetIntraOpNumThreads(made, 1));
    check(api_->SetInterOpNumThreads(made, 1));
    if (!scratch.empty()) {
      ::unlink(scratch.c_str());
      check(api_->SetOptimizedModelFilePath(made, scratch.c_str()));
    }
    OrtSession* session = nullptr;
    check(api_->CreateSessionFromArray(env_, model.data(), model.size(), made, &session));
    return session;
  }

  OrtValue* value_of(const Input& input) const {
    OrtValue* value = nullptr;
    const auto& shape = input.shape;
    if (input.type != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
      check(api_->CreateTensorWithDataAsOrtValue(memory_, const_cast<char*>(input.bytes.data()),
                                                 input.bytes.size(), shape.data(), shape.size(), input.type,
                                                 &value));
      return value;
    }
    check(api_->CreateTensorAsOrtValue(allocator_, shape.data(), shape.size(), input.type, &value));
    std::vector<std::string> texts;  // the bytes are zero-terminated strings, one after another
    for (size_t at = 0; at < input.bytes.size(); at += texts.back().size() + 1)
      texts.emplace_back(input.bytes.data() + at);
    std::vector<const char*> pointers;
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    check(api_->FillStringTensor(value, pointers.data(), pointers.size()));
    return value;
  }

  std::string outputs_of(OrtSession& session, const Probe& probe) const {
    std::vector<const char*> input_names;
    std::vector<const OrtValue*> inputs;
    for (const Input& input : probe.inputs) {
      input_names.push_back(input.name.c_str());
      inputs.push_back(value_of(input));
    }
    size_t count = 0;
    check(api_->SessionGetOutputCount(&session, &count));
    std::vector<char*> names(count);
    for (size_t i = 0; i < count; ++i) check(api_->SessionGetOutputName(&session, i, allocator_, &names[i]));
    std::vector<OrtValue*> outputs(count);
    check(api_->Run(&session, nullptr, input_names.data(), inputs.data(), inputs.size(), names.data(), count,
                    outputs.data()));
    std::string text;
    for (const OrtValue* output : outputs) text += (text.empty() ? "" : " ") + text_of(output);
    for (OrtValue* output : outputs) api_->ReleaseValue(output);
    for (const OrtValue* input : inputs) api_->ReleaseValue(const_cast<OrtValue*>(input));
    return text;
  }

  std::string text_of(const OrtValue* value) const {
    ONNXType kind;
    if (value == nullptr) return "none";
    check(api_->GetValueType(value, &kind));
    if (kind == ONNX_TYPE_TENSOR) return tensor_text(value);
    size_t count = 0;
    check(api_->GetValueCount(value, &count));
    std::string text = "[";
    for (size_t i = 0; i < count; ++i) {
      OrtValue* part = nullptr;
      check(api_->GetValue(value, static_cast<int>(i), allocator_, &part));
      text += " " + text_of(part);
      api_->ReleaseValue(part);
    }
    return text + " ]";
  }

  std::string tensor_text(const OrtValue* value) const {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    check(api_->GetTensorTypeAndShape(value, &info));
    ONNXTensorElementDataType type;
    size_t rank = 0, count = 0;
    check(api_->GetTensorElementType(info, &type));
    check(api_->GetDimensionsCount(info, &rank));
    check(api_->GetTensorShapeElementCount(info, &count));
    std::vector<int64_t> shape(rank);
    check(api_->GetDimensions(info, shape.data(), rank));
    api_->ReleaseTensorTypeAndShapeInfo(info);

    std::string text = std::to_string(static_cast<int>(type)) + ":";
    for (size_t i = 0; i < rank; ++i) text += (i == 0 ? "" : ",") + std::to_string(shape[i]);
    if (type != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
      void* data = nullptr;
      check(api_->GetTensorMutableData(const_cast<OrtValue*>(value), &data));
      return text + ":" + hex(data, bytes_of(type, count));
    }
    size_t size = 0;
    check(api_->GetStringTensorDataLength(value, &size));
    std::vector<char> data(size);
    std::vector<size_t> starts(count);
    check(api_->GetStringTensorContent(value, data.data(), size, starts.data(), count));
    for (size_t i = 0; i < count; ++i)
      text += ":" + hex(data.data() + starts[i], (i + 1 < count ? starts[i + 1] : size) - starts[i]);
    return text;
  }

  const OrtApi* api_ = nullptr;
  OrtEnv* env_ = nullptr;
  OrtAllocator* allocator_ = nullptr;
  OrtMemoryInfo* memory_ = nullptr;
};

void say(const std::string& line) {
  for (size_t done = 0; done < line.size();) {
    const ssize_t written = ::write(STDOUT_FILENO, line.data() + done, line.size() - done);
    if (written <= 0) std::_Exit(3);
    done += static_cast<size_t>(written);
  }
}

// Runs the probes from `first` on; `at` always says which one is being run.
void run_from(const std::vector<uint32_t>& indices, size_t first, volatile size_t& at, char** arguments) {
  Runtime runtime(arguments[1]);
  const Pack pack(arguments[2]);
  for (size_t i = first; i < indices.size(); ++i) {
    at = i;
    ::alarm(kSecondsBeforeItHangs);
    say(std::to_string(indices[i]) + "\t" + runtime.run(pack.probe(indices[i]), arguments[3]) + "\n");
  }
  at = indices.size();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fputs("usage: probe_runner LIBRARY PACK SCRATCH < indices > results\n", stderr);
    return 2;
  }
  const std::vector<uint32_t> indices((std::istream_iterator<uint32_t>(std::cin)), {});
  void* const shared =
      ::mmap(nullptr, sizeof(size_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 4;
  volatile size_t& at = *static_cast<size_t*>(shared);

  constexpr size_t kNothingYet = ~size_t{0};
  for (size_t first = 0; first < indices.size(); first = at + 1) {
    at = kNothingYet;
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        run_from(indices, first, at, arguments);
      } catch (const std::exception& failure) {
        std::fprintf(stderr, "probe_runner: %s\n", failure.what());
        std::_Exit(at == kNothingYet ? 3 : 1);
      }
      std::_Exit(0);  // the library's static objects need not be torn down
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) < 0) return 4;
    if (at == indices.size()) return 0;
    if (at == kNothingYet) return 3;  // the library itself cannot be used
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    say(std::to_string(indices[at]) + "\tcrash:" + std::to_string(signal) + "\t\t\t\n");
  }
}
