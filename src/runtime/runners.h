// Runners that have done their work and wait for the next model. To start one and to open the library takes
// longer than many a model takes to run: who loads many models of one origin has one of these and names it in
// ExecutorOptions.
//
//   options.runners = std::make_shared<Runners>();
//   load("a.onnx", options)->run(…);   // starts a process
//   load("b.onnx", options)->run(…);   // in the same one
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/child_process.h"

namespace ounce::runtime {

class Runners {
 public:
  // Null when none waits that was started for this purpose (the same command and library).
  std::unique_ptr<ChildProcess> take(const std::string& purpose);
  // One that is through with its work.
  void give_back(const std::string& purpose, std::unique_ptr<ChildProcess> runner);

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::unique_ptr<ChildProcess>>> waiting_;
};

}  // namespace ounce::runtime
