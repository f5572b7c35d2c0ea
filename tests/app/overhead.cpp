// Measures the overhead of calls through this library, compared with calls of ONNX Runtime's C API on the
// same memory:
//
//   app_overhead allocations MODEL LIBRARY   exits with 1 if this library allocates during a run
//   app_overhead time MODEL LIBRARY          microseconds of both in alternation, and their difference
//   app_overhead shadow MODEL LIBRARY        p50 and p99 of calls without and with a shadow candidate
//
// The model has one float input and one float output; dynamic axes are 1.
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <onnxruntime_c_api.h>
#include <ounce/app.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace {

// The runtime allocates in every run, and sometimes once more for its own bookkeeping, so totals are not
// meaningful. An allocation counts as the runtime's if its stack has a frame of the runtime, else as one of
// this library.
struct Range {
  std::uintptr_t begin = 0, end = 0;
  bool contains(const void* place) const {
    const auto at = reinterpret_cast<std::uintptr_t>(place);
    return at >= begin && at < end;
  }
};
Range runtime_code;
std::atomic<bool> is_counting{false};
std::atomic<long> ours{0}, theirs{0};

void count_allocation() {
  static thread_local bool is_inside = false;  // reading a stack may allocate
  if (!is_counting.load(std::memory_order_relaxed) || is_inside) return;
  is_inside = true;
  void* frames[64];
  const int depth = ::backtrace(frames, 64);
  const bool is_theirs =
      std::any_of(frames, frames + depth, [](const void* place) { return runtime_code.contains(place); });
  (is_theirs ? theirs : ours).fetch_add(1, std::memory_order_relaxed);
  is_inside = false;
}

// Finds the address range of a loaded library.
void find_code(const char* library) {
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* wanted) {
        char known[PATH_MAX], asked[PATH_MAX];
        if (::realpath(info->dlpi_name, known) == nullptr ||
            ::realpath(static_cast<const char*>(wanted), asked) == nullptr || std::strcmp(known, asked) != 0)
          return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
          const std::uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
          if (runtime_code.begin == 0) runtime_code.begin = begin;
          runtime_code.end = begin + info->dlpi_phdr[i].p_memsz;
        }
        return 1;
      },
      const_cast<char*>(library));
}

}  // namespace

// Counts all allocations of the process: these functions replace those of glibc.
extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) {
  count_allocation();
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  count_allocation();
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  count_allocation();
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count_allocation();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  count_allocation();
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? 12 : 0;
}

}  // extern "C"

namespace {

using ounce::app::Call;
using ounce::app::Session;

void must(const OrtApi& api, OrtStatus* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", api.GetErrorMessage(status));
  std::exit(2);
}

// The same model with the same kind of memory, called directly through ONNX Runtime's C API.
class BareCall {
 public:
  BareCall(const char* model, const char* library, const Call& like, const Session& session)
      : api_(api_of(library)),
        input_name_(session.inputs()[0].name),
        output_name_(session.outputs()[0].name) {
    OrtEnv* environment = nullptr;
    must(api_, api_.CreateEnv(ORT_LOGGING_LEVEL_FATAL, "bare", &environment));
    OrtSessionOptions* options = nullptr;
    must(api_, api_.CreateSessionOptions(&options));
    must(api_, api_.SetIntraOpNumThreads(options, 1));
    must(api_, api_.CreateSession(environment, model, options, &session_));
    must(api_, api_.CreateRunOptions(&run_options_));
    OrtMemoryInfo* memory = nullptr;
    must(api_, api_.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory));
    input_ = value_of(memory, input_memory_, like.input_shape());
    output_ = value_of(memory, output_memory_, like.output_shape());
  }

  void run() {
    const char* const input = input_name_.c_str();
    const char* const output = output_name_.c_str();
    const OrtValue* const given = input_;
    must(api_, api_.Run(session_, run_options_, &input, &given, 1, &output, 1, &output_));
  }

 private:
  static const OrtApi& api_of(const char* library) {
    void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    const auto get = reinterpret_cast<decltype(&OrtGetApiBase)>(::dlsym(handle, "OrtGetApiBase"));
    return *get()->GetApi(17);
  }

