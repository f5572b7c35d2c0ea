#include "formats/onnx/plan/kernel_costs.h"

#include <gtest/gtest.h>

namespace ounce::plan {
namespace {

constexpr double kMicrosecond = 1000;

// Compares with a measurement of the script, within the documented accuracy for 90 % of the kernels.
void expect_near(double estimate, double measured) {
  EXPECT_LT(estimate, 1.6 * measured * kMicrosecond);
  EXPECT_GT(estimate, measured * kMicrosecond / 1.6);
}

TEST(KernelCosts, AreThoseThatWereMeasured) {
  const KernelCosts vnni(CostedCpus::kVnni), avx2(CostedCpus::kAvx2);
  const GemmShape wide{.positions = 1600, .inputs = 64, .outputs = 384, .kernel_size = 1, .is_conv2d = true};
  expect_near(vnni.conv(wide).floats, 723);
  expect_near(vnni.conv(wide).integers, 222);
  expect_near(avx2.conv(wide).floats, 716);
  expect_near(avx2.conv(wide).integers, 454);
  const GemmShape depthwise{.positions = 1600,
                            .inputs = 1,
                            .outputs = 96,
                            .kernel_size = 9,
                            .im2col_rows = 9,
                            .is_depthwise = true,
                            .is_conv2d = true};
  expect_near(vnni.conv(depthwise).floats, 41);
  expect_near(vnni.conv(depthwise).integers, 66);
  const GemmShape uneven{.positions = 12544,
                         .inputs = 1,
                         .outputs = 20,
                         .kernel_size = 9,
                         .im2col_rows = 9,
                         .is_depthwise = true,
                         .is_conv2d = true};
  expect_near(vnni.conv(uneven).floats, 85);
  expect_near(vnni.conv(uneven).integers, 580);
  const GemmShape line{.positions = 1600, .inputs = 20, .outputs = 16, .kernel_size = 5};
  expect_near(vnni.conv(line).floats, 83);
  expect_near(vnni.conv(line).integers, 23);
  const GemmShape matrix{.positions = 128, .inputs = 256, .outputs = 384};
  expect_near(vnni.mat_mul(matrix).floats, 220);
}

TEST(KernelCosts, OpsThatOnlyRenameCostNothing) {
  const KernelCosts costs(CostedCpus::kBoth);
  EXPECT_EQ(costs.elementwise(Op::kReshape, {.values = 1e6}).integers, 0);
  EXPECT_EQ(costs.elementwise(Op::kFlatten, {.values = 1e6}).floats, 0);
  const Times pool = costs.elementwise(Op::kAveragePool, {.values = 1e6, .kernel_size = 9});
  EXPECT_GT(pool.integers, 10 * pool.floats);
}

TEST(KernelCosts, HoldForX86AndForTheCpuOfTheTarget) {
  EXPECT_TRUE(has_measured_costs(""));
  EXPECT_TRUE(has_measured_costs("linux-x64@1.30.0"));
  EXPECT_FALSE(has_measured_costs("android-arm64@1.22.0"));
  EXPECT_FALSE(has_measured_costs("linux-x64@1.30.0+cuda"));
  EXPECT_EQ(costed_cpus(""), CostedCpus::kBoth);
  EXPECT_EQ(costed_cpus("linux-x64@1.30.0+vnni"), CostedCpus::kVnni);
  EXPECT_EQ(costed_cpus("linux-x64@1.30.0+avx2"), CostedCpus::kAvx2);
  EXPECT_EQ(costed_cpus("linux-x64@1.30.0+avx512"), CostedCpus::kAvx2);
}

}  // namespace
}  // namespace ounce::plan
