// Redirects the standard error of this process, to hide what a library prints.
//
//   const io::StandardErrorCapture quiet;
//   load_a_library_that_prints();
//   log(quiet.text());
//
// Only one at a time in a process: another thread that creates one waits.
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

  // The last 64 KiB printed so far; empty if the system has no in-memory files.
  std::string text() const;

 private:
  std::lock_guard<std::mutex> lock_;
  Descriptor saved_, kept_;
};

}  // namespace ounce::io
