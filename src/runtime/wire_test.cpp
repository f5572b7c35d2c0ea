#include "runtime/wire.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include "support/error_of.h"

namespace ounce::runtime {
namespace {

using data::ElementType;

TEST(Wire, MessagesComeOutAsTheyWentIn) {
  Load load{"lib.so", "model.onnx", {}};
  load.options.threads = 3;
  load.options.threads_between = 2;
  load.options.optimization = Optimization::kBasic;
  load.options.config = {{"a", "1"}, {"b", ""}};
  load.options.stand_ins = {{"data.bin", "/proc/1/fd/3"}};
  const Load back = unpack_load(pack(load));
  EXPECT_EQ(back.library, load.library);
  EXPECT_EQ(back.model, load.model);
  EXPECT_EQ(back.options.threads, 3U);
  EXPECT_EQ(back.options.threads_between, 2U);
  EXPECT_EQ(back.options.optimization, Optimization::kBasic);
  EXPECT_EQ(back.options.config, load.options.config);
  EXPECT_EQ(back.options.stand_ins, load.options.stand_ins);

  ValueDescription value{"x", ElementType::kFloat, {{-1, "N"}, {3, ""}}};
  const Loaded loaded = unpack_loaded(pack(Loaded{"1.30.0", {value}, {}, 0.5, 0.1, {200, 100}}));
  EXPECT_EQ(loaded.library_version, "1.30.0");
  EXPECT_EQ(data::describe(loaded.inputs.at(0)), "float32[N,3]");
  EXPECT_EQ(loaded.seconds, 0.5);
  EXPECT_EQ(loaded.memory.peak, 200U);
  EXPECT_EQ(loaded.memory.stays, 100U);

  const Tensor bytes{ElementType::kUint8, {2, 1}, "ab"};
  const Tensor strings{ElementType::kString, {2}, {}, {"x", ""}};
  const Ran ran = unpack_ran(pack(Ran{{bytes, strings}, 0.25, 77}));
  EXPECT_EQ(ran.outputs.at(0).bytes, "ab");
  EXPECT_EQ(ran.outputs.at(0).dims, bytes.dims);
  EXPECT_EQ(ran.outputs.at(1).strings, strings.strings);
  EXPECT_EQ(ran.peak_memory, 77U);
}

TEST(Wire, EveryTruncationIsRefused) {
  const Tensor tensor{ElementType::kString, {2}, {}, {"hello", "you"}};
  const std::string body = pack(Ran{{tensor}, 0, 0});
  for (std::size_t size = 0; size < body.size(); ++size)
    EXPECT_THROW(unpack_ran(body.substr(0, size)), Error) << size;
  EXPECT_THROW(unpack_ran(body + '\0'), Error);
}

TEST(Wire, ATensorWhoseBytesDoNotFitIsRefused) {
  const Tensor tensor{ElementType::kFloat, {std::int64_t{1} << 40}, "abcd"};
  EXPECT_THROW(unpack_ran(pack(Ran{{tensor}, 0, 0})), Error);
}

TEST(Wire, AFailureKeepsItsCode) {
  const std::string body = pack_failure(static_cast<int>(ErrorCode::kIo), "no such file");
  const Error error = test::error_of([&] { throw_failure(body); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_STREQ(error.what(), "no such file");
}

}  // namespace
}  // namespace ounce::runtime
