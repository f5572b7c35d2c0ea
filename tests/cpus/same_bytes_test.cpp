// Tests that quantized models do not depend on the CPU: the program, emulated on an x64 CPU without VNNI,
// writes the same bytes as on this machine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "cpus/example.h"
#include "runtime/masked_cpu.h"
#include "support/cpus_required.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

TEST(SameBytes, OnAnX64WithoutVnni) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers do not run in the emulator";
#endif
  if (runtime::this_machine() != "x86_64") GTEST_SKIP() << "this machine is not x64";
  if (std::system("qemu-x86_64 --version > /dev/null 2>&1") != 0)
    return ounce::test::skip_or_fail("qemu-x86_64 is missing: install qemu-user");
  const ounce::test::TemporaryFolder folder;
  const std::string data = (test::kExample / "commands_calib.npz").string();
  for (const std::string& options :
       {std::string("--to int8-dynamic"),
        fmt::format("--to int8 --no-search --data '{}' --rescale 1/32768 --samples 8", data)}) {
    std::string bytes[2];
    for (const bool is_emulated : {false, true}) {
      const auto output = folder / (is_emulated ? "there.onnx" : "here.onnx");
      const std::string command = fmt::format("{} '{}' quantize '{}' -o '{}' {} --no-verify > '{}' 2>&1",
                                              is_emulated ? "qemu-x86_64 -cpu Haswell" : "", OUNCE_PROGRAM,
                                              (test::kExample / "commands.onnx").string(), output.string(),
                                              options, (folder / "log").string());
      ASSERT_EQ(std::system(command.c_str()), 0) << command << "\n" << ounce::test::read_file(folder / "log");
      bytes[is_emulated ? 1 : 0] = ounce::test::read_file(output);
    }
    EXPECT_TRUE(bytes[0] == bytes[1]) << options;
  }
}

}  // namespace
}  // namespace ounce
