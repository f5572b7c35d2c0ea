// The messages between Ounce and a runner process (`ounce-runner`).
//
// A message is a kind (4 bytes), a length (8 bytes) and a body, all little-endian. The runner answers every
// message with one. The body is a sequence of numbers (8 bytes) and texts (length, then bytes padded to 8, so
// that tensors can be used in place). Neither side trusts the other: a body that ends early is an error, and
// memory grows with the received bytes, not with the announced length.
#pragma once

#include <ounce/bench.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/child_process.h"
#include "runtime/executor.h"

namespace ounce::runtime {

enum class Kind : std::uint32_t {
  kLoad = 1,  // LoadRequest → kLoaded
  kLoaded,    // Loaded
  kRun,       // tensors → kRan
  kRan,       // Ran
  kFailed,    // code, message, where
  kUnload,    // → kUnloaded: the process waits for another model
  kUnloaded,
  kTime,   // Timing → kTimed: consecutive runs, without their outputs
  kTimed,  // SlotTimes
};

struct Loaded {
  std::string library_version;
  std::vector<ValueDescription> inputs, outputs;
  double seconds = 0;          // to create the session
  double library_seconds = 0;  // to open the library
  LoadMemory memory;           // zeros in a reused process, or if unknown
};

// Tensors that refer to the body of a message, which must not change while they are used.
struct Tensors {
  std::vector<TensorView> views;
  std::vector<std::vector<std::string>> strings;  // of each tensor

  Tensors() = default;
  Tensors(Tensors&&) = default;
  Tensors& operator=(Tensors&&) = default;
};

struct Ran {
  Tensors outputs;
  double seconds = 0;             // time of the run
  std::uint64_t peak_memory = 0;  // peak resident bytes of the runner
};

struct Timing {
  std::uint64_t runs = 0;
  Tensors inputs;
};

struct Message {
  Kind kind;
  std::string body;
};

std::string pack(const LoadRequest& request);
std::string pack(const Loaded& loaded);
// Pack a message and reuse the memory of `body`, because allocating memory for large tensors takes longer
// than the copy.
void pack(std::string& body, const Ran& ran);
void pack(std::string& body, std::span<const TensorView> tensors);
void pack(std::string& body, std::uint64_t runs, std::span<const TensorView> inputs);  // a Timing
std::string pack(const SlotTimes& times);
std::string pack_failure(int code, const std::string& message);

// These throw Error{kBadInput} for an invalid body.
LoadRequest unpack_load(std::string_view body);
Loaded unpack_loaded(std::string_view body);
Ran unpack_ran(std::string_view body);
Tensors unpack_tensors(std::string_view body);
Timing unpack_timing(std::string_view body);
SlotTimes unpack_times(std::string_view body);
[[noreturn]] void throw_failure(std::string_view body);  // rethrows the runner's error

// Sends and receives messages over a pair of descriptors.
class Channel {
 public:
  Channel(int in, int out) : in_(in), out_(out) {}

  // Throw Error{kCancelled} if the call was canceled, Error{kBadInput} for bytes that are not a message.
  Outcome send(Kind kind, std::string_view body, Deadline deadline = {}) const;
  // Reuses the memory of `message`.
  Outcome receive(Message& message, Deadline deadline = {}) const;

 private:
  int in_, out_;
};

// The exit code of a runner that could not get memory or a thread from the system.
constexpr int kRefusedExit = 71;

// The main loop of the runner: answers messages until the connection is closed. Returns the exit code.
int serve(int in, int out);

}  // namespace ounce::runtime
