#include "runtime/masked_cpu.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/machine.h"

namespace ounce::runtime {
namespace {

// Runs in a child process, because masking cannot be undone.
std::string kernels_under(MaskedCpu cpu) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string found = mask_cpu(cpu) ? cpu_kernels() : "not masked";
    const bool is_written = ::write(ends[1], found.data(), found.size()) >= 0;
    ::_exit(is_written ? 0 : 1);
  }
  ::close(ends[1]);
  char text[64];
  const ssize_t size = ::read(ends[0], text, sizeof text);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return size < 0 ? "nothing" : std::string(text, static_cast<std::size_t>(size));
}

TEST(MaskedCpu, HidesWhatTheOlderOneLacks) {
  for (const MaskedCpu cpu : {MaskedCpu::kAvx2, MaskedCpu::kAvx512})
    EXPECT_EQ(kernels_under(cpu), can_mask(cpu) ? name_of(cpu) : "not masked");
}

TEST(MaskedCpu, HidesNothingFromThisProcess) {
  const std::string before = cpu_kernels();
  kernels_under(MaskedCpu::kAvx2);
  EXPECT_EQ(cpu_kernels(), before);
}

TEST(MaskedCpu, HasANameAndBack) {
  for (const MaskedCpu cpu : {MaskedCpu::kAvx2, MaskedCpu::kAvx512})
    EXPECT_EQ(masked_cpu_named(name_of(cpu)), cpu);
  EXPECT_EQ(masked_cpu_named("arm64"), std::nullopt);
}

}  // namespace
}  // namespace ounce::runtime
