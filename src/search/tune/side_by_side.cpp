#include "search/tune/side_by_side.h"

#include <algorithm>

#include "base/memory.h"
#include "base/thread_pool.h"

namespace ounce::search {
namespace {

constexpr std::uint64_t kSession = std::uint64_t{64} << 20;  // of a session, besides its weights

}  // namespace

std::uint64_t sessions_in_memory(std::uint64_t model_bytes) {
  return std::max<std::uint64_t>(1, available_memory() / 2 / (3 * model_bytes + kSession));
}

unsigned side_by_side(std::uint64_t model_bytes, const RuntimeOptions& runtime, unsigned cpus) {
  const unsigned all = cpus != 0 ? cpus : ThreadPool().size();
  const unsigned each_takes = std::max(1U, runtime.threads * runtime.threads_between);
  return static_cast<unsigned>(
      std::min<std::uint64_t>(std::max(1U, all / each_takes), sessions_in_memory(model_bytes)));
}

}  // namespace ounce::search