  OrtValue* value_of(const OrtMemoryInfo* memory, std::vector<float>& values,
                     const ounce::app::Shape& shape) {
    std::size_t count = 1;
    for (const std::int64_t dimension : shape) count *= static_cast<std::size_t>(dimension);
    values.resize(count);
    OrtValue* value = nullptr;
    must(api_,
         api_.CreateTensorWithDataAsOrtValue(memory, values.data(), count * sizeof(float), shape.data(),
                                             shape.size(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
    return value;
  }

  const OrtApi& api_;
  std::string input_name_, output_name_;
  OrtSession* session_ = nullptr;
  OrtRunOptions* run_options_ = nullptr;
  std::vector<float> input_memory_, output_memory_;
  OrtValue *input_ = nullptr, *output_ = nullptr;
};

struct Allocations {
  long ours, theirs;
};

template <class Action>
Allocations count(int times, Action&& action) {
  ours = theirs = 0;
  is_counting = true;
  for (int i = 0; i < times; ++i) action();
  is_counting = false;
  return {ours, theirs};
}

template <class Run>
double microseconds(Run&& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

// Times blocks of calls in alternation: alone, and with a shadow candidate (the same model in another
// process) that is always busy. Needs a free core, or the candidate takes time from the primary.
void time_shadow(const char* model, const char* library) {
  constexpr int kBlocks = 20, kCalls = 200;
  using ounce::app::Shadow;
  const ounce::app::LoadOptions options{.library = library};
  const Session session = Session::load(model, options);
  Call alone = session.call();
  Shadow shadow(Session::load(model, options), model, {.load = options});
  ounce::app::ShadowCall shadowed = shadow.call();
  std::vector<double> of_alone, of_shadowed;
  for (int block = 0; block < kBlocks; ++block) {
    for (int i = 0; i < kCalls; ++i) of_alone.push_back(microseconds([&] { alone.run(); }));
    for (int i = 0; i < kCalls; ++i) of_shadowed.push_back(microseconds([&] { shadowed.run(); }));
    shadow.flush(std::chrono::minutes(1));
  }
  const auto found = shadow.statistics();
  std::printf(
      "alone p50 %.1f us, p99 %.1f us; in a shadow p50 %.1f us, p99 %.1f us: p50 %+.2f %%, p99 %+.2f %%; "
      "%llu compared, %llu dropped\n",
      quantile(of_alone, 0.5), quantile(of_alone, 0.99), quantile(of_shadowed, 0.5),
      quantile(of_shadowed, 0.99), 100 * (quantile(of_shadowed, 0.5) / quantile(of_alone, 0.5) - 1),
      100 * (quantile(of_shadowed, 0.99) / quantile(of_alone, 0.99) - 1),
      static_cast<unsigned long long>(found.compared), static_cast<unsigned long long>(found.dropped));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  if (std::string(argv[1]) == "shadow") {
    time_shadow(argv[2], argv[3]);
    return 0;
  }
  const Session session = Session::load(argv[2], {.library = argv[3]});
  Call call = session.call();
  // Direct calls are implemented for ONNX Runtime only.
  std::optional<BareCall> bare;
  const bool is_onnx = !std::string(argv[2]).ends_with(".tflite");
  if (is_onnx) bare.emplace(argv[2], argv[3], call, session);
  const auto plain = [&] {
    call.run();
    call.output<float>();
  };
  const auto timed = [&] {
    call.run(std::chrono::seconds(10));
    call.output<float>();
  };
  if (std::string(argv[1]) == "allocations") {
    constexpr int kRuns = 200;
    for (int i = 0; i < 20; ++i) {  // the first timeout starts the watchdog thread
      plain();
      timed();
      if (bare) bare->run();
    }
    find_code(argv[3]);
    const Allocations with = count(kRuns, plain), with_timeout = count(kRuns, timed);
    const Allocations without = bare ? count(kRuns, [&] { bare->run(); }) : with;
    // Control: the counters must detect the runtime's allocations in a direct run, and this library's for a
    // new call.
    const Allocations control = count(1, [&] { session.call({.warm_up = 0}); });
    std::printf(
        "%d runs: %ld allocations by Ounce, %ld with a timeout; %ld by the runtime alone; %ld by Ounce for a "
        "new call\n",
        kRuns, with.ours, with_timeout.ours, without.theirs, control.ours);
    // LiteRT allocates nothing in a run.
    const bool is_seen = (!is_onnx || (without.theirs > 0 && with.theirs > 0)) && control.ours > 0;
    return is_seen && with.ours == 0 && with_timeout.ours == 0 && without.ours == 0 ? 0 : 1;
  }
  if (!bare) return 2;
  constexpr int kRounds = 20000;
  std::vector<double> of_bare, of_plain, of_timed;
  for (int i = 0; i < kRounds; ++i) {
    of_bare.push_back(microseconds([&] { bare->run(); }));
    of_plain.push_back(microseconds(plain));
    of_timed.push_back(microseconds(timed));
  }
  const double base = median(of_bare);
  std::printf("median of %d runs in turn: bare %.3f us, call %+.3f us, with a timeout %+.3f us\n", kRounds,
              base, median(of_plain) - base, median(of_timed) - base);
  return 0;
}
