#include "evaluate/models/feeds.h"
#include "evaluate/models/open.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "data/tensor.h"
#include "formats/open.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"
#include "support/tensor_of.h"

namespace ounce::evaluate {
namespace {

using data::Tensor;
using data::test::described;
using data::test::numbers_of;
using ounce::test::error_of;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using Kind = Fill::Kind;

std::vector<double> values(ElementType type, const Legal& legal, const Fill& fill, std::int64_t count = 200) {
  const Tensor made = make_values(described("x", type, {-1}), {count}, legal, fill);
  EXPECT_EQ(made.type, type);
  EXPECT_EQ(made.dims, data::Dims{count});
  EXPECT_EQ(made.bytes.size(), data::byte_count(type, made.dims, "x"));
  return data::to_doubles(made, "x");
}

std::vector<double> of(ElementType type, const Legal& legal, Kind kind) {
  return values(type, legal, {kind, 1});
}

TEST(GenerateTest, FloatsFillTheirRange) {
  const Legal legal{{-2, 6}, {}};
  for (const ElementType type :
       {ElementType::kFloat, ElementType::kDouble, ElementType::kFloat16, ElementType::kBfloat16}) {
    EXPECT_THAT(of(type, legal, Kind::kNoise), Each(AllOf(Ge(-2), Le(6))));
    EXPECT_THAT(of(type, legal, Kind::kNoise), Contains(Le(0)));
    EXPECT_THAT(of(type, legal, Kind::kNoise), Contains(Ge(4)));
    EXPECT_THAT(of(type, legal, Kind::kLowest), Each(-2));
    EXPECT_THAT(of(type, legal, Kind::kHighest), Each(6));
    EXPECT_THAT(of(type, legal, Kind::kMiddle), Each(2));
    EXPECT_THAT(of(type, legal, Kind::kZero), Each(0));
    EXPECT_THAT(of(type, legal, Kind::kBeyond), Each(testing::AnyOf(2 - 8 * 4, 2 + 8 * 4)));
  }
}

TEST(GenerateTest, NarrowIntegersUseAllOfTheirType) {
  const auto expect = [](ElementType type, double lowest, double highest) {
    EXPECT_THAT(of(type, {}, Kind::kLowest), Each(lowest));
    EXPECT_THAT(of(type, {}, Kind::kHighest), Each(highest));
    EXPECT_THAT(of(type, {}, Kind::kBeyond), Each(highest));  // larger integers are invalid
    EXPECT_THAT(of(type, {}, Kind::kNoise), Contains(Ge(highest / 2)));
  };
  expect(ElementType::kUint8, 0, 255);
  expect(ElementType::kInt8, -128, 127);
  expect(ElementType::kUint16, 0, 65535);
  expect(ElementType::kInt16, -32768, 32767);
}

TEST(GenerateTest, WideIntegersAndBoolsAreFlags) {
  for (const ElementType type : {ElementType::kInt32, ElementType::kInt64, ElementType::kUint32,
                                 ElementType::kUint64, ElementType::kBool}) {
    EXPECT_THAT(of(type, {}, Kind::kNoise), Each(1));
    EXPECT_THAT(of(type, {}, Kind::kZero), Each(0));
    EXPECT_THAT(of(type, {}, Kind::kHighest), Each(1));
  }
}

TEST(GenerateTest, IdsStayInsideTheirTable) {
  const Legal legal{{}, 30};
  for (const ElementType type : {ElementType::kInt64, ElementType::kInt32}) {
    for (const Kind kind :
         {Kind::kNoise, Kind::kLowest, Kind::kHighest, Kind::kMiddle, Kind::kZero, Kind::kBeyond})
      EXPECT_THAT(of(type, legal, kind), Each(AllOf(Ge(0), Le(29))));
    EXPECT_THAT(of(type, legal, Kind::kNoise), Contains(Ge(25)));
    EXPECT_THAT(of(type, legal, Kind::kHighest), Each(29));
  }
  EXPECT_THAT(of(ElementType::kInt64, {{}, 0}, Kind::kNoise), Each(0));
}

TEST(GenerateTest, TheSameSeedGivesTheSameBytes) {
  const auto bytes = [](std::uint64_t seed) {
    return make_values(described("x", ElementType::kFloat, {-1}), {9}, {}, {Kind::kNoise, seed}).bytes;
  };
  EXPECT_EQ(bytes(5), bytes(5));
  EXPECT_NE(bytes(5), bytes(6));
}

TEST(GenerateTest, TextIsText) {
  const Tensor made = make_values(described("x", ElementType::kString, {-1}), {2}, {}, {});
  EXPECT_EQ(made.strings.size(), 2U);
}

TEST(GenerateTest, WhatCannotBeMadeUpIsRefused) {
  const auto refuse = [](ElementType type, const data::Dims& dims) {
    return error_of([&] { make_values(described("x", type, {-1}), dims, {}, {}); }).code();
  };
  EXPECT_EQ(refuse(ElementType::kUndefined, {1}), ErrorCode::kUnsupported);
  EXPECT_EQ(refuse(ElementType::kFloat, {1 << 20, 1 << 20}), ErrorCode::kUnsupported);
  EXPECT_EQ(refuse(ElementType::kComplex64, {1}), ErrorCode::kBadInput);
}

TEST(DimsForTest, FixedStaysFreeIsFilledByWhoeverKnows) {
  DataOptions options;
  options.shape = {{"T", 9}, {"x:3", 5}};
  const auto x = described("x", ElementType::kFloat, {-1, 3, -1, -1, -1}, {"N", "", "T", "T", ""});
  const auto seven = [](const auto&, std::size_t) { return 7; };
  EXPECT_THAT(data::dims_for(x, options, 4, seven), ElementsAre(4, 3, 9, 5, 7));
  options.shape["N"] = 2;  // even the batch
  EXPECT_THAT(data::dims_for(x, options, 4, seven), ElementsAre(2, 3, 9, 5, 7));
  EXPECT_THAT(data::dims_for(described("x", ElementType::kFloat, {1, 3}), options, 4, seven),
              ElementsAre(1, 3));
  EXPECT_THAT(data::dims_for(described("x", ElementType::kFloat, {}), options, 4, seven), IsEmpty());
}

TEST(DimsForTest, PicturesAreUsuallyLargerThanSequencesAreLong) {
  EXPECT_EQ(usual_length(described("x", ElementType::kFloat, {-1, 3, -1, -1}), 2), 224);
  EXPECT_EQ(usual_length(described("x", ElementType::kFloat, {-1, -1, 8, 8}), 1), 16);
  EXPECT_EQ(usual_length(described("x", ElementType::kFloat, {-1, -1}), 1), 16);
}

TEST(DimsForTest, StatesOfRecurrentNetworksHaveTheBatchInTheMiddle) {
  EXPECT_EQ(usual_length(described("h", ElementType::kFloat, {2, -1, 128}), 1), 1);
  EXPECT_EQ(usual_length(described("x", ElementType::kFloat, {1, -1, 128}), 1), 16);  // a sequence
  EXPECT_EQ(usual_length(described("x", ElementType::kFloat, {2, -1, -1}), 1), 16);
}

TEST(FindLengthsTest, TriesOtherLengthsUntilTheModelRuns) {
  const std::vector<data::ValueDescription> inputs = {
      described("x", ElementType::kFloat, {-1, 3, -1, -1}, {"N", "", "H", ""})};
  std::vector<std::map<std::string, std::int64_t>> tried;
  const auto runs_with = [&](std::int64_t length) {
    return [&tried, length](const DataOptions& options) {
      tried.push_back(options.shape);
      const auto found = options.shape.find("x:3");
      if (found == options.shape.end() || found->second != length)
        throw Error(ErrorCode::kBadInput, fmt::format("attempt {} failed", tried.size()));
    };
  };
  EXPECT_EQ(find_lengths(inputs, {}, runs_with(48)).shape,
            (std::map<std::string, std::int64_t>{{"x:2", 48}, {"x:3", 48}}));
  EXPECT_GT(tried.size(), 1U);
  EXPECT_THAT(tried.front(), IsEmpty());

  // The batch of a recurrent state is no length.
  tried.clear();
  const std::vector<data::ValueDescription> recurrent = {
      described("x", ElementType::kFloat, {-1, 3, -1, -1}, {"N", "", "H", ""}),
      described("h", ElementType::kFloat, {2, -1, 128}), described("c", ElementType::kFloat, {-1, -1}, {"L", "N"})};
  EXPECT_EQ(find_lengths(recurrent, {}, runs_with(48)).shape,
            (std::map<std::string, std::int64_t>{{"x:2", 48}, {"x:3", 48}}));

  DataOptions given;  // lengths that the user set are kept
  given.shape = {{"H", 7}};
  EXPECT_EQ(find_lengths(inputs, given, runs_with(48)).shape,
            (std::map<std::string, std::int64_t>{{"H", 7}, {"x:3", 48}}));

  tried.clear();
  EXPECT_STREQ(error_of([&] { find_lengths(inputs, {}, runs_with(47)); }).what(), "attempt 1 failed");
}

TEST(FindLengthsTest, ThrowsAtOnceWhenLengthsAreNotTheCause) {
  int attempts = 0;
  const auto fails_with = [&](ErrorCode code) {
    return [&attempts, code](const DataOptions&) {
      ++attempts;
      throw Error(code, "failed");
    };
  };
  const std::vector<data::ValueDescription> dynamic = {described("x", ElementType::kFloat, {-1, -1})},
                                            fixed = {described("x", ElementType::kFloat, {-1, 3})};
  for (const ErrorCode code : {ErrorCode::kIo, ErrorCode::kTimeout, ErrorCode::kMemory})
    EXPECT_EQ(error_of([&] { find_lengths(dynamic, {}, fails_with(code)); }).code(), code);
  EXPECT_EQ(error_of([&] { find_lengths(fixed, {}, fails_with(ErrorCode::kBadInput)); }).code(),
            ErrorCode::kBadInput);
  DataOptions data;
  data.path = "val.npz";
  EXPECT_EQ(error_of([&] { find_lengths(dynamic, data, fails_with(ErrorCode::kBadInput)); }).code(),
            ErrorCode::kBadInput);
  EXPECT_EQ(attempts, 5);
}

// A model with y = table[ids], and further inputs x, a flag and a state.
struct GeneratedFeedTest : testing::Test {
  GeneratedFeedTest() {
    ounce::test::ModelBuilder model;
    model.input("ids", ounce::test::kInt64, {1}).output("y", ounce::test::kFloat, {1, 1});
    model.initializer("table", {20, 1}, std::vector<float>(20)).node("Gather", {"table", "ids"}, {"y"});
    ounce::test::write_file(folder / "m.onnx", model.bytes());
  }
  GeneratedFeed feed() const { return {*formats::open_model(folder / "m.onnx"), inputs, options}; }
  data::Batch batch(std::uint64_t index = 0) const {
    data::Batch made;
    feed().read(index, made);
    return made;
  }

