#include "evaluate/timing/cpus.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <limits>

#include "support/cpus_required.h"
#include "support/error_of.h"

namespace ounce::evaluate {
namespace {

using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An executor with fixed outputs and input descriptions.
class Fixed : public runtime::Executor {
 public:
  Fixed(std::vector<float> values, bool fails) : fails_(fails) {
    output_ = {ElementType::kFloat,
               {1, static_cast<std::int64_t>(values.size())},
               std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float))};
    runtime::ValueDescription description;
    description.name = "y";
    description.element = ElementType::kFloat;
    description.shape = {{1, ""}, {static_cast<std::int64_t>(values.size()), ""}};
    outputs_ = {description};
  }
  const std::vector<runtime::ValueDescription>& inputs() const override { return inputs_; }
  const std::vector<runtime::ValueDescription>& outputs() const override { return outputs_; }
  const std::string& library_version() const override { return version_; }
  std::span<const runtime::TensorView> run(std::span<const runtime::TensorView>) override {
    if (fails_) throw Error(ErrorCode::kBadInput, "crashed there");
    views_ = {output_};
    return views_;
  }

 private:
  bool fails_;
  std::vector<runtime::ValueDescription> inputs_, outputs_;
  std::string version_ = "1.0.0";
  data::Tensor output_;
  std::vector<runtime::TensorView> views_;
};

class TwoSamples : public data::Feed {
 public:
  std::uint64_t batches() const override { return 2; }
  std::uint64_t samples() const override { return 2; }
  void read(std::uint64_t, data::Batch& batch) override { batch.names = {"one"}; }
};

// The original gives the same outputs on both CPUs; the model gives `there` on the other CPU.
CpuComparison compare(const std::vector<float>& here, const std::vector<float>& there, bool fails = false,
                      bool is_original_optional = false) {
  TwoSamples feed;
  AcrossCpus models;
  models.is_original_optional = is_original_optional;
  const auto is_there = [](const runtime::ExecutorOptions& how) { return how.masked || how.remote; };
  models.original = [](const runtime::ExecutorOptions&) {
    return std::make_unique<Fixed>(std::vector<float>{1, 2}, false);
  };
  models.model = [&](const runtime::ExecutorOptions& how) {
    return std::make_unique<Fixed>(is_there(how) ? there : here, fails && is_there(how));
  };
  models.feed = &feed;
  return compare_on("avx2", models);
}

bool can_show_avx2() {
  try {
    runtime::on_cpu("avx2", {});
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(AcrossCpus, TellsTheSameFromAnother) {
  if (!can_show_avx2()) return ounce::test::skip_or_fail("this machine cannot emulate avx2");
  const CpuComparison same = compare({1, 3}, {1, 3});
  EXPECT_TRUE(same.is_same());
  EXPECT_EQ(same.sqnr_db, kInfinity);
  EXPECT_EQ(same.reference_sqnr_db, kInfinity);
  EXPECT_EQ(same.samples, 2U);
  EXPECT_EQ(same.answers, 2U);
  EXPECT_EQ(same.flips, 0U);
  const CpuComparison other = compare({1, 3}, {3, 1});
  EXPECT_FALSE(other.is_same());
  EXPECT_EQ(other.flips, 2U);
  EXPECT_EQ(other.reference_flips, 0U);
  EXPECT_LT(other.sqnr_db, 10);
}

TEST(AcrossCpus, RunsAnOptionalOriginalOnlyWhereItDecides) {
  if (!can_show_avx2()) return ounce::test::skip_or_fail("this machine cannot emulate avx2");
  const CpuComparison same = compare({1, 3}, {1, 3}, false, true);
  EXPECT_TRUE(same.is_same());
  EXPECT_TRUE(std::isnan(same.reference_sqnr_db));  // not run
  const CpuComparison other = compare({1, 3}, {3, 1}, false, true);
  EXPECT_FALSE(other.is_same());
  EXPECT_EQ(other.reference_sqnr_db, kInfinity);
}

TEST(AcrossCpus, AFailureThereIsAResult) {
  if (!can_show_avx2()) return ounce::test::skip_or_fail("this machine cannot emulate avx2");
  const CpuComparison failed = compare({1, 3}, {1, 3}, true);
  EXPECT_FALSE(failed.is_run());
  EXPECT_FALSE(failed.is_same());
  EXPECT_THAT(failed.why_not, HasSubstr("crashed there"));
}

TEST(AcrossCpus, NobodyKnowsEveryCpu) {
  const Error error = ounce::test::error_of([] { compare_on("z80", {}); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("avx2, avx512, arm64"));
}

TEST(CpuComparison, GivesTheOriginalItsDue) {
  CpuComparison found;
  EXPECT_FALSE(found.is_same());  // the model was not run there
  found.samples = 4;
  found.sqnr_db = 41;
  found.reference_sqnr_db = kInfinity;
  EXPECT_TRUE(found.is_same());
  found.sqnr_db = 35;
  EXPECT_FALSE(found.is_same());
  found.reference_sqnr_db = 38;  // the FP32 original differs as much
  EXPECT_TRUE(found.is_same());
}

}  // namespace
}  // namespace ounce::evaluate
