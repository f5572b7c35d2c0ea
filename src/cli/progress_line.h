// A line that shows how far a run is, on a terminal only.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

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
  std::string time_left(std::uint64_t done, std::uint64_t total);

  verbs::Host& host_;
  std::string what_;
  const char* stage_ = nullptr;  // that was shown last, and since when
  std::chrono::steady_clock::time_point since_;
  std::atomic<bool> done_{false};
  std::thread thread_;  // not running when stderr is no terminal
};

}  // namespace ounce::cli
