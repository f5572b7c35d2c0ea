#include "formats/onnx/file/writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/digest.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/tensor_reader.h"
#include "formats/onnx/graph/validate.h"
#include "support/error_of.h"
#include "support/model_builder.h"
#include "support/temporary_folder.h"

namespace ounce::onnx {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::ModelBuilder;
using test::read_file;
using test::write_file;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kTag = "0123456789abcdef";
constexpr const char* kOtherTag = "fedcba9876543210";

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

std::string small_model() {
  ModelBuilder model;
  model.input("x", 1, {1, 20}).output("y", 1, {1, 20}).initializer("w", {20, 20}, counted(400));
  return model.node("MatMul", {"x", "w"}, {"y"}).bytes();
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Fills every part with its own letter, in pieces of 1000 bytes in reverse order.
class Letters : public Production {
 public:
  explicit Letters(std::vector<std::uint64_t> sizes) : sizes_(std::move(sizes)) {}
  std::uint64_t source_bytes() const override { return 4 * sizes_[0]; }
  void run(std::span<const Place> parts, const ForEach& for_each) const override {
    for (std::size_t part = 0; part < sizes_.size(); ++part) {
      const std::size_t steps = (sizes_[part] + 999) / 1000;
      for_each(steps, [&](std::size_t step) {
        const std::uint64_t at = (steps - 1 - step) * 1000;
        parts[part].write(
            at, std::string(std::min<std::uint64_t>(1000, sizes_[part] - at), static_cast<char>('a' + part)));
      });
    }
  }

 private:
  std::vector<std::uint64_t> sizes_;
};

Tensor computed_tensor(Model& model, const std::string& name, std::uint64_t size,
                       const std::shared_ptr<const Production>& by, std::size_t part) {
  Tensor tensor;
  tensor.name = model.intern(name);
  tensor.type = ElementType::kUint8;
  tensor.dims = {static_cast<std::int64_t>(size)};
  tensor.data = Computed{by, part, size};
  return tensor;
}

class WriterTest : public testing::Test {
 protected:
  WriterTest() { fs::create_directory(folder / "out"); }

  fs::path out(const std::string& name = "m.onnx") const { return folder.path() / "out" / name; }
  std::vector<std::string> written() const { return names_in(folder / "out"); }
  Model source(const std::string& bytes, const std::string& name = "m.onnx") {
    write_file(folder / name, bytes);
    return read_model(folder / name);
  }
  void write(const Model& model, const fs::path& path, const WriteOptions& options) {
    ModelOutput output(model, path, options);
    output.write(two_threads, nullptr);
    graph::validate(output.reopen());
    output.commit();
  }
  // A source whose weights are in a file of the given name.
  Model external_source(const std::string& location) {
    fs::create_directories((folder.path() / location).parent_path());
    write_file(folder.path() / location, test::raw_floats(counted(400)));
    ModelBuilder model;
    model.initializer(test::external_tensor("w", {400}, location, "0", "1600"));
    return source(model.bytes());
  }

  test::TemporaryFolder folder;
  ThreadPool two_threads{2};
};

// --- A model in one file.

TEST_F(WriterTest, AnUneditedModelIsWrittenIdentical) {
  const std::string real = read_file(OUNCE_EXAMPLES "/commands/commands.onnx");
  write(source(real), out(), {});
  EXPECT_TRUE(read_file(out()) == real);
  EXPECT_THAT(written(), ElementsAre("m.onnx"));
}

TEST_F(WriterTest, NothingIsVisibleBeforeTheCommit) {
  const Model model = source(small_model());
  ModelOutput output(model, out(), {ExternalData::kAlways, kTag});
  output.write(two_threads, nullptr);
  EXPECT_THAT(written(), IsEmpty());
  const Model unfinished = output.reopen();
  EXPECT_EQ(RawValues(*unfinished.proto->graph->initializers[0]).bytes(), test::raw_floats(counted(400)));
  EXPECT_THAT(written(), IsEmpty());
}

TEST_F(WriterTest, WhatIsNotCommittedLeavesTheOldFilesAlone) {
  write_file(out(), "the old model");
  write_file(out(std::string("m.onnx.") + kOtherTag + ".data"), "its data");
  {
    const Model model = source(small_model());
    ModelOutput output(model, out(), {ExternalData::kAlways, kTag});
    output.write(two_threads, nullptr);
  }
  EXPECT_EQ(read_file(out()), "the old model");
  EXPECT_THAT(written(), ElementsAre("m.onnx", std::string("m.onnx.") + kOtherTag + ".data"));
}

// Each writer removes the data of the model that it replaces, but not the data of a model from another
// writer.
TEST_F(WriterTest, WritersOfOneNameLeaveAModelWithItsData) {
  const Model model = source(small_model());
  const auto write_as = [&](const char* tag) {
    ThreadPool own(1);
    ModelOutput output(model, out(), {ExternalData::kAlways, tag});
    output.write(own, nullptr);
    output.commit();
  };
  for (int round = 0; round < 100; ++round) {
    write_as(kTag);
    std::thread same([&] { write_as(kTag); });
    write_as(kOtherTag);
    same.join();
    ASSERT_NO_THROW(read_model(out())) << "round " << round;
  }
}

TEST_F(WriterTest, DataIsAsPrivateAsTheModelThatIsReplaced) {
  write_file(out(), "");
  fs::permissions(out(), fs::perms::owner_read | fs::perms::owner_write);
  write(source(small_model()), out(), {ExternalData::kAlways, kTag});
  for (const auto& entry : fs::directory_iterator(folder / "out"))
    EXPECT_EQ(static_cast<unsigned>(entry.status().permissions()), 0600U) << entry.path();
}

TEST_F(WriterTest, TheNumberOfThreadsDoesNotShowInTheFile) {
  Model model = source(small_model());
  std::vector<std::uint64_t> sizes = {3'000'017, 70'001, 5};
  const auto by = std::make_shared<Letters>(sizes);
  auto& initializers = model.proto.edit().graph.edit().initializers;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    initializers.emplace_back(computed_tensor(model, fmt::format("p{}", i), sizes[i], by, i));
  std::vector<std::string> results;
  for (const unsigned threads : {1U, 2U, 5U}) {
    ThreadPool pool(threads);
    ModelOutput output(model, out(), {});
    std::atomic<std::uint64_t> done = 0;
    output.write(pool, &done);
    EXPECT_EQ(done, by->source_bytes());
    output.commit();
    results.push_back(read_file(out()));
  }
  EXPECT_TRUE(results[0] == results[1]);
  EXPECT_TRUE(results[0] == results[2]);
  const Model written_model = read_model(out());
  const auto& after = written_model.proto->graph->initializers;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_TRUE(RawValues(*after[i + 1]).bytes() == std::string(sizes[i], static_cast<char>('a' + i)));
  }
}

TEST_F(WriterTest, ATensorThatOutgrowsItsPlaceIsABugThatStopsTheWriting) {
  Model model = source(small_model());
  const auto by = std::make_shared<Letters>(std::vector<std::uint64_t>{2000});
  model.proto.edit().graph.edit().initializers.emplace_back(computed_tensor(model, "p", 1500, by, 0));
  ModelOutput output(model, out(), {});
  EXPECT_EQ(error_of([&] { output.write(two_threads, nullptr); }).code(), ErrorCode::kInternal);
}

TEST_F(WriterTest, WrittenSizeIsTheSizeOfAllFiles) {
  const Model model = source(small_model());
  for (const ExternalData external : {ExternalData::kAuto, ExternalData::kAlways, ExternalData::kNever}) {
    const WriteOptions options{external, kTag};
    fs::remove_all(folder / "out");
    fs::create_directory(folder / "out");
    write(model, out(), options);
    std::uint64_t total = 0;
    for (const auto& entry : fs::directory_iterator(folder / "out")) total += entry.file_size();
    EXPECT_EQ(written_size(model, out(), options), total);
  }
}

// --- Two gigabytes, without writing them.

class LargeModelTest : public WriterTest {
 protected:
  Model model_of(std::uint64_t size) {
    Model model = source(small_model());
    const auto by = std::make_shared<Letters>(std::vector<std::uint64_t>{size});
    model.proto.edit().graph.edit().initializers.emplace_back(computed_tensor(model, "big", size, by, 0));
    return model;
  }
  static constexpr std::uint64_t kLimit = 0x7fffffff;
};

TEST_F(LargeModelTest, WeightsMoveOutWhenOneFileWouldBeTooLarge) {
  const Model model = model_of(kLimit);
  EXPECT_EQ(written_size(model, out(), {ExternalData::kAuto, kTag}),
            written_size(model, out(), {ExternalData::kAlways, kTag}));
}

TEST_F(LargeModelTest, WeightsStayInlineUpToTheLimit) {
  const std::uint64_t rest =
      written_size(model_of(kLimit - 100000), out(), {ExternalData::kNever, kTag}) - (kLimit - 100000);
  const WriteOptions automatic{ExternalData::kAuto, kTag}, never{ExternalData::kNever, kTag};
  EXPECT_EQ(written_size(model_of(kLimit - rest), out(), automatic), kLimit);
  EXPECT_EQ(written_size(model_of(kLimit - rest), out(), never), kLimit);
  EXPECT_GT(written_size(model_of(kLimit - rest + 1), out(), automatic), kLimit);
  error_of([&] { written_size(model_of(kLimit - rest + 1), out(), never); });
}

TEST_F(LargeModelTest, RoomForWhatIsAppendedCounts) {
  const std::uint64_t rest =
      written_size(model_of(kLimit - 100000), out(), {ExternalData::kNever, kTag}) - (kLimit - 100000);
  WriteOptions never{ExternalData::kNever, kTag};
  never.room = 100;
  EXPECT_EQ(written_size(model_of(kLimit - rest - 100), out(), never), kLimit - 100);
  error_of([&] { written_size(model_of(kLimit - rest - 99), out(), never); });
}

TEST_F(LargeModelTest, SaysWhatToDoWhenExternalDataIsForbidden) {
  const Model model = model_of(kLimit);
  const Error error = error_of([&] { ModelOutput(model, out(), {ExternalData::kNever, kTag}); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_EQ(error.where(), out().string());
  EXPECT_THAT(error.what(), HasSubstr("ONNX files are limited to 2 GiB; use `external_data=always`"));
  EXPECT_THAT(written(), IsEmpty());
}

// A constant of more than 2 GiB in a node cannot be moved to external data.
TEST_F(LargeModelTest, AnAttributeOfMoreThanTwoGigabytesIsNotSupported) {
  Model model = source(small_model());
  const auto by = std::make_shared<Letters>(std::vector<std::uint64_t>{kLimit});
  Node node;
  node.set_op(Op::kConstant);
  Attribute attribute;
  attribute.tensors.emplace_back(computed_tensor(model, "big", kLimit, by, 0));
  node.attributes.emplace_back(std::move(attribute));
  model.proto.edit().graph.edit().nodes.emplace_back(std::move(node));
  for (const ExternalData external : {ExternalData::kAuto, ExternalData::kAlways}) {
    EXPECT_EQ(error_of([&] {
                written_size(model, out(), {external, kTag});
              }).code(),
              ErrorCode::kUnsupported);
  }
}

// --- The data file next to the model.

TEST_F(WriterTest, TheDataFileCarriesItsTagAndTheModelNamesIt) {
  write(source(small_model()), out(), {ExternalData::kAlways, kTag});
  const std::string data = std::string("m.onnx.") + kTag + ".data";
  EXPECT_THAT(written(), ElementsAre("m.onnx", data));
  const Model model = read_model(out());
  EXPECT_EQ(model.external_files.begin()->first, data);
  EXPECT_EQ(RawValues(*model.proto->graph->initializers[0]).bytes(), test::raw_floats(counted(400)));
}

TEST_F(WriterTest, TheDataFileHasTheNameThatIsAskedForIfItIsFree) {
  const WriteOptions options{ExternalData::kAlways, kTag, "m.onnx_data"};
  write(source(small_model()), out(), options);
  EXPECT_THAT(written(), ElementsAre("m.onnx", "m.onnx_data"));
  EXPECT_EQ(read_model(out()).external_files.begin()->first, "m.onnx_data");
  const Error error = error_of([&] { write(source(small_model()), out(), options); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(written(), ElementsAre("m.onnx", "m.onnx_data"));
}

TEST_F(WriterTest, WhatIsAppendedIsAPartOfTheModel) {
  const Model model = source(small_model());
  ThreadPool pool(1);
  ModelOutput output(model, out(), {ExternalData::kNever, kTag});
  output.write(pool, nullptr);
  const std::uint64_t bytes = output.total_bytes();
  const std::string field = metadata_field("key", "value");
  output.append(field);
  EXPECT_EQ(output.total_bytes(), bytes + field.size());
  output.commit();
  EXPECT_EQ(read_file(out()).size(), bytes + field.size());
  const Model read = read_model(out());
  ASSERT_FALSE(read.proto->metadata.empty());
  EXPECT_EQ(read.proto->metadata.back()->key, "key");
  EXPECT_EQ(read.proto->metadata.back()->value, "value");
}

TEST_F(WriterTest, ANewDataFileTakesThePlaceOfTheOldOne) {
  const Model model = source(small_model());
  write(model, out(), {ExternalData::kAlways, kOtherTag});
  write(model, out(), {ExternalData::kAlways, kTag});
  EXPECT_THAT(written(), ElementsAre("m.onnx", std::string("m.onnx.") + kTag + ".data"));
  write(model, out(), {ExternalData::kAlways, kTag});
  EXPECT_THAT(written(), ElementsAre("m.onnx", std::string("m.onnx.") + kTag + ".data"));
  write(model, out(), {ExternalData::kNever, kTag});
  EXPECT_THAT(written(), ElementsAre("m.onnx"));
}

TEST_F(WriterTest, FilesThatAreNotOldDataOfThisModelStay) {
  const std::vector<std::string> others = {
      std::string("m.onnx.") + "0123456789ABCDEF.data",  // not the spelling that data_location() uses
      "m.onnx.0.data",
      "m.onnx.data",
      "m.onnx.notes.data",
      std::string("n.onnx.") + kOtherTag + ".data",
      std::string("m.onnx.") + kOtherTag + ".data.bak",
      std::string("m.onnx.") + kOtherTag,
      std::string("m.onnx.") + kOtherTag + "0.data"};
  for (const std::string& name : others) write_file(out(name), "not ours");
  write(source(small_model()), out(), {ExternalData::kNever, kTag});
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(out(name))) << name;
}

TEST_F(WriterTest, AModelInTheSameFolderKeepsReferringToItsFiles) {
  const Model model = external_source("weights.bin");
  write(model, folder / "copy.onnx", {});
  EXPECT_EQ(read_file(folder / "copy.onnx"), read_file(folder / "m.onnx"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("copy.onnx", "m.onnx", "out", "weights.bin"));
  EXPECT_NO_THROW(read_model(folder / "copy.onnx"));
}

TEST_F(WriterTest, AnUneditedModelTakesItsFilesWithItToAnotherFolder) {
  write(external_source("deep/er/weights.bin"), out(), {});
  EXPECT_EQ(read_file(out()), read_file(folder / "m.onnx"));
  EXPECT_EQ(read_file(out("deep/er/weights.bin")), test::raw_floats(counted(400)));
  EXPECT_NO_THROW(read_model(out()));
}

// The name of an input's data file happens to be that of an old data file of the output.
TEST_F(WriterTest, ACopyKeepsADataFileWhoseNameWeMadeOurselves) {
  const std::string data = std::string("m.onnx.") + kTag + ".data";
  write(external_source(data), out(), {ExternalData::kAuto, kOtherTag});
  EXPECT_THAT(written(), ElementsAre("m.onnx", data));
  EXPECT_NO_THROW(read_model(out()));
}

TEST_F(WriterTest, ADataFileThatTheSourceStillUsesIsNotRemoved) {
  const std::string data = std::string("copy.onnx.") + kTag + ".data";
  const Model model = external_source(data);
  write(model, folder / "copy.onnx", {ExternalData::kNever, kOtherTag});
  EXPECT_TRUE(fs::exists(folder / data));
  EXPECT_NO_THROW(read_model(folder / "m.onnx"));
}

TEST_F(WriterTest, RefusesToReplaceTheExternalDataOfItsSource) {
  const Model model = external_source("weights.bin");
  for (const ExternalData external : {ExternalData::kAuto, ExternalData::kAlways, ExternalData::kNever}) {
    const Error error = error_of([&] { ModelOutput(model, folder / "weights.bin", {external, kTag}); });
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("weights.bin: the output would replace external data of the input"));
  }
  // In another folder only a copy with its own external files would conflict with its own name.
  EXPECT_EQ(error_of([&] { ModelOutput(model, out("weights.bin"), {}); }).code(), ErrorCode::kUsage);
  EXPECT_NO_THROW(ModelOutput(model, out("weights.bin"), {ExternalData::kNever, kTag}));
}

TEST_F(WriterTest, AnEditedModelBringsItsExternalWeightsInline) {
  Model model = external_source("weights.bin");
  model.proto.edit();
  write(model, out(), {});
  EXPECT_THAT(written(), ElementsAre("m.onnx"));
  EXPECT_EQ(RawValues(*read_model(out()).proto->graph->initializers[0]).bytes(),
            test::raw_floats(counted(400)));
}

TEST_F(WriterTest, RefusesAnOutputWhoseDataFileNobodyCouldOpen) {
  const Model model = source(small_model());
  for (const std::string name : {"a:b.onnx", "back\\slash.onnx", "new\nline.onnx"}) {
    error_of([&] { write(model, out(name), {ExternalData::kAlways, kTag}); });
    EXPECT_THAT(written(), IsEmpty()) << name;
  }
}

TEST_F(WriterTest, FailsCleanlyWhenTheOutputCannotBeWritten) {
  const Model model = source(small_model());
  EXPECT_EQ(error_of([&] { write(model, folder.path() / "missing/m.onnx", {}); }).code(), ErrorCode::kIo);
  fs::create_directory(out());
  EXPECT_EQ(error_of([&] { write(model, out(), {ExternalData::kNever, kTag}); }).code(), ErrorCode::kIo);
  EXPECT_THAT(written(), ElementsAre("m.onnx"));
  EXPECT_TRUE(fs::is_directory(out()));
}

TEST_F(WriterTest, FailsCleanlyWhenAnExternalFileHasNoPlaceToGo) {
  const Model model = external_source("deep/weights.bin");
  write_file(out("deep"), "a file where a folder should be");
  EXPECT_EQ(error_of([&] { write(model, out(), {}); }).code(), ErrorCode::kIo);
  EXPECT_THAT(written(), ElementsAre("deep"));
}

}  // namespace
}  // namespace ounce::onnx
