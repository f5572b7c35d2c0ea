// A line that shows how far a run is, on a terminal only.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "cli/time_left.h"
#include "verbs/host.h"

namespace ounce::cli {

class ProgressLine : public verbs::Watch {
 public:
  ProgressLine(verbs::Host& host, std::string what);
  ~ProgressLine() override;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show();

  verbs::Host& host_;
  std::string what_;
  std::atomic<bool> done_{false};
  TimeLeft time_left_;
  std::thread thread_;  // not running when stderr is no terminal
};

}  // namespace ounce::cli
