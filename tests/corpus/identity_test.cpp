// Tests on all ONNX backend tests that an unchanged model is written back byte for byte.
#include <gmock/gmock.h>

#include "corpus/backend_tests.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/serializer.h"
#include "formats/onnx/graph/validate.h"
#include "support/temporary_folder.h"

namespace ounce {
namespace {

using onnx::Placement;

std::string bytes_of(const onnx::Rope& rope) {
  std::string bytes;
  for (const onnx::Rope::Piece& piece : rope.pieces()) bytes += onnx::Rope::bytes_of(piece);
  return bytes;
}

TEST(Corpus, EveryModelIsReadVerifiedAndWrittenBackIdentical) {
  std::size_t read = 0, identical = 0, identical_anew = 0;
  for (const std::filesystem::path& path : test::backend_models()) {
    SCOPED_TRACE(path.string());
    try {
      const std::string file = test::read_file(path);
      const onnx::Model model = onnx::read_model(path);
      graph::validate(model);
      ++read;
      const bool is_same = bytes_of(onnx::serialize(model, Placement::kKeep, "").model) == file;
      const bool is_same_anew = bytes_of(onnx::serialize(model, Placement::kKeep, "", true).model) == file;
      EXPECT_TRUE(is_same) << "copied messages";
      EXPECT_TRUE(is_same_anew) << "messages encoded again";
      identical += is_same ? 1 : 0;
      identical_anew += is_same_anew ? 1 : 0;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  std::cout << read << " models read and verified, " << identical << " written back identical, "
            << identical_anew << " encoded again and identical\n";
  EXPECT_GE(read, 1000U) << "libonnx-testdata is incomplete";
}

}  // namespace
}  // namespace ounce
