// make_tflites FOLDER EXAMPLE.onnx: writes the TFLite models of the command-line tests into a folder: the
// embedded example, channels last, and small ones.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "formats/tflite/file/writer.h"
#include "fuzz/sample_tflites.h"
#include "support/example_tflite.h"
#include "support/temporary_folder.h"

int main(int count, char** arguments) {
  using namespace ounce;
  if (count != 3) return 2;
  const std::filesystem::path folder = arguments[1];
  try {
    test::write_file(folder / "example.tflite", to_bytes(tflite::example_tflite(arguments[2])));
    test::write_file(folder / "small.tflite", to_bytes(tflite::small_tflite()));
    test::write_file(folder / "integers.tflite", to_bytes(tflite::quantized_tflite()));
    test::write_file(folder / "everything.tflite", tflite::with_archive(tflite::everything_tflite(), true));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_tflites: %s\n", error.what());
    return 1;
  }
}
