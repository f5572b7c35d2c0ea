#include "base/out_of_memory.h"

#include <atomic>
#include <csignal>
#include <exception>
#include <new>

namespace ounce {
namespace {

std::atomic<bool> has_run_out = false;
void (*end_of_program)() = nullptr;
std::terminate_handler usual_end = nullptr;

// The exception cannot be asked for later: functions that must not throw call std::terminate() without it.
void on_no_memory() {
  has_run_out = true;
  throw std::bad_alloc();
}

void on_terminate() {
  if (has_run_out) end_of_program();
  usual_end();
}

// A library that brings its own std::terminate() ends here.
extern "C" void on_abort(int) {
  if (has_run_out) end_of_program();
}

}  // namespace

void when_memory_runs_out(void (*end)()) {
  end_of_program = end;
  std::set_new_handler(on_no_memory);
  usual_end = std::set_terminate(on_terminate);
  std::signal(SIGABRT, on_abort);
}

}  // namespace ounce
