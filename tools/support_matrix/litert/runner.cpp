// Runs probes in one library, LiteRT (libLiteRt.so) or the C library of TensorFlow Lite, one after the other:
//
//   runner LIBRARY PROBES > RESULTS
//
// A child process loads the library and runs probe after probe. If it crashes or hangs, the probe that it
// worked on is marked and the next child goes on behind it. Formats (all numbers little-endian):
//
//   probes    u32 count, then for each: u64 size and bytes of the model, u32 inputs, u64 size and bytes of
//   each results   for each probe: u8 status, u8 delegated (0, 1; 2: unknown), u32 outputs, u64 size and
//   bytes of each
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

enum Outcome : std::uint8_t { kRuns = 0, kRefused = 1, kFails = 2, kCrashes = 3, kHangs = 4 };
constexpr int kPatience = 120'000;  // milliseconds for one probe; an emulator is slow

struct Probe {
  std::string model;
  std::vector<std::string> inputs;
};

struct Result {
  Outcome outcome = kRefused;
  std::uint8_t delegated = 2;
  std::vector<std::string> outputs;
};

template <class T>
T take(const std::string& bytes, std::size_t& at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

std::string take_bytes(const std::string& bytes, std::size_t& at) {
  const auto size = take<std::uint64_t>(bytes, at);
  at += size;
  return bytes.substr(at - size, size);
}

std::vector<Probe> read_probes(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::size_t at = 0;
  std::vector<Probe> probes(take<std::uint32_t>(bytes, at));
  for (Probe& probe : probes) {
    probe.model = take_bytes(bytes, at);
    probe.inputs.resize(take<std::uint32_t>(bytes, at));
    for (std::string& input : probe.inputs) input = take_bytes(bytes, at);
  }
  return probes;
}

template <class F>
F find(void* library, const char* name) {
  return reinterpret_cast<F>(::dlsym(library, name));
}

// Structures of LiteRT; the layouts are those of src/runtime/litert/api.h.
struct Layout {
  std::uint32_t rank_and_strides = 0;
  std::int32_t dims[8] = {};
  std::uint32_t strides[8] = {};
};
struct TensorType {
  std::int32_t element = 0;
  Layout layout;
};

class LiteRt {
 public:
  explicit LiteRt(void* library) : library_(library) {
    call("LiteRtCreateEnvironment", 0, nullptr, &environment_);
  }

  Result run(const Probe& probe) {
    Result result;
    void *model = nullptr, *options = nullptr, *compiled = nullptr, *subgraph = nullptr;
    if (call("LiteRtCreateModelFromBuffer", environment_, probe.model.data(), probe.model.size(), &model) !=
        0)
      return result;
    call("LiteRtCreateOptions", &options);
    call("LiteRtSetOptionsHardwareAccelerators", options, 1);
    if (call("LiteRtCreateCompiledModel", environment_, model, options, &compiled) != 0) return result;
    bool is_whole = false;
    if (call("LiteRtCompiledModelIsFullyAccelerated", compiled, &is_whole) == 0)
      result.delegated = is_whole ? 1 : 0;
    result.outcome = kFails;
    std::size_t signature = 0;
    if (call("LiteRtGetModelSubgraph", model, std::size_t{0}, &subgraph) != 0) return result;
    std::size_t inputs = 0, outputs = 0;
    call("LiteRtGetNumSubgraphInputs", subgraph, &inputs);
    call("LiteRtGetNumSubgraphOutputs", subgraph, &outputs);
    if (inputs != probe.inputs.size()) return result;
    std::vector<void*> in(inputs), out(outputs);
    std::vector<Layout> layouts(outputs);
    if (call("LiteRtGetCompiledModelOutputTensorLayouts", compiled, signature, outputs, layouts.data(),
             true) != 0)
      return result;
    for (std::size_t i = 0; i < inputs; ++i) {
      if (!buffer("LiteRtGetSubgraphInput", "LiteRtGetCompiledModelInputBufferRequirements", subgraph,
                  compiled, i, nullptr, in[i]))
        return result;
      void* place = nullptr;
      std::size_t size = 0;
      call("LiteRtGetTensorBufferSize", in[i], &size);
      if (size < probe.inputs[i].size() || call("LiteRtLockTensorBuffer", in[i], &place, 1) != 0)
        return result;
      std::memcpy(place, probe.inputs[i].data(), probe.inputs[i].size());
      call("LiteRtUnlockTensorBuffer", in[i]);
    }
    for (std::size_t i = 0; i < outputs; ++i) {
      if (!buffer("LiteRtGetSubgraphOutput", "LiteRtGetCompiledModelOutputBufferRequirements", subgraph,
                  compiled, i, &layouts[i], out[i]))
        return result;
    }
    if (call("LiteRtRunCompiledModel", compiled, signature, inputs, in.data(), outputs, out.data()) != 0)
      return result;
    for (void* const each : out) {
      void* place = nullptr;
      std::size_t size = 0;
      call("LiteRtGetTensorBufferSize", each, &size);
      if (call("LiteRtLockTensorBuffer", each, &place, 0) != 0) return result;
      result.outputs.emplace_back(static_cast<const char*>(place), size);
    }
    result.outcome = kRuns;
    return result;  // the process ends soon: nothing is given back
  }

 private:
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) {
    const auto function = find<int (*)(Arguments...)>(library_, name);
    return function == nullptr ? -1 : function(arguments...);
  }
  bool buffer(const char* tensor_of, const char* needs_of, void* subgraph, void* compiled, std::size_t i,
              const Layout* layout, void*& made) {
    void *tensor = nullptr, *needs = nullptr;
    TensorType type;
    if (call(tensor_of, subgraph, i, &tensor) != 0 || call("LiteRtGetRankedTensorType", tensor, &type) != 0)
      return false;
    if (layout != nullptr) type.layout = *layout;
    type.layout.rank_and_strides &= 0x7f;
    return call(needs_of, compiled, std::size_t{0}, i, &needs) == 0 &&
           call("LiteRtCreateManagedTensorBufferFromRequirements", environment_,
                static_cast<const TensorType*>(&type), needs, &made) == 0;
  }

  void* library_;
  void* environment_ = nullptr;
};

