#include <ounce/copy.h>
#include <ounce/error.h>

#include "base/cancel.h"
#include "formats/onnx/file/reader.h"
#include "formats/onnx/file/writer.h"
#include "formats/onnx/graph/validate.h"
#include "io/output_file.h"
#include "quantize/output_place.h"
#include "quantize/statement.h"

namespace ounce {

CopyResult copy_model(const std::filesystem::path& path, const std::filesystem::path& output_path,
                      ExternalData external_data, Progress* progress, const std::string& data_name) {
  const Call call(progress);
  ThreadPool pool;
  const onnx::Model model = onnx::read_model(path);
  graph::verify(model);
  quantization::Inputs(model).require_apart(output_path);
  io::require_place(output_path);
  // Data of the same content may keep its name, so the tag is made of the content.
  const std::string tag = quantization::source_digest(model, {}, pool).substr(0, 16);
  onnx::ModelOutput output(model, output_path, {external_data, tag, data_name});
  output.write(pool, progress == nullptr ? nullptr : &progress->done);
  graph::verify(output.reopen());
  const CopyResult result{path, output_path, onnx::bytes_of(model), output.total_bytes()};
  output.commit();
  return result;
}

}  // namespace ounce
