#include <gmock/gmock.h>
#include <ounce/error.h>

#include "formats/tflite/edit/io_editor.h"
#include "formats/tflite/edit/metadata.h"
#include "formats/tflite/file/reader.h"
#include "formats/tflite/file/writer.h"
#include "fuzz/sample_tflites.h"
#include "support/error_of.h"

namespace ounce::tflite {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

Model written(const Model& model) { return read_model_from_memory(to_bytes(model), "m.tflite"); }

TEST(TfliteIoEditorTest, DynamicDimensionsGetASize) {
  Model model = everything_tflite();
  EXPECT_TRUE(is_dynamic(model.subgraphs[0].tensors[0], 0));
  set_shape(model, 0, std::vector<std::int64_t>{3, 4});
  EXPECT_THAT(written(model).subgraphs[0].tensors[0].shape, ElementsAre(3, 4));
  EXPECT_FALSE(is_dynamic(model.subgraphs[0].tensors[0], 0));
}

TEST(TfliteIoEditorTest, StaticDimensionsKeepTheirSize) {
  Model model = everything_tflite();
  const std::vector<std::int64_t> wider = {1, 5}, more = {1, 4, 1}, negative = {-1, 4};
  EXPECT_THAT(error_of([&] { set_shape(model, 0, wider); }).what(), HasSubstr("has 4 in dimension 1, not 5"));
  EXPECT_THAT(error_of([&] { set_shape(model, 0, more); }).what(), HasSubstr("has 2 dimensions, not 3"));
  EXPECT_THAT(error_of([&] { set_shape(model, 0, negative); }).what(), HasSubstr("cannot have -1"));
  set_shape(model, 0, wider, true);
  EXPECT_THAT(model.subgraphs[0].tensors[0].shape, ElementsAre(1, 5));
}

TEST(TfliteIoEditorTest, InnerValuesBecomeOutputs) {
  Model model = small_tflite();
  const auto inner = computed_tensors(model);
  EXPECT_THAT(inner, ElementsAre(1, 2, 3, 4));  // not the output
  append_outputs(model, inner);
  append_outputs(model, inner);  // they are there
  const Model again = written(model);
  EXPECT_THAT(again.subgraphs[0].outputs, ElementsAre(5, 1, 2, 3, 4));
  EXPECT_THAT(output_names(again),
              ElementsAre("y", "ounce_output_1", "ounce_output_2", "ounce_output_3", "ounce_output_4"));
  keep_outputs(model, 1);
  EXPECT_TRUE(same_content(model, small_tflite()));
}

TEST(TfliteMetadataTest, EntriesAreAddedReplacedAndRemoved) {
  Model model = small_tflite();
  set_metadata(model, "key", "one");
  const std::size_t buffers = model.buffers.size();
  set_metadata(model, "key", "two");
  EXPECT_EQ(model.buffers.size(), buffers);
  const Model again = written(model);
  ASSERT_EQ(again.metadata.size(), 1U);
  EXPECT_EQ(again.metadata[0].name, "key");
  EXPECT_EQ(again.buffers[again.metadata[0].buffer].data.bytes(), "two");
  remove_metadata(model, "key");
  remove_metadata(model, "key");
  EXPECT_TRUE(model.metadata.empty());
}

TEST(TfliteMetadataTest, ABufferThatOthersUseIsLeftAlone) {
  Model model = small_tflite();
  set_metadata(model, "key", "one");
  Metadata other = model.metadata[0];
  other.name = "other";
  model.metadata.push_back(other);
  set_metadata(model, "key", "two");
  EXPECT_EQ(model.buffers[model.metadata[1].buffer].data.bytes(), "one");
}

}  // namespace
}  // namespace ounce::tflite
