#include "make/source_digest.h"

#include <algorithm>
#include <optional>

#include "base/cancel.h"
#include "base/digest.h"
#include "base/sha256.h"
#include "plan/by_values.h"
#include "plan/sources.h"
#include "quant/tiles.h"

namespace ounce::make {
namespace {

constexpr std::size_t kPiece = std::size_t{4} << 20;  // of what lies between large tensors

// A stretch of a file: to be digested in pieces, or a tensor whose digest is known.
struct Stretch {
  onnx::Bytes bytes;
  std::size_t piece = kPiece;
  std::optional<Digest> known;
};

// The large tensors that stand inside `file`, in the order of their places; of those that overlap, the first.
std::vector<Stretch> large_tensors(const io::MappedFile& file, const plan::Plan& plan) {
  std::vector<Stretch> tensors;
  for (const plan::Decision& decision : plan.decisions) {
    const auto* borrowed = std::get_if<onnx::Borrowed>(&decision.weight.tensor->data);
    if (borrowed == nullptr || borrowed->bytes.size() < plan::kDigestFrom || !file.contains(borrowed->bytes))
      continue;
    const std::size_t tile =
        quant::kTile * quant::width_of(plan::float_type_of(decision.weight.tensor->type));
    tensors.push_back({borrowed->bytes, tile, decision.digest});
  }
  std::stable_sort(tensors.begin(), tensors.end(),
                   [](const Stretch& a, const Stretch& b) { return a.bytes.data() < b.bytes.data(); });
  return tensors;
}

void add_stretches(const io::MappedFile& file, const plan::Plan& plan, std::vector<Stretch>& stretches) {
  const onnx::Bytes all = file.bytes();
  std::size_t at = 0;
  for (const Stretch& tensor : large_tensors(file, plan)) {
    const auto first = static_cast<std::size_t>(tensor.bytes.data() - all.data());
    if (first < at) continue;
    stretches.push_back({all.substr(at, first - at), kPiece, std::nullopt});
    stretches.push_back(tensor);
    at = first + tensor.bytes.size();
  }
  stretches.push_back({all.substr(at), kPiece, std::nullopt});
}

}  // namespace

std::string source_digest(const onnx::Model& source, const plan::Plan& plan, ThreadPool& pool) {
  std::vector<Stretch> stretches;
  add_stretches(source.file, plan, stretches);
  for (const auto& [location, file] : source.external_files) add_stretches(file, plan, stretches);

  std::vector<onnx::Bytes> pieces;
  for (const Stretch& stretch : stretches) {
    if (stretch.known) continue;
    for (std::size_t at = 0; at < stretch.bytes.size(); at += stretch.piece) {
      pieces.push_back(stretch.bytes.substr(at, stretch.piece));
    }
  }
  std::vector<Digest> digests(pieces.size());
  pool.for_each(pieces.size(), [&](std::size_t i) {
    digests[i] = digest_of(pieces[i]);
    source.release(pieces[i]);
  });

  std::vector<Digest> parts;
  auto next = digests.begin();
  for (const Stretch& stretch : stretches) {
    const auto count =
        static_cast<std::ptrdiff_t>((stretch.bytes.size() + stretch.piece - 1) / stretch.piece);
    if (stretch.known) {
      parts.push_back(*stretch.known);
    } else {
      parts.push_back(digest_of(std::vector<Digest>(next, next + count)));
      next += count;
    }
  }
  return hex(digest_of(parts));
}

std::string source_sha256(const onnx::Model& source, ThreadPool& pool) {
  std::vector<onnx::Bytes> files = {source.file.bytes()};
  for (const auto& [location, file] : source.external_files) files.push_back(file.bytes());
  std::vector<std::string> digests(files.size());
  pool.for_each(files.size(), [&](std::size_t i) {
    Sha256 digest;
    for (std::size_t at = 0; at < files[i].size(); at += kPiece) {
      throw_if_cancelled();
      const onnx::Bytes piece = files[i].substr(at, kPiece);
      digest.add(piece);
      source.release(piece);
    }
    digests[i] = digest.hex();
  });
  if (digests.size() == 1) return digests.front();
  std::string lines;
  for (const std::string& digest : digests) lines += digest + '\n';
  return sha256_of(lines);
}

}  // namespace ounce::make
