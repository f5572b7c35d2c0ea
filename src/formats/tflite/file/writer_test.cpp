#include "formats/tflite/file/writer.h"

#include <gmock/gmock.h>
#include <ounce/error.h>

#include <cstring>

#include "data/containers/byte_stream.h"
#include "formats/tflite/file/archive.h"
#include "formats/tflite/file/reader.h"
#include "formats/tflite/file/sparsity.h"
#include "fuzz/sample_tflites.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/tflite_builder.h"

namespace ounce::tflite {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Model> all_samples() { return {small_tflite(), quantized_tflite(), everything_tflite()}; }

Model read(const std::string& bytes) { return read_model_from_memory(bytes, "m.tflite"); }

TEST(TfliteWriterTest, WhatIsReadAndWrittenKeepsItsContent) {
  for (const Model& model : all_samples()) {
    const std::string bytes = to_bytes(model);
    const Model again = read(bytes);
    EXPECT_EQ(again.unwritable, "");
    EXPECT_TRUE(same_content(model, again));
    EXPECT_EQ(to_bytes(again), bytes);
  }
}

TEST(TfliteWriterTest, AnyChangeIsAnotherContent) {
  const Model model = everything_tflite();
  const auto differs = [&](auto change) {
    Model changed = model;
    change(changed);
    return !same_content(model, changed);
  };
  EXPECT_FALSE(differs([](Model&) {}));
  EXPECT_TRUE(differs([](Model& m) { m.subgraphs[0].tensors[0].shape[0] = 2; }));
  EXPECT_TRUE(differs([](Model& m) { m.buffers[1].data = Data(std::string("other")); }));
  EXPECT_TRUE(differs([](Model& m) {
    m.subgraphs[0].operators[0].options.table->set("then_subgraph_index", std::int64_t{2});
  }));
  EXPECT_TRUE(differs([](Model& m) { m.description = "other"; }));
  EXPECT_TRUE(differs([](Model& m) { m.carried.clear(); }));
}

TEST(TfliteWriterTest, BuffersAreAligned) {
  const std::string bytes = to_bytes(everything_tflite());
  const Model model = read(bytes);
  for (const Buffer& buffer : model.buffers) {
    if (!buffer.data.empty()) {
      EXPECT_EQ((buffer.data.bytes().data() - model.texts[0]->data()) % 16, 0);
    }
  }
}

TEST(TfliteWriterTest, EqualBuffersAreWrittenOnce) {
  TfliteBuilder model;
  const std::vector<float> values(1000, 2.5F);
  const auto a = model.weights("a", {1000}, values), b = model.weights("b", {1000}, values),
             sum = model.tensor("sum", {1000});
  model.op(Builtin::kAdd, {a, b}, {sum});
  model.outputs({sum});
  EXPECT_LT(model.bytes().size(), 5000U);
  const Model again = read(model.bytes());
  EXPECT_EQ(again.buffers.size(), 3U);
  EXPECT_TRUE(same_content(model.model, again));
}

TEST(TfliteWriterTest, BuffersOfLargeModelsAreBehindTheFlatbuffer) {
  TfliteBuilder model;
  const auto a = model.weights("a", {5000}, std::vector<float>(5000, 1)), b = model.weights("b", {2}, {3, 4}),
             y = model.tensor("y", {5000}), z = model.tensor("z", {5000});
  model.op(Builtin::kAdd, {a, b}, {y});
  model.custom_op("Large", {y}, {z}, std::string(9000, 'o'));
  model.outputs({z}).metadata("document", std::string(10000, 'm'));
  const std::string inside = model.bytes(), outside = to_bytes(model.model, 4000);
  const Model again = read(outside);
  EXPECT_TRUE(same_content(model.model, again));
  EXPECT_TRUE(same_content(read(inside), again));
  EXPECT_NE(inside, outside);
  EXPECT_EQ(to_bytes(again, 4000), outside);
  // Runtimes look for metadata inside alone.
  EXPECT_LT(outside.find("mmmm"), outside.find("oooo"));
  EXPECT_EQ((again.buffers[1].data.bytes().data() - again.texts[0]->data()) % 16, 0);
}

TEST(TfliteWriterTest, AModelMadeWithBuffersBehindStaysOne) {
  TfliteBuilder model;
  const auto a = model.weights("a", {5000}, std::vector<float>(5000, 1)), y = model.tensor("y", {5000});
  model.op(Builtin::kAdd, {a, a}, {y});
  model.outputs({y}).metadata("buffer_location", "outside flatbuffers");
  EXPECT_EQ(model.bytes(), to_bytes(model.model, 0));
}

TEST(TfliteWriterTest, BothFieldsNameTheOperator) {
  const std::string bytes = to_bytes(small_tflite());
  // CONV_2D: an int8 and an int32 in one table.
  Model model = small_tflite();
  model.operator_codes[0].code = 150;
  EXPECT_NE(to_bytes(model).find('\x7f'), std::string::npos);  // the old field ends there
}

class Zeros final : public io::Production {
 public:
  std::uint64_t source_bytes() const override { return 1; }
  void run(std::span<const io::Place> parts, const ForEach&) const override {
    parts[0].write(0, std::string(8, '\7'));
    parts[1].write(0, std::string(8, '\x9'));
  }
};

TEST(TfliteWriterTest, ValuesAreComputedWhileTheFileIsWritten) {
  TfliteBuilder model;
  const auto a = model.weights("a", {2}, {1, 2}), b = model.weights("b", {2}, {3, 4}),
             y = model.tensor("y", {2});
  model.op(Builtin::kAdd, {a, b}, {y});
  model.outputs({y});
  const auto production = std::make_shared<const Zeros>();
  model.model.buffers[1].data = Data(io::Computed{production, 0, 8});
  model.model.buffers[2].data = Data(io::Computed{production, 1, 8});
  EXPECT_EQ(error_of([&] { model.model.buffers[1].data.bytes(); }).code(), ErrorCode::kInternal);
  const test::TemporaryFolder folder;
  ThreadPool pool(2);
  EXPECT_GT(write_temporary(model.model, folder / "m.tflite", pool), 0U);
  const Model written = read_model(folder / "m.tflite");
  EXPECT_EQ(written.buffers[1].data.bytes(), std::string(8, '\7'));
  EXPECT_EQ(written.buffers[2].data.bytes(), std::string(8, '\x9'));
  EXPECT_TRUE(same_content(read_model_from_memory(model.bytes(), "m.tflite"), written));
}

TEST(TfliteWriterTest, NothingIsLeftOfAnOutputThatIsNotCommitted) {
  const test::TemporaryFolder folder;
  const Model model = small_tflite();
  ThreadPool pool(1);
  {
    ModelOutput output(model, folder / "m.tflite");
    output.write(pool, nullptr);
    EXPECT_TRUE(same_content(output.reopen(), model));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TfliteWriterTest, AModelIsCheckedBeforeItIsWritten) {
  Model model = small_tflite();
  model.subgraphs[0].tensors[0].buffer = 1000;
  EXPECT_EQ(error_of([&] { to_bytes(model); }).code(), ErrorCode::kBadInput);
}

TEST(TfliteArchiveTest, AssociatedFilesMoveWithTheModel) {
  for (const bool counts_from_the_file : {true, false}) {
    const std::string bytes = with_archive(small_tflite(), counts_from_the_file);
    Model model = read(bytes);
    EXPECT_EQ(model.unwritable, "");
    ASSERT_TRUE(model.archive.has_value());
    EXPECT_THAT(archive_names(model), ElementsAre("labels.txt", "more.txt"));
    EXPECT_EQ(to_bytes(model), bytes);
    // A larger model: the archive is elsewhere, and still found.
    model.subgraphs[0].tensors[0].name = model.intern(std::string(1000, 'n'));
    const std::string larger = to_bytes(model);
    const Model again = read(larger);
    EXPECT_TRUE(same_content(model, again));
    EXPECT_FALSE(same_content(small_tflite(), again));
    const auto entries = data::read_zip_directory(
        counts_from_the_file ? std::string_view(larger) : again.archive->bytes, "m.zip");
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].data, "one\ntwo\n");
    EXPECT_EQ(entries[1].data, "three");
  }
}