  ounce::test::TemporaryFolder folder;
  std::vector<data::ValueDescription> inputs = {described("ids", ElementType::kInt64, {-1, -1}, {"N", "T"}),
                                                described("x", ElementType::kFloat, {-1, 3}),
                                                described("rate", ElementType::kInt64, {1}),
                                                described("state", ElementType::kFloat, {2, -1, 4})};
  DataOptions options;
};

TEST_F(GeneratedFeedTest, FeedsEveryInput) {
  options.carry = {{"state", "next"}};
  options.batch = 2;
  const data::Batch made = batch();
  ASSERT_EQ(made.inputs.size(), 4U);
  EXPECT_THAT(made.inputs[0].dims, ElementsAre(2, 16));
  EXPECT_THAT(numbers_of<std::int64_t>(made.inputs[0]), Each(AllOf(Ge(0), Le(19))));
  EXPECT_THAT(made.inputs[1].dims, ElementsAre(2, 3));
  EXPECT_THAT(made.inputs[3].dims, ElementsAre(2, 1, 4));
  EXPECT_THAT(numbers_of<float>(made.inputs[3]), Each(0));
  EXPECT_THAT(made.names, ElementsAre("random[0]", "random[1]"));
  EXPECT_TRUE(made.starts_sequence);
  EXPECT_FALSE(batch(1).starts_sequence);
  EXPECT_THAT(feed().notes(), ElementsAre(HasSubstr("T=16")));
}

TEST_F(GeneratedFeedTest, AxesWithTheNameOfTheBatchHaveItsSize) {
  inputs = {described("x", ElementType::kFloat, {-1, -1}, {"N", "T"}),
            described("h", ElementType::kFloat, {2, -1, -1}, {"", "N", "T"})};
  options.batch = 3;
  EXPECT_THAT(batch().inputs[0].dims, ElementsAre(3, 16));
  EXPECT_THAT(batch().inputs[1].dims, ElementsAre(2, 3, 16));
}

TEST_F(GeneratedFeedTest, ConstantsAreExactlyWhatWasSaid) {
  for (const std::int64_t rate : {16000, 0, -1}) {
    options.constants = {{"rate", static_cast<double>(rate)}, {"x", 0.25}};
    EXPECT_THAT(numbers_of<std::int64_t>(batch().inputs[2]), Each(rate));
    EXPECT_THAT(numbers_of<float>(batch().inputs[1]), Each(0.25F));
  }
}

TEST_F(GeneratedFeedTest, TheSameSeedTheSameBatches) {
  EXPECT_EQ(batch(3).inputs[1].bytes, batch(3).inputs[1].bytes);
  EXPECT_NE(batch(3).inputs[1].bytes, batch(4).inputs[1].bytes);
  const std::string before = batch().inputs[1].bytes;
  options.seed = 2;
  EXPECT_NE(batch().inputs[1].bytes, before);
}

TEST_F(GeneratedFeedTest, RangesComeFromTheContract) {
  options.contract.emplace().inputs["x"].observed = {1, 5, 6, {}, {}};
  EXPECT_THAT(numbers_of<float>(batch().inputs[1]), Each(AllOf(Ge(5), Le(6))));
}

TEST_F(GeneratedFeedTest, AsManySamplesAsAskedFor) {
  EXPECT_EQ(feed().samples(), 8U);
  options.samples = 10;
  options.batch = 5;
  EXPECT_EQ(feed().batches(), 2U);
  EXPECT_EQ(feed().samples(), 10U);
}

// A few bytes of a shape in a file can request any amount of memory.
TEST_F(GeneratedFeedTest, WhatTakesTooMuchMemoryIsNotMade) {
  const auto refusal = [&](data::ValueDescription input) {
    inputs = {std::move(input), described("y", ElementType::kFloat, {-1, 1 << 25})};
    const Error error = error_of([&] { batch(); });
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(), HasSubstr("give `data`, or set the sizes"));
    return std::string(error.what());
  };
  EXPECT_THAT(refusal(described("x", ElementType::kFloat, {1, 200'000'000})),
              HasSubstr("input 'x': needs 200000000 values"));
  EXPECT_THAT(refusal(described("x", ElementType::kFloat16, {1'000'000'007})),
              HasSubstr("1000000007 values"));
  EXPECT_THAT(refusal(described("x", ElementType::kUint8, {1'000'000'007, 1})),
              HasSubstr("1000000007 samples"));
  EXPECT_THAT(refusal(described("x", ElementType::kFloat, {-1, (1 << 25) + 1})),
              HasSubstr("all inputs together"));
}

TEST(GenerateTest, WhatIsMadeInPiecesIsMadeWhole) {
  const std::int64_t count = (std::int64_t{1} << 20) + 5;
  EXPECT_EQ(values(ElementType::kFloat16, {}, {Kind::kNoise, 1}, count).size(),
            static_cast<std::size_t>(count));
  EXPECT_THAT(values(ElementType::kUint8, {}, {Kind::kHighest, 1}, count), Each(255));
  EXPECT_THAT(values(ElementType::kFloat, {}, {Kind::kZero, 1}, 0), IsEmpty());
}

TEST_F(GeneratedFeedTest, LabelsCannotBeMadeUp) {
  options.labels = "label";
  EXPECT_EQ(error_of([&] { feed(); }).code(), ErrorCode::kUsage);
}

}  // namespace
}  // namespace ounce::evaluate
