#include "runtime/local_executors.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(OrtExecutor, SettingsOfOneRuntimeGoAsPairs) {
  RuntimeOptions options;
  options.threads = 3;
  options.threads_between = 2;
  options.optimization = OptimizationLevel::kBasic;
  options.config = {{"session.disable_quant_qdq", "1"}};
  const LoadSettings settings = settings_of(options);
  EXPECT_THAT(settings.options, ElementsAre(Pair(kOptimization, "basic"), Pair(kThreadsBetween, "2"),
                                            Pair("session.disable_quant_qdq", "1")));
  const SessionOptions back = session_options_of(settings);
  EXPECT_EQ(back.threads, 3U);
  EXPECT_EQ(back.threads_between, 2U);
  EXPECT_EQ(back.optimization, OptimizationLevel::kBasic);
  EXPECT_EQ(back.config, options.config);
}

TEST(OrtExecutor, UsualSettingsHaveNoPairs) { EXPECT_TRUE(settings_of(RuntimeOptions{}).options.empty()); }

TEST(OrtExecutor, ValuesWithoutMeaningAreRefused) {
  for (const auto& [name, value] :
       {std::pair{kThreadsBetween, "many"}, {kThreadsBetween, ""}, {kOptimization, "most"}}) {
    LoadSettings settings;
    settings.options[name] = value;
    EXPECT_EQ(test::error_of([&] { session_options_of(settings); }).code(), ErrorCode::kBadInput) << value;
  }
}

TEST(Executor, AFileThatIsNoModelOfItsKindIsBadInput) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "m.mlmodel", "no model");
  for (const bool is_isolated : {false, true}) {
    ExecutorOptions options;
    if (is_isolated) options.isolate = Limits{};
    const Error error = test::error_of([&] { load(folder / "m.mlmodel", options); });
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("m.mlmodel"));
  }
}

}  // namespace
}  // namespace ounce::runtime
