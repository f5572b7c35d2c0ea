// Stress test for ThreadSanitizer (`make tsan`): sixteen threads share three sessions, with and without
// timeouts, with a thread that cancels calls and a shadow candidate in the same process.
//
//   app_threads MODEL LIBRARY
#include <ounce/app.hpp>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace ounce::app;

constexpr int kThreads = 16, kRuns = 40;

// Runs the model on an input that depends on `number`.
std::vector<float> answer(Call& call, int number) {
  for (float& value : call.input<float>()) value = static_cast<float>(number) / 32;
  call.run(std::chrono::minutes(10));
  const auto values = call.output<float>();
  return {values.begin(), values.end()};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) return 2;
  const LoadOptions options{.library = argv[2]};
  std::vector<Session> sessions;
  for (int i = 0; i < 3; ++i) sessions.push_back(Session::load(argv[1], options));
  std::vector<std::vector<float>> expected;
  {
    Call call = sessions[0].call();
    for (int number = 0; number < kThreads; ++number) expected.push_back(answer(call, number));
  }
  Shadow shadow(Session::load(argv[1], options), argv[1], {.isolate = false, .load = options});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      const std::vector<float>& right = expected[static_cast<std::size_t>(number)];
      Call call = sessions[static_cast<std::size_t>(number % 3)].call();
      ShadowCall shadowed = shadow.call();
      for (int i = 0; i < kRuns; ++i) {
        if (answer(call, number) != right) ++wrong;
        for (float& value : shadowed.inputs().input<float>()) value = static_cast<float>(number) / 32;
        shadowed.run();
        const auto values = shadowed.output<float>();
        if (std::vector<float>(values.begin(), values.end()) != right) ++wrong;
      }
    });
  }
  Call cancelled = sessions[0].call();
  std::atomic<bool> is_done{false};
  std::thread runner([&] {
    while (!is_done) {
      try {
        cancelled.run();
      } catch (const Failure& failure) {
        if (failure.status() != Status::kCancelled) ++wrong;
      }
    }
  });
  for (int i = 0; i < 50; ++i) {
    cancelled.cancel();
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  is_done = true;
  runner.join();
  shadow.flush(std::chrono::minutes(10));
  const ShadowStatistics found = shadow.statistics();
  std::printf("%d wrong; %llu compared, %llu dropped, agreement %.3f\n", wrong.load(),
              static_cast<unsigned long long>(found.compared), static_cast<unsigned long long>(found.dropped),
              found.agreement());
  return wrong == 0 && found.failures() == 0 && found.agreement() == 1 ? 0 : 1;
} catch (const Failure& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
