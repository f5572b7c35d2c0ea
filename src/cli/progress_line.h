// A line that shows how far a run is, on a terminal only.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "verbs/host.h"

namespace ounce::cli {

// How long a stage of the work will go on, from how long its part so far has taken.
class TimeLeft {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Nothing while too little is done to tell.
  std::optional<double> seconds(const char* stage, std::uint64_t done, std::uint64_t total, Time now);

 private:
  const char* stage_ = nullptr;  // a literal, as Progress::stage is
  std::uint64_t first_done_ = 0, total_ = 0;
  Time start_;
};

std::string time_left_text(double seconds);  // "40 s", "3 min", "1 h 20 min"

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
