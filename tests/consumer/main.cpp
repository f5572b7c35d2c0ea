// Quantizes a model with the installed library and checks the result.

#include <ounce/error.h>
#include <ounce/model.h>
#include <ounce/quantize.h>

#include <cstdio>
#include <filesystem>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path model = argv[1];
  const std::filesystem::path output = "consumer.w8.onnx", copied = "consumer.copy.onnx";
  try {
    ounce::QuantizeOptions options;
    options.recipe.format = ounce::Format::kW8;
    const ounce::QuantizeResult result = ounce::quantize(model, output, options);
    std::printf("ounce %s: %.1f %% of the bytes, %.1f dB\n", ounce::version(), 100 * result.ratio(),
                result.sqnr_db);
    const ounce::ModelInfo info = ounce::inspect(output);
    ounce::copy_model(output, copied);
    const bool is_right = result.ratio() < 0.3 && result.sqnr_db > 40 && info.bytes == result.bytes_after &&
                          std::filesystem::file_size(copied) == info.bytes;
    return is_right ? 0 : 1;
  } catch (const ounce::Error& error) {
    std::printf("%s\n", error.what());
    return ounce::exit_code(error.code());
  }
}
