// The binary interface of libLiteRt.so, as far as Session uses it: LiteRT 2.1.6 to 2.3.0. The library has no
// version of its interface; Library::open checks that every function is there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ounce::runtime::litert {

// 0: it worked.
using Status = int;

// Objects of the library.
struct Environment;
struct Model;
struct Options;
struct OpaqueOptions;
struct CompiledModel;
struct BufferRequirements;
struct Buffer;
struct Profiler;

inline constexpr std::size_t kMostDims = 8;

struct Layout {
  std::uint32_t rank_and_strides = 0;  // seven bits of rank, then one: are there strides?
  std::array<std::int32_t, kMostDims> dims = {};
  std::array<std::uint32_t, kMostDims> strides = {};

  std::size_t rank() const { return rank_and_strides & 0x7f; }
};
static_assert(sizeof(Layout) == 68 && offsetof(Layout, dims) == 4 && offsetof(Layout, strides) == 36);

struct TensorType {
  std::int32_t element = 0;  // see session.cpp: neither the numbers of the file format nor those of ONNX
  Layout layout;
};
static_assert(sizeof(TensorType) == 72 && offsetof(TensorType, layout) == 4);

struct WholeNumber {
  std::int32_t type = 2;  // of the values that an option can have
  std::int64_t value = 0;
};

struct EnvironmentOption {
  std::int32_t tag = 0;
  WholeNumber value;
};
static_assert(sizeof(EnvironmentOption) == 24 && offsetof(EnvironmentOption, value) == 8);

struct ProfilerEvent {
  const char* tag = nullptr;
  std::int32_t type = 0;  // one of EventType
  std::uint64_t begin = 0, microseconds = 0;
  std::array<std::size_t, 6> memory = {};
  std::uint64_t node = 0, subgraph = 0;  // of an operator
  std::int32_t source = 0;
};
static_assert(sizeof(ProfilerEvent) == 104 && offsetof(ProfilerEvent, begin) == 16 &&
              offsetof(ProfilerEvent, memory) == 32 && offsetof(ProfilerEvent, node) == 80);

enum EventType : std::int32_t {
  kWhole = 1,      // of the runtime itself: "Invoke" is a run
  kBuiltIn = 2,    // an operator in the kernels of TFLite
  kDelegated = 8,  // an operator of XNNPACK, which has others than the file
};

// Numbers that functions take.
inline constexpr std::int32_t kCpuAccelerator = 1;
enum LockMode : std::int32_t { kRead = 0, kWrite = 1 };

// The functions without the "LiteRt" that each name begins with: MEMBER(Name, result, parameters …).
#define OUNCE_LITERT_FUNCTIONS(MEMBER)                                                                   \
  MEMBER(CreateEnvironment, Status, int, const EnvironmentOption*, Environment**)                        \
  MEMBER(CreateModelFromBuffer, Status, Environment*, const void*, std::size_t, Model**)                 \
  MEMBER(CreateOptions, Status, Options**)                                                               \
  MEMBER(SetOptionsHardwareAccelerators, Status, Options*, std::int32_t)                                 \
  MEMBER(CreateOpaqueOptions, Status, const char*, void*, void (*)(void*), OpaqueOptions**)              \
  MEMBER(AddOpaqueOptions, Status, Options*, OpaqueOptions*)                                             \
  MEMBER(CreateCompiledModel, Status, Environment*, Model*, Options*, CompiledModel**)                   \
  MEMBER(GetCompiledModelInputBufferRequirements, Status, CompiledModel*, std::size_t, std::size_t,      \
         BufferRequirements**)                                                                           \
  MEMBER(GetCompiledModelOutputBufferRequirements, Status, CompiledModel*, std::size_t, std::size_t,     \
         BufferRequirements**)                                                                           \
  MEMBER(GetCompiledModelInputTensorLayout, Status, CompiledModel*, std::size_t, std::size_t, Layout*)   \
  MEMBER(GetCompiledModelOutputTensorLayouts, Status, CompiledModel*, std::size_t, std::size_t, Layout*, \
         bool)                                                                                           \
  MEMBER(CreateManagedTensorBufferFromRequirements, Status, Environment*, const TensorType*,             \
         BufferRequirements*, Buffer**)                                                                  \
  MEMBER(GetTensorBufferSize, Status, Buffer*, std::size_t*)                                             \
  MEMBER(LockTensorBuffer, Status, Buffer*, void**, LockMode)                                            \
  MEMBER(UnlockTensorBuffer, Status, Buffer*)                                                            \
  MEMBER(RunCompiledModel, Status, CompiledModel*, std::size_t, std::size_t, Buffer**, std::size_t,      \
         Buffer**)                                                                                       \
  MEMBER(SetCompiledModelCancellationFunction, Status, CompiledModel*, void*, bool (*)(void*))           \
  MEMBER(CompiledModelClearErrors, Status, CompiledModel*)                                               \
  MEMBER(CompiledModelGetErrorMessages, Status, CompiledModel*, char**)                                  \
  MEMBER(CompiledModelGetProfiler, Status, CompiledModel*, Profiler**)                                   \
  MEMBER(StartProfiler, Status, Profiler*)                                                               \
  MEMBER(StopProfiler, Status, Profiler*)                                                                \
  MEMBER(GetNumProfilerEvents, Status, Profiler*, int*)                                                  \
  MEMBER(GetProfilerEvents, Status, Profiler*, int, ProfilerEvent*)                                      \
  MEMBER(DestroyModel, void, Model*)                                                                     \
  MEMBER(DestroyOptions, void, Options*)                                                                 \
  MEMBER(DestroyOpaqueOptions, void, OpaqueOptions*)                                                     \
  MEMBER(DestroyCompiledModel, void, CompiledModel*)                                                     \
  MEMBER(DestroyTensorBuffer, void, Buffer*)

struct Api {
#define OUNCE_LITERT_MEMBER(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  OUNCE_LITERT_FUNCTIONS(OUNCE_LITERT_MEMBER)
#undef OUNCE_LITERT_MEMBER
};

}  // namespace ounce::runtime::litert
