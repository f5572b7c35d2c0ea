#include "make/content_digest.h"

#include <vector>

#include "base/digest.h"
#include "onnx/top_fields.h"

namespace ounce::make {
namespace {

constexpr std::size_t kDigestPiece = std::size_t{4} << 20;

}  // namespace

std::string content_digest(const onnx::Model& model, ThreadPool& pool) {
  std::vector<onnx::Bytes> pieces;
  const auto add = [&](onnx::Bytes bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += kDigestPiece)
      pieces.push_back(bytes.substr(at, kDigestPiece));
  };
  for (const onnx::Bytes& field : onnx::fields_without_metadata(model.file.bytes())) add(field);
  for (const auto& [location, file] : model.external_files) add(file.bytes());
  std::vector<Digest> digests(pieces.size());
  pool.for_each(pieces.size(), [&](std::size_t i) {
    digests[i] = digest_of(pieces[i]);
    model.release(pieces[i]);
  });
  return hex(digest_of(digests));
}

}  // namespace ounce::make
