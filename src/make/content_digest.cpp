#include "make/content_digest.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "base/digest.h"
#include "base/sha256.h"
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

// Calls `digest` with the number of each stretch and the pieces of the model that it consists of, on all threads.
// `begin` is told how many there are.
template <class Begin, class DigestStretch>
void each_stretch(onnx::Model model, ThreadPool& pool, const Begin& begin, const DigestStretch& digest) {
  model.proto.edit().metadata.clear();
  const onnx::Serialized serialized = onnx::serialize(model, onnx::Placement::kInline, {});
  const std::vector<std::vector<onnx::Bytes>> stretches = stretches_of(serialized.model);
  begin(stretches.size());
  pool.for_each(stretches.size(), [&](std::size_t i) {
    digest(i, stretches[i]);
    for (const onnx::Bytes& bytes : stretches[i]) model.release(bytes);
  });
}

}  // namespace

std::string content_digest(onnx::Model model, ThreadPool& pool) {
  std::vector<Sha256::Digest> digests;
  each_stretch(
      std::move(model), pool, [&](std::size_t count) { digests.resize(count); },
      [&](std::size_t i, const std::vector<onnx::Bytes>& pieces) {
        Sha256 digest;
        for (const onnx::Bytes& bytes : pieces) digest.add(bytes);
        digests[i] = digest.digest();
      });
  return sha256_of({reinterpret_cast<const char*>(digests.data()), digests.size() * sizeof(Sha256::Digest)});
}

std::string weak_content_digest(onnx::Model model, ThreadPool& pool) {
  std::vector<Digest> digests;
  each_stretch(
      std::move(model), pool, [&](std::size_t count) { digests.resize(count); },
      [&](std::size_t i, const std::vector<onnx::Bytes>& pieces) {
        std::string text;
        text.reserve(kStretch);
        for (const onnx::Bytes& bytes : pieces) text.append(bytes);
        digests[i] = digest_of(text);
      });
  return hex(digest_of(digests));
}

}  // namespace ounce::make
