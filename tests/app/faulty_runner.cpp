// A runner that misbehaves: it loads the model, but most runs crash, hang, fail or return NaN. Started by
// app_faults instead of ounce-runner.
#include <ounce/error.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <limits>
#include <optional>

#include "runtime/local_executors.h"
#include "runtime/ort/bound_run.h"
#include "runtime/wire.h"

using namespace ounce::runtime;

int main() {
  ounce::runtime::Channel channel(STDIN_FILENO, STDOUT_FILENO);
  std::optional<Session> session;
  std::optional<BoundRun> run;
  Message message{}, answer{};
  // The next fault depends on the process id, so that successive processes differ.
  unsigned turn = static_cast<unsigned>(::getpid());
  while (channel.receive(message) == Outcome::kDone) {
    if (message.kind == Kind::kLoad) {
      const LoadRequest load = unpack_load(message.body);
      session.emplace(Library::open(load.library), load.model, session_options_of(load.settings));
      run.emplace(*session);
      Loaded loaded;
      loaded.library_version = session->library().version();
      loaded.inputs = session->inputs();
      loaded.outputs = session->outputs();
      answer = {Kind::kLoaded, pack(loaded)};
    } else {
      const Tensors inputs = unpack_tensors(message.body);
      run->bind(inputs.views);
      run->run();
      Ran ran;
      ran.outputs.views.assign(run->outputs().begin(), run->outputs().end());
      switch (turn++ % 6) {
        case 0: ::raise(SIGSEGV); break;
        case 1: ::sleep(1000); break;
        case 2: ::_exit(7);
        case 3: {
          const float nan = std::numeric_limits<float>::quiet_NaN();
          std::memcpy(const_cast<char*>(ran.outputs.views[0].bytes.data()), &nan, sizeof nan);
          break;
        }
        case 4:
          channel.send(Kind::kFailed,
                       pack_failure(static_cast<int>(ounce::ErrorCode::kBadInput), "out of order"));
          continue;
        default: break;
      }
      answer.kind = Kind::kRan;
      pack(answer.body, ran);
    }
    if (channel.send(answer.kind, answer.body) != Outcome::kDone) return 1;
  }
  return 0;
}
