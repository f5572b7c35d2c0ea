#include "runtime/local_executors.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "evaluate/timing/rounds.h"
#include "runtime/hosted.h"
#include "support/error_of.h"
#include "support/litert.h"
#include "support/tensor_of.h"
#include "support/tflite_builder.h"

namespace ounce::runtime {
namespace {

using data::test::numbers_of;
using data::test::tensor_of;
using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

// y = |x|
struct LitertExecutorTest : test::LitertTest {
  void SetUp() override {
    LitertTest::SetUp();
    tflite::TfliteBuilder model;
    const auto x = model.tensor("x", {2}), y = model.tensor("y", {2});
    model.op(tflite::Builtin::kAbs, {x}, {y});
    model.inputs({x}).outputs({y});
    test::write_file(path, model.bytes());
    options.litert = GetParam().string();
  }
  std::vector<float> run(Executor& model) {
    const TensorView view = given;
    return numbers_of<float>(model.run({&view, 1})[0]);
  }
  std::filesystem::path path = folder / "model.tflite";
  ExecutorOptions options;
  data::Tensor given = tensor_of<float>({2}, {-3, 4});
};
INSTANTIATE_TEST_SUITE_P(Versions, LitertExecutorTest, testing::ValuesIn(test::litert_versions()),
                         test::version_name);

TEST_P(LitertExecutorTest, AModelIsKnownByItsContentAndRunsHere) {
  const auto model = load(path, options);
  EXPECT_THAT(run(*model), ElementsAre(3, 4));
  const TensorView view = given;
  EXPECT_EQ(model->time({&view, 1}, 5).calls.size(), 5U);
}

TEST_P(LitertExecutorTest, ItRunsInAProcessOfItsOwnWithItsMemoryMeasured) {
  options.isolate = Limits{};
  const auto model = load(path, options);
  EXPECT_THAT(run(*model), ElementsAre(3, 4));
  EXPECT_EQ(model->library_version(), GetParam().parent_path().parent_path().filename());
  EXPECT_EQ(model->inputs()[0].name, "x");
  ASSERT_TRUE(model->load_memory().has_value());
  EXPECT_GT(model->load_memory()->peak, 0U);
}

TEST_P(LitertExecutorTest, ADamagedModelIsOneErrorOfTheProcess) {
  options.isolate = Limits{};
  std::string bytes = test::read_file(path);
  test::write_file(path, bytes.substr(0, bytes.size() / 2));
  const Error error = error_of([&] { load(path, options); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("model.tflite"));
}

TEST_P(LitertExecutorTest, ItsOptionChoosesTheKernelsAndThoseOfOthersAreLeftAlone) {
  options.settings.options = {{"session.disable_quant_qdq", "1"}, {kLitertKernels, "builtin"}};
  EXPECT_THAT(run(*load(path, options)), ElementsAre(3, 4));
  options.settings.options = {{kLitertKernels, "fast"}};
  EXPECT_THAT(error_of([&] { load(path, options); }).what(),
              HasSubstr("litert.kernels must be 'xnnpack' or 'builtin'"));
  options.settings.options = {{"litert.nothing", "1"}};
  EXPECT_THAT(error_of([&] { load(path, options); }).what(),
              HasSubstr("LiteRT has no option 'litert.nothing'"));
}

TEST_P(LitertExecutorTest, AProfileIsReadAsThoseOfOnnxRuntimeAre) {
  options.settings.profile = folder / "nodes";
  const LoadRequest request{model::ModelKind::kTflite, options.litert, path.string(), options.settings};
  const auto model = load_here(request);
  run(*model);
  run(*model);
  const Profile profile = evaluate::read_profile(model->end_profile());
  EXPECT_EQ(profile.runs, 2U);
  EXPECT_EQ(profile.operators, 1U);
  EXPECT_EQ(profile.delegated, 1U);
  ASSERT_EQ(profile.nodes.size(), 1U);
  EXPECT_EQ(profile.nodes[0].node, "xnnpack 0");
}

TEST(LitertFiles, AModelIsOneFile) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "model.tflite", "bytes");
  const ModelFiles files = files_for_litert(folder / "model.tflite", {});
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files.begin()->first, "model.tflite");
  EXPECT_EQ(files.begin()->second.bytes(), "bytes");
}

}  // namespace
}  // namespace ounce::runtime
