#include "verbs/remote_options.h"

#include <ounce/error.h>

#include "verbs/recipe_options.h"

namespace ounce::verbs {

void add_remote_options(CLI::App& app, RemoteArguments& arguments) {
  const char* group = "Elsewhere";
  Remote& remote = arguments.remote;
  app.add_option("--via", remote.via,
                 "run models on another machine: the command that runs a shell command there, such as 'ssh "
                 "board' or 'adb shell'")
      ->group(group);
  app.add_option("--launcher", remote.launcher,
                 "what starts the runner (there): 'qemu-aarch64 -L /usr/aarch64-linux-gnu'")
      ->group(group);
  app.add_option("--runner", arguments.runner,
                 "the runner for that machine, a file here (default: ounce-runner or ounce-runner-arm64)")
      ->group(group);
  app.add_option("--runtime-there", remote.library,
                 "ONNX Runtime for that machine: a library here, or a version (default: the newest)")
      ->group(group);
  app.add_option("--folder-there", remote.folder,
                 "where the runner, the library and models go (default: a folder of ours in /tmp)")
      ->group(group);
  app.add_flag("--keep-there", remote.keep, "leave models there, so that they are not sent again")
      ->group(group);
  app.add_option("--seconds-there", remote.seconds, "time for each answer, and for sending each file")
      ->check(number_between(0.1, 1e6))
      ->capture_default_str()
      ->group(group);
}

std::optional<Remote> remote_of(const RemoteArguments& arguments) {
  Remote remote = arguments.remote;
  remote.runner = arguments.runner;
  if (!remote.via.empty() || !remote.launcher.empty() || !remote.runner.empty()) return remote;
  if (remote.library.empty() && remote.folder.empty() && !remote.keep) return std::nullopt;
  throw Error(ErrorCode::kUsage, "there is no machine: --via or --launcher says where models run");
}

}  // namespace ounce::verbs
