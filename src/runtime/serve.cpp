#include "runtime/wire.h"

#include <ounce/error.h>

#include <memory>
#include <new>
#include <utility>

#include "base/machine.h"
#include "runtime/executor.h"
#include "runtime/wire.h"

namespace ounce::runtime {
namespace {

constexpr std::uint64_t kMostTimed = 10'000'000;

std::uint64_t beyond(std::uint64_t before, std::uint64_t now) { return now > before ? now - before : 0; }

class Server {
 public:
  void answer(const Message& message, Message& answer) {
    switch (message.kind) {
      case Kind::kLoad: return load(unpack_load(message.body), answer);
      case Kind::kRun: return run(unpack_tensors(message.body), answer);
      case Kind::kTime: return time(unpack_timing(message.body), answer);
      case Kind::kUnload:
        unload();
        answer = {Kind::kUnloaded, {}};
        return;
      default: break;
    }
    throw Error(ErrorCode::kBadInput, "the runner does not support this message");
  }

 private:
  void load(const LoadRequest& request, Message& answer) {
    const Stopwatch library_time;
    Loaded loaded;
    loaded.library_version = open_library(request.kind, request.library);
    loaded.library_seconds = library_time.seconds();
    unload();  // frees the previous model first
    forget_peak();
    const std::uint64_t before = resident_memory();
    const Stopwatch time;
    model_ = load_here(request);
    loaded.seconds = time.seconds();
    // Memory is measured only in a new process. A reused process reuses memory of earlier models.
    if (is_new_) loaded.memory = {beyond(before, peak_memory()), beyond(before, resident_memory())};
    is_new_ = false;
    loaded.inputs = model_->inputs();
    loaded.outputs = model_->outputs();
    answer = {Kind::kLoaded, pack(loaded)};
  }

  void unload() {
    if (const auto model = std::move(model_)) model->end_profile();
  }

  LocalExecutor& model() const {
    if (!model_) throw Error(ErrorCode::kBadInput, "no model is loaded in the runner");
    return *model_;
  }

  void run(const Tensors& inputs, Message& answer) {
    model().bind(inputs.views);
    const Stopwatch time;
    model_->run_bound();
    Ran ran;
    ran.seconds = time.seconds();
    const auto outputs = model_->results();
    ran.outputs.views.assign(outputs.begin(), outputs.end());
    ran.peak_memory = peak_memory();
    answer.kind = Kind::kRan;
    pack(answer.body, ran);
  }

  void time(const Timing& timing, Message& answer) {
    if (timing.runs > kMostTimed) throw Error(ErrorCode::kBadInput, "too many runs to time at once");
    answer = {Kind::kTimed, pack(model().time(timing.inputs.views, timing.runs))};
  }

  std::unique_ptr<LocalExecutor> model_;
  bool is_new_ = true;
};

}  // namespace

int serve(int in, int out) try {
  const Channel channel(in, out);
  Server server;
  Message message, answer;
  while (channel.receive(message) == Outcome::kDone) {
    try {
      server.answer(message, answer);
    } catch (const Error& error) {
      answer = {Kind::kFailed, pack_failure(static_cast<int>(error.code()), error.what())};
    } catch (const std::bad_alloc&) {
      answer = {Kind::kFailed,
                pack_failure(static_cast<int>(ErrorCode::kMemory), "the runner is out of memory")};
    }
    if (channel.send(answer.kind, answer.body) != Outcome::kDone) return kRefusedExit;
  }
  return 0;
} catch (const Error&) {
  return 2;  // the received bytes are not a message
} catch (const std::bad_alloc&) {
  return kRefusedExit;
}

}  // namespace ounce::runtime
