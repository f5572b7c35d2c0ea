// A line that shows how far a run is, on a terminal only.
#pragma once

#include <ounce/progress.h>

#include <atomic>
#include <string>
#include <thread>

namespace ounce::verbs {

class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  Progress* progress() { return &progress_; }

 private:
  void show() const;

  std::string what_;
  Progress progress_;
  std::atomic<bool> done_{false};
  std::thread thread_;  // not running when stderr is no terminal
};

}  // namespace ounce::verbs
