// Keeps what a library prints from the terminal of this process.
//
//   const io::StandardErrorCapture quiet;
//   load_a_library_that_prints();
//   … quiet.text() …
//
// One at a time in a process: another thread that asks for one waits.
#pragma once

#include <mutex>
#include <string>

#include "io/descriptor.h"

namespace ounce::io {

class StandardErrorCapture {
 public:
  StandardErrorCapture();
  ~StandardErrorCapture();
  StandardErrorCapture(const StandardErrorCapture&) = delete;
  StandardErrorCapture& operator=(const StandardErrorCapture&) = delete;

  // The last 64 KiB of what was printed so far; empty where the system keeps no such file in memory.
  std::string text() const;

 private:
  std::lock_guard<std::mutex> lock_;
  Descriptor saved_, kept_;
};

}  // namespace ounce::io