class TfLite {
 public:
  explicit TfLite(void* library) : library_(library) {}

  Result run(const Probe& probe) {
    Result result;
    void* const model = pointer("TfLiteModelCreate", probe.model.data(), probe.model.size());
    if (model == nullptr) return result;
    void* const interpreter = pointer("TfLiteInterpreterCreate", model, static_cast<void*>(nullptr));
    if (interpreter == nullptr || number("TfLiteInterpreterAllocateTensors", interpreter) != 0) return result;
    result.outcome = kFails;
    for (std::size_t i = 0; i < probe.inputs.size(); ++i) {
      void* const tensor =
          pointer("TfLiteInterpreterGetInputTensor", interpreter, static_cast<std::int32_t>(i));
      if (tensor == nullptr ||
          number("TfLiteTensorCopyFromBuffer", tensor, static_cast<const void*>(probe.inputs[i].data()),
                 probe.inputs[i].size()) != 0)
        return result;
    }
    if (number("TfLiteInterpreterInvoke", interpreter) != 0) return result;
    const int outputs = number("TfLiteInterpreterGetOutputTensorCount", interpreter);
    for (std::int32_t i = 0; i < outputs; ++i) {
      void* const tensor = pointer("TfLiteInterpreterGetOutputTensor", interpreter, i);
      const auto size = find<std::size_t (*)(void*)>(library_, "TfLiteTensorByteSize")(tensor);
      const void* const data = pointer("TfLiteTensorData", tensor);
      if (data == nullptr && size != 0) return result;
      result.outputs.emplace_back(static_cast<const char*>(data), size);
    }
    result.outcome = kRuns;
    return result;
  }

 private:
  template <class... Arguments>
  void* pointer(const char* name, Arguments... arguments) {
    return find<void* (*)(Arguments...)>(library_, name)(arguments...);
  }
  template <class... Arguments>
  int number(const char* name, Arguments... arguments) {
    return find<int (*)(Arguments...)>(library_, name)(arguments...);
  }

  void* library_;
};

void put(std::string& out, const void* data, std::size_t size) {
  out.append(static_cast<const char*>(data), size);
}

std::string packed(const Result& result) {
  std::string out;
  put(out, &result.outcome, 1);
  put(out, &result.delegated, 1);
  const auto count = static_cast<std::uint32_t>(result.outputs.size());
  put(out, &count, sizeof count);
  for (const std::string& output : result.outputs) {
    const std::uint64_t size = output.size();
    put(out, &size, sizeof size);
    out += output;
  }
  return out;
}

bool write_all(int file, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::write(file, bytes.data() + at, bytes.size() - at);
    if (written <= 0) return false;
    at += static_cast<std::size_t>(written);
  }
  return true;
}

template <class Runtime>
void work(void* library, const std::vector<Probe>& probes, std::size_t first, int results) {
  Runtime runtime(library);
  for (std::size_t i = first; i < probes.size(); ++i) {
    const std::string bytes = packed(runtime.run(probes[i]));
    const std::uint64_t size = bytes.size();
    if (!write_all(results, std::string(reinterpret_cast<const char*>(&size), sizeof size) + bytes))
      ::_exit(1);
  }
  ::_exit(0);
}

bool read_all(int file, char* to, std::size_t size) {
  while (size > 0) {
    pollfd wait{file, POLLIN, 0};
    if (::poll(&wait, 1, kPatience) <= 0) return false;
    const ssize_t got = ::read(file, to, size);
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::vector<Probe> probes = read_probes(arguments[2]);
  for (std::size_t next = 0; next < probes.size();) {
    int ends[2];
    if (::pipe(ends) != 0) return 1;
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      const int nowhere = ::open("/dev/null", O_WRONLY);
      ::dup2(nowhere, STDERR_FILENO);
      ::dup2(nowhere, STDOUT_FILENO);
      void* const library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) ::_exit(9);
      if (::dlsym(library, "TfLiteModelCreate") != nullptr) work<TfLite>(library, probes, next, ends[1]);
      work<LiteRt>(library, probes, next, ends[1]);
    }
    ::close(ends[1]);
    std::uint64_t size = 0;
    while (next < probes.size() && read_all(ends[0], reinterpret_cast<char*>(&size), sizeof size)) {
      std::string bytes(size, '\0');
      if (!read_all(ends[0], bytes.data(), size)) break;
      write_all(STDOUT_FILENO, bytes);
      ++next;
    }
    ::close(ends[0]);
    int status = 0;
    bool has_ended = ::waitpid(child, &status, next < probes.size() ? WNOHANG : 0) == child;
    for (int tries = 0; !has_ended && tries < 20; ++tries) {
      ::usleep(50'000);
      has_ended = ::waitpid(child, &status, WNOHANG) == child;
    }
    if (!has_ended) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
    }
    if (has_ended && WIFEXITED(status) && WEXITSTATUS(status) == 9) {
      std::fprintf(stderr, "runner: cannot open %s\n", arguments[1]);
      return 1;
    }
    if (next >= probes.size()) break;
    Result lost;
    lost.outcome = has_ended ? kCrashes : kHangs;
    write_all(STDOUT_FILENO, packed(lost));
    ++next;
  }
  return 0;
}
