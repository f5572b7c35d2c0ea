#include "runtime/serve.h"

#include <ounce/error.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <new>
#include <optional>

#include "runtime/bound_run.h"
#include "runtime/wire.h"

namespace ounce::runtime {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// VmHWM, and not getrusage(): the latter remembers the process that started this one.
std::uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    std::uint64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

class Server {
 public:
  Message answer(const Message& message) {
    switch (message.kind) {
      case Kind::kLoad: return load(unpack_load(message.body));
      case Kind::kRun: return run(unpack_tensors(message.body));
      default: break;
    }
    throw Error(ErrorCode::kBadInput, "the runner does not know this message");
  }

 private:
  Message load(const Load& load) {
    const auto library = Library::open(Library::find(load.library));
    const auto start = Clock::now();
    session_.emplace(library, load.model, load.options);
    Loaded loaded{library->version(), session_->inputs(), session_->outputs(), seconds_since(start)};
    bound_.emplace(*session_);
    return {Kind::kLoaded, pack(loaded)};
  }

  Message run(const std::vector<Tensor>& inputs) {
    if (!bound_) throw Error(ErrorCode::kBadInput, "the runner has no model yet");
    bound_->bind(std::vector<TensorView>(inputs.begin(), inputs.end()));
    const auto start = Clock::now();
    bound_->run();
    Ran ran;
    ran.seconds = seconds_since(start);
    for (const TensorView& view : bound_->outputs()) ran.outputs.push_back(data::copy_of(view));
    ran.peak_memory = peak_memory();
    return {Kind::kRan, pack(ran)};
  }

  std::optional<Session> session_;
  std::optional<BoundRun> bound_;
};

}  // namespace

int serve(int in, int out) {
  const Channel channel(in, out);
  Server server;
  Message message;
  while (channel.receive(message) == Channel::Outcome::kDone) {
    Message answer{Kind::kFailed, {}};
    try {
      answer = server.answer(message);
    } catch (const Error& error) {
      answer.body = pack_failure(static_cast<int>(error.code()), error.what());
    } catch (const std::bad_alloc&) {
      answer.body = pack_failure(static_cast<int>(ErrorCode::kBadInput), "the runner has no memory left");
    }
    if (channel.send(answer.kind, answer.body) != Channel::Outcome::kDone) return 1;
  }
  return 0;
}

}  // namespace ounce::runtime
