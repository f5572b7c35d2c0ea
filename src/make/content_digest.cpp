#include "make/content_digest.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "base/digest.h"
#include "onnx/serializer.h"

namespace ounce::make {
namespace {

// A stretch of the model as it would stand in one file, which has many pieces of others in it.
constexpr std::size_t kStretch = std::size_t{4} << 20;

onnx::Bytes bytes_of_piece(const onnx::Rope::Piece& piece) {
  if (const auto* text = std::get_if<std::string>(&piece)) return *text;
  return std::get<onnx::Bytes>(piece);  // nothing in a model that was read is computed
}

std::vector<std::vector<onnx::Bytes>> stretches_of(const onnx::Rope& rope) {
  std::vector<std::vector<onnx::Bytes>> stretches;
  std::size_t room = 0;
  for (const onnx::Rope::Piece& piece : rope.pieces()) {
    for (onnx::Bytes bytes = bytes_of_piece(piece); !bytes.empty();) {
      if (room == 0) {
        stretches.emplace_back();
        room = kStretch;
      }
      const std::size_t size = std::min(room, bytes.size());
      stretches.back().push_back(bytes.substr(0, size));
      bytes.remove_prefix(size);
      room -= size;
    }
  }
  return stretches;
}

}  // namespace

std::string content_digest(onnx::Model model, ThreadPool& pool) {
  model.proto.edit().metadata.clear();
  const onnx::Serialized serialized = onnx::serialize(model, onnx::Placement::kInline, {});
  const std::vector<std::vector<onnx::Bytes>> stretches = stretches_of(serialized.model);
  std::vector<Digest> digests(stretches.size());
  pool.for_each(stretches.size(), [&](std::size_t i) {
    std::string text;
    text.reserve(kStretch);
    for (const onnx::Bytes& bytes : stretches[i]) {
      text.append(bytes);
      model.release(bytes);
    }
    digests[i] = digest_of(text);
  });
  return hex(digest_of(digests));
}

}  // namespace ounce::make
