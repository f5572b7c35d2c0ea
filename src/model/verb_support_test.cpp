#include "model/model_file.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::model {
namespace {

using test::error_of;

TEST(VerbSupport, AFileOfAnotherKindIsRefusedWithWhatWorksOnIt) {
  const test::TemporaryFolder folder;
  const auto path = folder / "model.tflite";
  test::write_file(path, std::string("\x1c\0\0\0TFL3 and more", 18));
  require_support(path, "verify");
  const Error error = error_of([&] { require_support(path, "publish"); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(),
              testing::EndsWith("model.tflite: is a TFLite model, and publish works only on ONNX models "
                                "yet; on TFLite: inspect, diff, contract, verify, bench, quantize, "
                                "check, prove, tune, calibrate, sensitivity, advise"));
}

TEST(VerbSupport, EveryVerbWorksOnOnnxAndAMissingFileIsNotJudged) {
  for (const char* verb : {"quantize", "tune", "prove", "bench"})
    EXPECT_TRUE(supports(ModelKind::kOnnx, verb));
  require_support("/nowhere/model.tflite", "quantize");
}

}  // namespace
}  // namespace ounce::model
