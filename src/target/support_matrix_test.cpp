#include "target/support_matrix.h"

#include <gtest/gtest.h>
#include <ounce/error.h>

#include <set>

#include "support/error_of.h"

namespace ounce::target {
namespace {

using ounce::test::error_of;

constexpr const char* kSmall = R"(ounce-support 1
measured 2026-01-02
column 0 x64 1.14.1 opset=18 ml=3 ir=8 sha256=aa
column 1 x64 1.22.0 opset=22 ml=4 ir=10 sha256=bb
column 2 arm64 1.22.0 opset=22 ml=4 ir=10 sha256=cc

operators
op ai.onnx Gadget 7 | T1 T2 | mode=plain rank | T1 T2? int64* -> T1
++ + float/-,float/int8 mode=plain rank=2
-+ ~ uint8/int8 mode=plain
op ai.onnx Gadget 13 | - | - | T -> T
x+ + *
op com.microsoft Gadget 1 | T | - | T -> T
c! r float

fusions
aaa Conv anything
)";

TEST(SupportMatrix, ReadsColumnsAndGroups) {
  const SupportMatrix matrix(kSmall);
  EXPECT_EQ(matrix.date(), "2026-01-02");
  ASSERT_EQ(matrix.releases().size(), 3U);
  EXPECT_EQ(matrix.releases()[1].opset, 22);
  EXPECT_EQ(matrix.releases()[1].ir, 10);
  EXPECT_EQ(matrix.releases()[2].place, 3U);  // after the space between machines
  EXPECT_EQ(matrix.find("x64", "1.22.0"), 1U);
  EXPECT_EQ(matrix.find("x64", "1.22.3"), 1U);  // the measured patch release represents its minor version
  EXPECT_EQ(matrix.find("x64", "1.22"), 1U);
  EXPECT_EQ(matrix.find("arm64", "1.14.1"), std::nullopt);
  EXPECT_EQ(matrix.find("x64", "1.15.0"), std::nullopt);

  const auto old = matrix.find_group("", "Gadget", 12);
  ASSERT_TRUE(old);
  EXPECT_EQ(old->since, 7);
  EXPECT_EQ(old->variables, (std::vector<std::string_view>{"T1", "T2"}));
  ASSERT_EQ(old->dimensions.size(), 2U);
  EXPECT_EQ(old->dimensions[0].name, "mode");
  EXPECT_EQ(old->dimensions[0].otherwise, "plain");
  ASSERT_EQ(old->lines.size(), 2U);
  EXPECT_EQ(old->lines[1].answers, "-+ ~");
  EXPECT_EQ(old->lines[0].bindings, "float/-,float/int8");
  EXPECT_EQ(old->lines[0].variant, "mode=plain rank=2");
  EXPECT_EQ(SupportMatrix::Group::parameter(old->inputs, 1), "T2");
  EXPECT_EQ(SupportMatrix::Group::parameter(old->inputs, 9), "int64");  // the last parameter repeats
  EXPECT_EQ(SupportMatrix::Group::parameter(old->outputs, 1), "");
  EXPECT_EQ(matrix.find_group("", "Gadget", 13)->since, 13);
  EXPECT_EQ(matrix.find_group("com.microsoft", "Gadget", 1)->lines.size(), 1U);
  EXPECT_FALSE(matrix.find_group("", "Gadget", 6));
  EXPECT_FALSE(matrix.find_group("", "Gizmo", 13));
}

TEST(SupportMatrix, RefusesOtherText) {
  for (const char* text : {"", "hello", "operators\n", "column 0 x64\noperators\n", "operators\nop a b\n"})
    EXPECT_EQ(error_of([&] { const SupportMatrix matrix(text); }).code(), ErrorCode::kInternal) << text;
}

char answer(const SupportMatrix& matrix, const char* op, const char* binding, const char* machine,
            const char* version) {
  const auto group = matrix.find_group("", op, 13);
  const auto column = matrix.find(machine, version);
  std::set<char> answers;
  for (const SupportMatrix::Line& line : group->lines) {
    const std::string bindings = "," + std::string(line.bindings) + ",";
    if (line.variant.find("zero_points=channel") != std::string_view::npos) continue;  // fails at run time
    if (bindings.find("," + std::string(binding) + ",") != std::string::npos)
      answers.insert(line.answers.at(matrix.releases()[*column].place));
  }
  return answers.size() == 1 ? *answers.begin() : '#';
}

// Facts that were found manually before the matrix existed.
TEST(MeasuredMatrix, KnowsWhichIntegerProductsThereAre) {
  const SupportMatrix& matrix = SupportMatrix::measured();
  for (const char* machine : {"x64", "arm64"}) {
    for (const char* version : {"1.17.3", "1.22.0"}) {
      EXPECT_EQ(answer(matrix, "ConvInteger", "uint8/uint8", machine, version), '+') << machine << version;
      for (const char* types : {"uint8/int8", "int8/int8", "int8/uint8"})
        EXPECT_EQ(answer(matrix, "ConvInteger", types, machine, version), '-') << machine << version << types;
      EXPECT_EQ(answer(matrix, "MatMulInteger", "int8/uint8", machine, version), '-') << machine << version;
      EXPECT_EQ(answer(matrix, "QLinearConv", "int8/uint8/int8", machine, version), '-')
          << machine << version;
    }
    EXPECT_EQ(answer(matrix, "ConvInteger", "uint8/int8", machine, "1.26.0"), '+') << machine;
    EXPECT_EQ(answer(matrix, "MatMulInteger", "int8/uint8", machine, "1.26.0"), '+') << machine;
    EXPECT_EQ(answer(matrix, "QLinearConv", "int8/uint8/int8", machine, "1.30.0"), '-') << machine;
  }
}

TEST(MeasuredMatrix, HasEveryMinorReleaseOnBothMachines) {
  const SupportMatrix& matrix = SupportMatrix::measured();
  for (int minor = 14; minor <= 30; ++minor) {
    const std::string version = "1." + std::to_string(minor);
    EXPECT_TRUE(matrix.find("x64", version)) << version;
  }
  for (const Release& release : matrix.releases()) {
    EXPECT_EQ(release.digest.size(), 64U) << release.version;
    EXPECT_GE(release.opset, 18) << release.version;
    EXPECT_GE(release.ir, 8) << release.version;
  }
}

}  // namespace
}  // namespace ounce::target
