#include "data/source/data_feed.h"

#include <gmock/gmock.h>

#include <cmath>

#include "data/contract/contract_file.h"
#include "support/archive_bytes.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/tensor_of.h"

namespace ounce::data {
namespace {

using ounce::test::error_of;
using test::bytes_of;
using test::described;
using test::npy_bytes;
using test::numbers_of;
using test::wav;
using test::ZipBytes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Inputs = std::vector<ValueDescription>;

std::string floats(const std::string& shape, const std::vector<float>& values) {
  return npy_bytes("<f4", shape, bytes_of(values));
}
std::string integers(const std::string& shape, const std::vector<std::int64_t>& values) {
  return npy_bytes("<i8", shape, bytes_of(values));
}

struct DataFeedTest : testing::Test {
  DataFeedTest() {
    const std::string x = floats("(5, 2)", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    ounce::test::write_file(folder / "x.npy", x);
    ounce::test::write_file(folder / "all.npz", ZipBytes()
                                                    .add("x.npy", x)
                                                    .add("ids.npy", integers("(5,)", {10, 11, 12, 13, 14}))
                                                    .add("label.npy", integers("(5,)", {0, 1, 2, 0, 1}))
                                                    .add("train.npy", floats("(2,)", {0, 0}))
                                                    .bytes());
    options.path = folder / "all.npz";
  }
  void write(const std::string& name, const std::string& bytes) const {
    ounce::test::write_file(folder / name, bytes);
  }
  DataFeed feed() const { return {inputs, options}; }
  Batch batch(std::uint64_t index = 0) const {
    DataFeed made = feed();
    Batch read;
    made.read(index, read);
    return read;
  }
  Error refusal() const {
    return error_of([&] {
      DataFeed made = feed();
      Batch read;
      for (std::uint64_t i = 0; i < made.batches(); ++i) made.read(i, read);
    });
  }
  std::string bad_input() const {
    const Error error = refusal();
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.what();
  }
  InputContract& contract(const std::string& input) { return options.contract.emplace().inputs[input]; }

  ounce::test::TemporaryFolder folder;
  Inputs inputs = {described("x", ElementType::kFloat, {-1, 2})};
  DataOptions options;
};

TEST_F(DataFeedTest, InputsAreFedByName) {
  inputs = {described("ids", ElementType::kInt64, {-1}), described("x", ElementType::kFloat, {-1, 2})};
  const Batch read = batch(1);
  ASSERT_EQ(read.inputs.size(), 2U);
  EXPECT_THAT(numbers_of<std::int64_t>(read.inputs[0]), ElementsAre(11));
  EXPECT_THAT(read.inputs[0].dims, ElementsAre(1));
  EXPECT_THAT(numbers_of<float>(read.inputs[1]), ElementsAre(2, 3));
  EXPECT_THAT(read.inputs[1].dims, ElementsAre(1, 2));
  EXPECT_THAT(read.labels, IsEmpty());
  EXPECT_THAT(read.names, ElementsAre("all.npz[1]"));
  EXPECT_EQ(feed().samples(), 5U);
}

TEST_F(DataFeedTest, OrAsTheUserSays) {
  inputs[0].name = "pixels";
  options.fields = {{"pixels", "x"}};
  EXPECT_THAT(numbers_of<float>(batch().inputs[0]), ElementsAre(0, 1));
  options.fields = {{"pixels", "y"}};
  EXPECT_THAT(bad_input(), HasSubstr("y"));
  options.fields = {{"q", "x"}};
  EXPECT_EQ(refusal().code(), ErrorCode::kUsage);
}

TEST_F(DataFeedTest, TheOnlyFieldFeedsTheOnlyInput) {
  inputs[0].name = "pixels";
  options.path = folder / "x.npy";
  EXPECT_THAT(numbers_of<float>(batch().inputs[0]), ElementsAre(0, 1));
  write("one.npz",
        ZipBytes().add("arr_0.npy", floats("(1, 2)", {7, 8})).add("y.npy", integers("(1,)", {3})).bytes());
  options.path = folder / "one.npz";
  options.labels = "y";
  EXPECT_THAT(numbers_of<float>(batch().inputs[0]), ElementsAre(7, 8));
}

TEST_F(DataFeedTest, TheOnlyArrayOfTheShapeAndTypeFeedsAnInput) {
  inputs[0].name = "pixels";
  EXPECT_THAT(numbers_of<float>(batch().inputs[0]), ElementsAre(0, 1));
  EXPECT_THAT(feed().notes(),
              ElementsAre("the input 'pixels' is fed from 'x', the only array of its shape and type"));
  options.labels = "label";
  EXPECT_THAT(numbers_of<float>(batch().inputs[0]), ElementsAre(0, 1));
  options.labels = "";
  inputs.push_back(described("number", ElementType::kInt64, {-1}));
  EXPECT_THAT(refusal().what(), HasSubstr("number"));  // ids and label fit
}

TEST_F(DataFeedTest, SeveralInputsAreFedByShapeAndType) {
  inputs = {described("a", ElementType::kFloat, {-1, 2}), described("b", ElementType::kInt64, {-1, 3})};
  write("two.npz", ZipBytes()
                       .add("first.npy", floats("(1, 2)", {7, 8}))
                       .add("second.npy", integers("(1, 3)", {1, 2, 3}))
                       .bytes());
  options.path = folder / "two.npz";
  const Batch read = batch();
  EXPECT_THAT(numbers_of<float>(read.inputs[0]), ElementsAre(7, 8));
  EXPECT_THAT(numbers_of<std::int64_t>(read.inputs[1]), ElementsAre(1, 2, 3));
}

TEST_F(DataFeedTest, DerivedPreprocessingFindsTheArray) {
  inputs = {described("sound", ElementType::kFloat, {-1, 2})};
  write("named.npz",
        ZipBytes()
            .add("clip.npy", npy_bytes("<i2", "(1, 2)", bytes_of(std::vector<std::int16_t>{16384, 0})))
            .add("label.npy", integers("(1,)", {3}))
            .bytes());
  options.path = folder / "named.npz";
  EXPECT_EQ(refusal().code(), ErrorCode::kBadInput);
  options.derive_contract = true;
  EXPECT_THAT(numbers_of<float>(batch().inputs[0]), ElementsAre(0.5F, 0));
}

TEST_F(DataFeedTest, PreprocessingIsDerivedOnlyIfAskedFor) {
  inputs = {described("sound", ElementType::kFloat, {-1, 2})};
  write("sound.npy", npy_bytes("<i2", "(1, 2)", bytes_of(std::vector<std::int16_t>{16384, -32768})));
  options.path = folder / "sound.npy";
  EXPECT_THAT(bad_input(), HasSubstr("derive it from the data with `derive_contract=true`"));
  options.derive_contract = true;
  EXPECT_THAT(numbers_of<float>(batch().inputs[0]), ElementsAre(0.5F, -1));
  EXPECT_THAT(feed().notes(),
              ElementsAre(HasSubstr("preprocessing of 'sound' derived from the data: rescale 1/32768")));
  contract("sound").rescale_factor = 1;  // one that is given is kept
  EXPECT_THAT(numbers_of<float>(batch().inputs[0]), ElementsAre(16384, -32768));
  EXPECT_THAT(feed().notes(), IsEmpty());
}

TEST_F(DataFeedTest, WhatIsNotClearIsRefused) {
  inputs[0].name = "pixels";
  write("alike.npz", ZipBytes()
                         .add("x.npy", floats("(1, 2)", {7, 8}))
                         .add("y.npy", floats("(1, 2)", {7, 8}))
                         .add("label.npy", integers("(1,)", {3}))
                         .bytes());
  options.path = folder / "alike.npz";
  EXPECT_THAT(bad_input(), HasSubstr("has no array named 'pixels' (it has x float32[1,2], y float32[1,2], "
                                     "label int64[1]). Map one: `fields` pixels=x"));
  options.labels = "label";  // is opened, but the file has more fields
  EXPECT_THAT(bad_input(), HasSubstr("has no array or column named 'pixels' (it has x, y, label). "
                                     "Map one: `fields` pixels=x"));
  options.labels = "";
  inputs = {described("a", ElementType::kFloat, {-1, 2}), described("b", ElementType::kFloat, {-1, 2})};
  options.path = folder / "x.npy";
  EXPECT_EQ(refusal().code(), ErrorCode::kBadInput);
}

TEST_F(DataFeedTest, LabelsComeWithTheSamples) {
  options.labels = "label";
  options.batch = 2;
  const Batch read = batch(1);
  ASSERT_EQ(read.labels.size(), 2U);
  EXPECT_THAT(numbers_of<std::int64_t>(read.labels[0]), ElementsAre(2));
  EXPECT_THAT(numbers_of<std::int64_t>(read.labels[1]), ElementsAre(0));
  options.labels = "lable";
  EXPECT_THAT(bad_input(), HasSubstr("has no array or column named 'lable' for `labels` (it has x, ids, "
                                     "label, train); did you mean 'label'?"));
}

TEST_F(DataFeedTest, SamplesArePutTogetherToBatches) {
  options.batch = 2;
  const DataFeed made = feed();
  EXPECT_EQ(made.batches(), 3U);
  EXPECT_EQ(made.samples(), 5U);
  EXPECT_THAT(made.notes(), testing::IsEmpty());
  EXPECT_THAT(batch(2).inputs[0].dims, ElementsAre(1, 2));  // the last batch is smaller
  const Batch read = batch(1);
  EXPECT_THAT(read.inputs[0].dims, ElementsAre(2, 2));
  EXPECT_THAT(numbers_of<float>(read.inputs[0]), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(read.names, ElementsAre("all.npz[2]", "all.npz[3]"));
}

TEST_F(DataFeedTest, AFixedBatchDecides) {
  inputs = {described("x", ElementType::kFloat, {5, 2})};
  EXPECT_THAT(batch().inputs[0].dims, ElementsAre(5, 2));
  inputs = {described("x", ElementType::kFloat, {6, 2})};
  EXPECT_THAT(bad_input(), HasSubstr("5 samples, but a batch needs 6"));
  inputs = {described("x", ElementType::kFloat, {1, 2})};
  options.batch = 2;
  EXPECT_THAT(batch().inputs[0].dims, ElementsAre(1, 2));
}

TEST_F(DataFeedTest, WhatDoesNotFillAFixedBatchIsLeftOut) {
  inputs = {described("x", ElementType::kFloat, {2, 2})};
  const DataFeed made = feed();
  EXPECT_EQ(made.samples(), 4U);
  EXPECT_THAT(made.notes(), ElementsAre(HasSubstr("last 1 of 5 samples")));
}

TEST_F(DataFeedTest, APartOfTheSamples) {
  options.first = 1;
  options.samples = 3;
  EXPECT_EQ(feed().samples(), 3U);
  EXPECT_THAT(numbers_of<float>(batch(0).inputs[0]), ElementsAre(2, 3));
  EXPECT_THAT(numbers_of<float>(batch(2).inputs[0]), ElementsAre(6, 7));
  options.samples = 100;
  EXPECT_EQ(feed().samples(), 4U);
  options.first = 5;
  EXPECT_THAT(bad_input(), HasSubstr("5 samples"));
}

TEST_F(DataFeedTest, EverySecondSample) {
  options.first = 1;
  options.parts = 2;
  EXPECT_EQ(feed().samples(), 2U);
  EXPECT_THAT(numbers_of<float>(batch(1).inputs[0]), ElementsAre(6, 7));
  options.part = 1;
  EXPECT_EQ(feed().samples(), 2U);
  EXPECT_THAT(numbers_of<float>(batch(0).inputs[0]), ElementsAre(4, 5));
  options.first = 0;
  options.part = 0;
  options.batch = 2;
  EXPECT_EQ(feed().samples(), 3U);
  EXPECT_THAT(numbers_of<float>(batch(0).inputs[0]), ElementsAre(0, 1, 4, 5));
}

TEST_F(DataFeedTest, PartsThatAreNotThereAreRefused) {
  options.part = 2;
  options.parts = 2;
  EXPECT_EQ(refusal().code(), ErrorCode::kUsage);
  options.part = 5;
  options.parts = 6;
  EXPECT_THAT(bad_input(), HasSubstr("5 samples are too few for 6 parts"));
}

TEST_F(DataFeedTest, BatchesInAnyOrder) {
  DataFeed made = feed();
  Batch read;
  for (const std::uint64_t index : {4U, 0U, 2U}) {
    made.read(index, read);
    EXPECT_EQ(numbers_of<float>(read.inputs[0])[0], static_cast<float>(2 * index));
  }
}

TEST_F(DataFeedTest, ConstantsAreTheSameForEverySample) {
  inputs.push_back(described("rate", ElementType::kInt64, {}));
  inputs.push_back(described("gain", ElementType::kFloat, {-1, 2}));
  options.constants = {{"rate", 16000}, {"gain", 0.5}};
  options.shape = {{"gain:0", 3}};
  const Batch read = batch(2);
  EXPECT_THAT(numbers_of<std::int64_t>(read.inputs[1]), ElementsAre(16000));
  EXPECT_THAT(read.inputs[1].dims, IsEmpty());
  EXPECT_THAT(read.inputs[2].dims, ElementsAre(3, 2));
  EXPECT_THAT(numbers_of<float>(read.inputs[2]), testing::Each(0.5F));
  options.constants["q"] = 1;
  EXPECT_EQ(refusal().code(), ErrorCode::kUsage);
}

TEST_F(DataFeedTest, CarriedStatesBeginWithZeros) {
  inputs.push_back(described("h", ElementType::kFloat, {2, -1, 3}));
  options.carry = {{"h", "hn"}};
  options.batch = 4;  // a state belongs to one sequence
  const Batch first = batch(0), second = batch(1);
  EXPECT_THAT(first.inputs[1].dims, ElementsAre(2, 1, 3));
  EXPECT_THAT(numbers_of<float>(first.inputs[1]), testing::Each(0.F));
  EXPECT_TRUE(first.starts_sequence);
  EXPECT_FALSE(second.starts_sequence);
  EXPECT_EQ(first.names.size(), 1U);
}

TEST_F(DataFeedTest, ASequenceThatIsEnteredInItsMiddleBeginsThere) {
  options.first = 2;
  EXPECT_TRUE(batch(0).starts_sequence);
  EXPECT_FALSE(batch(1).starts_sequence);
}

TEST_F(DataFeedTest, APathForEachInput) {
  write("b.npy", floats("(5,)", {5, 6, 7, 8, 9}));
  inputs.push_back(described("b", ElementType::kFloat, {-1, 1}));
  options.paths = {{"b", folder / "b.npy"}};
  EXPECT_THAT(numbers_of<float>(batch(1).inputs[0]), ElementsAre(2, 3));
  EXPECT_THAT(numbers_of<float>(batch(1).inputs[1]), ElementsAre(6));
  options.path.clear();
  EXPECT_THAT(bad_input(), HasSubstr("no data for the input 'x'"));
}

TEST_F(DataFeedTest, SampleCountsMustAgree) {
  write("b.npy", floats("(4,)", {5, 6, 7, 8}));
  inputs.push_back(described("b", ElementType::kFloat, {-1, 1}));
  options.paths = {{"b", folder / "b.npy"}};
  EXPECT_THAT(bad_input(), testing::AllOf(HasSubstr("has 4 samples"), HasSubstr("5")));
}

TEST_F(DataFeedTest, NanInTheDataIsRefused) {
  write("nan.npy", floats("(1, 2)", {1, NAN}));
  options.path = folder / "nan.npy";
  EXPECT_THAT(bad_input(), testing::AllOf(HasSubstr("nan.npy[0]"), HasSubstr("NaN (value 1)")));
}

TEST_F(DataFeedTest, NanInWiderAndNarrowerDataIsRefusedToo) {
  write("nan.npy", npy_bytes("<f8", "(1, 2)", bytes_of<double>({1, NAN})));
  write("half.npy", npy_bytes("<f2", "(1, 2)", bytes_of<std::uint16_t>({0x3c00, 0x7e00})));
  for (const char* name : {"nan.npy", "half.npy"}) {
    options.path = folder / name;
    EXPECT_THAT(bad_input(), HasSubstr("NaN")) << name;
  }
}

TEST_F(DataFeedTest, AnEmptyDatasetIsRefused) {
  write("none.npy", floats("(0, 2)", {}));
  options.path = folder / "none.npy";
  EXPECT_THAT(bad_input(), HasSubstr("empty"));
}

TEST_F(DataFeedTest, WrongTypesAndShapesAreNamed) {
  inputs = {described("x", ElementType::kInt64, {-1, 2})};
  EXPECT_THAT(bad_input(), HasSubstr("all.npz[0]: input 'x'"));
  EXPECT_THAT(bad_input(), HasSubstr("the data is float32, but the model takes int64"));
  inputs = {described("x", ElementType::kFloat, {-1, 3})};
  EXPECT_THAT(bad_input(), HasSubstr("a sample is [2], but the input 'x' is float32[?,3]"));
  inputs = {described("ids", ElementType::kFloat, {-1})};
  EXPECT_THAT(bad_input(), HasSubstr("contract"));
}

TEST_F(DataFeedTest, SamplesOfDifferentLengthsNeedABatchOfOne) {
  write("list.jsonl", "{\"x\": [1.5, 2]}\n{\"x\": [1.5, 2, 3]}\n");
  options.path = folder / "list.jsonl";
  inputs = {described("x", ElementType::kFloat, {-1, -1})};
  EXPECT_THAT(batch(1).inputs[0].dims, ElementsAre(1, 3));
  options.batch = 2;
  EXPECT_THAT(bad_input(), HasSubstr("`batch=1`"));
}

TEST_F(DataFeedTest, WhatIsNoDataIsRefused) {
  options.path = folder / "none.npz";
  EXPECT_EQ(refusal().code(), ErrorCode::kIo);
  write("a.txt", "x");
  options.path = folder / "a.txt";
  EXPECT_THAT(bad_input(), HasSubstr("is not a supported kind of data"));
  options = {};
  options.constants = {{"x", 1}};
  EXPECT_EQ(refusal().code(), ErrorCode::kUsage);
}

TEST_F(DataFeedTest, ARawFileTakesItsShapeFromTheInput) {
  write("x.bin", bytes_of<float>({1, 2, 3, 4}));
  options.path = folder / "x.bin";
  EXPECT_EQ(feed().samples(), 2U);
  EXPECT_THAT(numbers_of<float>(batch(1).inputs[0]), ElementsAre(3, 4));
  inputs = {described("x", ElementType::kFloat, {-1, -1})};
  EXPECT_THAT(bad_input(), HasSubstr("use a .npy file"));
}

TEST_F(DataFeedTest, TheContractIsCarriedOut) {
  contract("x").rescale_factor = 0.5;
  EXPECT_THAT(numbers_of<float>(batch(2).inputs[0]), ElementsAre(2, 2.5));
}

TEST_F(DataFeedTest, AContractWithoutANameIsForTheOnlyInput) {
  contract(kOnlyInput).rescale_factor = 0.5;
  EXPECT_THAT(numbers_of<float>(batch(2).inputs[0]), ElementsAre(2, 2.5));
  inputs.push_back(described("ids", ElementType::kInt64, {-1}));
  EXPECT_EQ(refusal().code(), ErrorCode::kUsage);
  options.constants = {{"ids", 1}};  // needs no data
  EXPECT_THAT(numbers_of<float>(batch(2).inputs[0]), ElementsAre(2, 2.5));
}

TEST_F(DataFeedTest, AContractForAnInputThatIsNotThereIsRefused) {
  contract("q").rescale_factor = 0.5;
  EXPECT_THAT(refusal().what(), HasSubstr("'q'"));
}

TEST_F(DataFeedTest, AContractWithoutAScaleTakesIntegersAsTheyAre) {
  inputs = {described("ids", ElementType::kFloat, {-1})};
  contract("ids");
  EXPECT_THAT(numbers_of<float>(batch(3).inputs[0]), ElementsAre(13));
}

TEST_F(DataFeedTest, ObservesWhatItReads) {
  contract("x");
  DataFeed made = feed();
  Batch read;
  made.read(1, read);
  made.read(3, read);
  const InputContract::Observed seen = made.observed().at("x").result();
  EXPECT_EQ(seen.samples, 2U);
  EXPECT_EQ(seen.minimum, 2);
  EXPECT_EQ(seen.maximum, 7);
}

TEST_F(DataFeedTest, DataThatContradictsTheContractIsRefused) {
  contract("x").observed = {100, 0, 1, {0.5}, {0.3}};
  DataFeed made = feed();
  made.require_agreement();  // no data was read
  Batch read;
  made.read(0, read);
  made.require_agreement();
  made.read(4, read);
  const Error error = error_of([&] { made.require_agreement(); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_EQ(error.where(), "input 'x'");
  EXPECT_THAT(error.what(), HasSubstr("contradicts the contract"));
}

TEST_F(DataFeedTest, PicturesThatWereNormalizedInAnotherWayAreNoted) {
  std::vector<float> values(20 * 3 * 2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 0.4F : -0.4F;
  write("pictures.npy", floats("(20, 3, 1, 2)", values));
  options.path = folder / "pictures.npy";
  inputs = {described("x", ElementType::kFloat, {-1, 3, 1, 2})};
  contract("x").observed = {100, -2.1, 2.6, {0, 0, 0}, {1, 1, 1}};
  DataFeed made = feed();
  EXPECT_THAT(made.notes(), IsEmpty());
  Batch read;
  for (std::uint64_t i = 0; i < made.batches(); ++i) made.read(i, read);
  made.require_agreement();
  EXPECT_THAT(made.notes(), ElementsAre(HasSubstr("input 'x': its channels have means of")));
}

TEST_F(DataFeedTest, FramesOfARecordingAreASequence) {
  std::filesystem::create_directory(folder / "sound");
  write("sound/a.wav", wav({1, 2, 3, 4, 5}));
  write("sound/b.wav", wav({6, 7}));
  options.path = folder / "sound";
  InputContract& sound = contract(kOnlyInput);
  sound.kind = InputKind::kAudio;
  sound.frame_length = 2;
  DataFeed made = feed();
  EXPECT_EQ(made.batches(), 3U);
  std::vector<bool> starts;
  std::vector<float> all;
  for (std::uint64_t i = 0; i < 3; ++i) {
    Batch read;
    made.read(i, read);
    starts.push_back(read.starts_sequence);
    for (const float value : numbers_of<float>(read.inputs[0])) all.push_back(value);
  }
  EXPECT_THAT(starts, ElementsAre(true, false, true));
  EXPECT_THAT(all, ElementsAre(1, 2, 3, 4, 6, 7));
}

TEST_F(DataFeedTest, FoldersOfPicturesAreTheirLabels) {
  const std::string pixel = ounce::test::read_file(std::string(OUNCE_TEST_GOLDENS) + "/images/one_pixel.png");
  for (const char* name : {"pets/cat", "pets/dog"}) std::filesystem::create_directories(folder / name);
  write("pets/cat/1.png", pixel);
  write("pets/dog/1.png", pixel);
  options.path = folder / "pets";
  options.labels = "folder";
  options.batch = 2;
  inputs = {described("pixels", ElementType::kFloat, {-1, 3, 1, 1})};
  contract(kOnlyInput).kind = InputKind::kImage;
  const Batch read = batch();
  EXPECT_THAT(read.inputs[0].dims, ElementsAre(2, 3, 1, 1));
  ASSERT_EQ(read.labels.size(), 2U);
  EXPECT_THAT(numbers_of<std::int64_t>(read.labels[1]), ElementsAre(1));
}

TEST_F(DataFeedTest, FilesOfAListFeedTheOnlyInput) {
  write("a.npy", floats("(2,)", {1, 2}));
  write("list.csv", "file,label,note\na.npy,4,x\n");
  options.path = folder / "list.csv";
  options.labels = "label";
  const Batch read = batch();
  EXPECT_THAT(numbers_of<float>(read.inputs[0]), ElementsAre(1, 2));
  EXPECT_THAT(numbers_of<std::int64_t>(read.labels[0]), ElementsAre(4));
  EXPECT_THAT(read.names, ElementsAre("a.npy"));
}

TEST_F(DataFeedTest, ColumnsOfAListMakeOneVector) {
  write("list.csv", "id,f0,f1,f2,label\n7,1,0.5,3,1.0\n8,4,5,6,0\n");
  options.path = folder / "list.csv";
  inputs = {described("x", ElementType::kFloat, {-1, 3})};
  for (const char* columns : {"f0,f1,f2", "f0..f2", "f0,f1..f2"}) {
    options.fields["x"] = columns;
    EXPECT_THAT(numbers_of<float>(batch(0).inputs[0]), ElementsAre(1, 0.5, 3));
    EXPECT_THAT(batch(1).inputs[0].dims, ElementsAre(1, 3));
  }
  options.fields["x"] = "f0..label";  // by their order
  inputs = {described("x", ElementType::kFloat, {-1, 4})};
  EXPECT_THAT(numbers_of<float>(batch(0).inputs[0]), ElementsAre(1, 0.5, 3, 1));
}

TEST_F(DataFeedTest, ColumnsThatAreNotThereAreNamed) {
  write("list.csv", "f0,f1,name\n1,2,a\n");
  options.path = folder / "list.csv";
  options.fields["x"] = "f0..f2";
  EXPECT_THAT(bad_input(), HasSubstr("has no column 'f2' for the input 'x'; columns: f0, f1, name"));
  options.fields["x"] = "f0,name";
  EXPECT_THAT(bad_input(), HasSubstr("'name' is 'a', not a number"));
  options.fields["x"] = "f1..f0";
  EXPECT_THAT(refusal().what(), HasSubstr("'f1..f0' goes backwards"));
}

TEST_F(DataFeedTest, ASampleThatFillsAFixedInputIsWhole) {
  write("x.npy", floats("(4, 3, 1)", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  options.path = folder / "x.npy";
  inputs = {described("x", ElementType::kFloat, {3, 1})};
  EXPECT_EQ(feed().batches(), 4U);
  EXPECT_THAT(batch(1).inputs[0].dims, ElementsAre(3, 1));
  EXPECT_THAT(numbers_of<float>(batch(1).inputs[0]), ElementsAre(3, 4, 5));
}

}  // namespace
}  // namespace ounce::data
