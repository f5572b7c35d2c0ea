#include "onnx/write_temporary.h"

#include "onnx/writer.h"

namespace ounce::onnx {

std::uint64_t write_temporary(const Model& model, const std::filesystem::path& file, ThreadPool& pool) {
  ModelOutput output(model, file, {ExternalData::kAuto, "0"});
  output.write(pool, nullptr);
  output.commit();
  return output.total_bytes();
}

}  // namespace ounce::onnx