TEST(TfliteArchiveTest, ADamagedArchiveIsNotDropped) {
  std::string bytes = with_archive(small_tflite(), true);
  bytes[bytes.size() - 30] = '\x7f';
  const Model model = read(bytes.substr(0, bytes.size() - 1));
  EXPECT_FALSE(model.archive.has_value());
  EXPECT_THAT(model.unwritable, HasSubstr("unknown content"));
}

TEST(TfliteSparsityTest, StoredValuesAreInTheirPlaces) {
  const Model model = everything_tflite();
  for (const Tensor& tensor : model.subgraphs[0].tensors) {
    if (!tensor.sparsity) continue;
    const std::string dense = densify(tensor, data_of(model, tensor).bytes());
    std::vector<float> values(16);
    ASSERT_EQ(dense.size(), 64U);
    std::memcpy(values.data(), dense.data(), dense.size());
    EXPECT_THAT(values,
                ElementsAre(0, 0, -0.75F, -0.5F, 0, 0, -0.25F, 0, 0, 0, 0.25F, 0.5F, 0, 0, 0.75F, -0.75F));
  }
}

TEST(TfliteSparsityTest, AFewValuesDoNotBecomeGigabytes) {
  Model model = everything_tflite();
  for (Tensor& tensor : model.subgraphs[0].tensors) {
    if (!tensor.sparsity) continue;
    tensor.shape = {40000, 40000};
    EXPECT_EQ(error_of([&] { densify(tensor, data_of(model, tensor).bytes()); }).code(),
              ErrorCode::kUnsupported);
  }
}

}  // namespace
}  // namespace ounce::tflite
