#include "runtime/wire.h"

#include <gmock/gmock.h>
#include <ounce/error.h>
#include <unistd.h>

#include "support/error_of.h"

namespace ounce::runtime {
namespace {

std::string packed(const std::vector<Tensor>& outputs, double seconds = 0, std::uint64_t peak_memory = 0) {
  Ran ran;
  ran.outputs.views.assign(outputs.begin(), outputs.end());
  ran.seconds = seconds;
  ran.peak_memory = peak_memory;
  std::string body = "the previous content";
  pack(body, ran);
  return body;
}

TEST(Wire, MessagesComeOutAsTheyWentIn) {
  LoadRequest load{model::ModelKind::kTflite, "lib.so", "model.onnx", {}};
  load.settings.threads = 3;
  load.settings.options = {{"a", "1"}, {"b", ""}};
  load.settings.external_data_paths = {{"data.bin", "/proc/1/fd/3"}};
  load.settings.profile = "profile/nodes";
  const LoadRequest back = unpack_load(pack(load));
  EXPECT_EQ(back.kind, load.kind);
  EXPECT_EQ(back.library, load.library);
  EXPECT_EQ(back.model, load.model);
  EXPECT_EQ(back.settings.threads, 3U);
  EXPECT_EQ(back.settings.options, load.settings.options);
  EXPECT_EQ(back.settings.external_data_paths, load.settings.external_data_paths);
  EXPECT_EQ(back.settings.profile, load.settings.profile);

  ValueDescription value{"x", ElementType::kFloat, {{-1, "N"}, {3, ""}}};
  const Loaded loaded = unpack_loaded(pack(Loaded{"1.30.0", {value}, {}, 0.5, 0.1, {200, 100}}));
  EXPECT_EQ(loaded.library_version, "1.30.0");
  EXPECT_EQ(data::describe(loaded.inputs.at(0)), "float32[N,3]");
  EXPECT_EQ(loaded.seconds, 0.5);
  EXPECT_EQ(loaded.memory.peak, 200U);
  EXPECT_EQ(loaded.memory.stays, 100U);

  const Tensor bytes{ElementType::kUint8, {2, 1}, "ab"};
  const Tensor strings{ElementType::kString, {2}, {}, {"x", ""}};
  const Tensor floats{ElementType::kFloat, {1}, "abcd"};
  const std::string body = packed({bytes, strings, floats}, 0.25, 77);
  const Ran ran = unpack_ran(body);
  EXPECT_EQ(ran.outputs.views.at(0).bytes, "ab");
  EXPECT_EQ(ran.outputs.views.at(0).dims, bytes.dims);
  EXPECT_EQ(*ran.outputs.views.at(1).strings, strings.strings);
  EXPECT_EQ((ran.outputs.views.at(2).bytes.data() - body.data()) % 8, 0);  // used in place
  EXPECT_EQ(ran.peak_memory, 77U);
}

TEST(Wire, ATimingComesOutAsItWentIn) {
  const Tensor tensor{ElementType::kUint8, {2}, "ab"};
  const std::vector<TensorView> inputs = {tensor};
  std::string body;
  pack(body, 7, inputs);
  const Timing timing = unpack_timing(body);
  EXPECT_EQ(timing.runs, 7U);
  EXPECT_EQ(timing.inputs.views.at(0).bytes, "ab");
  for (std::size_t size = 0; size < body.size(); ++size)
    EXPECT_THROW(unpack_timing(body.substr(0, size)), Error) << size;

  const std::string answer = pack(SlotTimes{{0.5, 0.25}, 0.125, 3, {0.0625}});
  const SlotTimes times = unpack_times(answer);
  EXPECT_EQ(times.calls, (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(times.cpu_seconds, 0.125);
  EXPECT_EQ(times.wait_seconds, 3);
  EXPECT_EQ(times.pieces, (std::vector<double>{0.0625}));
  for (std::size_t size = 0; size < answer.size(); ++size)
    EXPECT_THROW(unpack_times(answer.substr(0, size)), Error) << size;
}

TEST(Wire, EveryTruncationIsRefused) {
  const Tensor tensor{ElementType::kString, {2}, {}, {"hello", "you"}};
  const std::string body = packed({tensor});
  for (std::size_t size = 0; size < body.size(); ++size)
    EXPECT_THROW(unpack_ran(body.substr(0, size)), Error) << size;
  EXPECT_THROW(unpack_ran(body + '\0'), Error);
}

TEST(Wire, ATensorWhoseBytesDoNotFitIsRefused) {
  const Tensor tensor{ElementType::kFloat, {std::int64_t{1} << 40}, "abcd"};
  EXPECT_THROW(unpack_ran(packed({tensor})), Error);
}

TEST(Wire, AFailureKeepsItsCode) {
  const std::string body = pack_failure(static_cast<int>(ErrorCode::kIo), "no such file");
  const Error error = test::error_of([&] { throw_failure(body); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_STREQ(error.what(), "no such file");
}

TEST(Wire, AMessageTakesThePlaceOfTheOneBeforeIt) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Channel channel(ends[0], ends[1]);
  Message message;
  for (const std::string body : {"a longer one", "short", "", "longer than all before it"}) {
    ASSERT_EQ(channel.send(Kind::kRun, body), Outcome::kDone);
    ASSERT_EQ(channel.receive(message), Outcome::kDone);
    EXPECT_EQ(message.body, body);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace ounce::runtime
