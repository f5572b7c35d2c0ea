#include "quantize/digests.h"

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "base/cancel.h"
#include "base/digest.h"
#include "formats/coreml/file/writer.h"
#include "formats/coreml/view/coreml_file.h"
#include "formats/onnx/file/serializer.h"
#include "formats/onnx/view/onnx_file.h"
#include "formats/tflite/edit/metadata.h"
#include "formats/tflite/file/writer.h"
#include "formats/tflite/view/tflite_file.h"
#include "plan/weights/storage.h"
#include "quant/layout.h"

namespace ounce::quantization {

namespace {

// A stretch of the model serialized as one file; it consists of many pieces.
constexpr std::size_t kStretch = std::size_t{4} << 20;

std::vector<std::vector<onnx::Bytes>> stretches_of(const onnx::Rope& rope) {
  std::vector<std::vector<onnx::Bytes>> stretches;
  std::size_t room = 0;
  for (const onnx::Rope::Piece& piece : rope.pieces()) {
    // All bytes of a model that was read are in memory; none are computed on demand.
    for (onnx::Bytes bytes = onnx::Rope::bytes_of(piece); !bytes.empty();) {
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

// Calls `digest` with the index of each stretch and its pieces, on all threads. Calls `begin` first with the
// number of stretches.
template <class Begin, class DigestStretch>
void each_stretch(const model::ModelFile& file, ThreadPool& pool, const Begin& begin,
                  const DigestStretch& digest) {
  const auto each = [&](const auto& model, const io::Rope& rope) {
    const std::vector<std::vector<onnx::Bytes>> stretches = stretches_of(rope);
    begin(stretches.size());
    pool.for_each(stretches.size(), [&](std::size_t i) {
      digest(i, stretches[i]);
      for (const onnx::Bytes& bytes : stretches[i]) model.release(bytes);
    });
  };
  if (file.kind() == model::ModelKind::kTflite) {
    const tflite::Model model = tflite::without_metadata(tflite::as_tflite(file).model());
    return each(model, tflite::serialize(model));
  }
  if (file.kind() == model::ModelKind::kCoreml) {
    const coreml::Model& model = coreml::as_coreml(file).model();
    return each(model, coreml::content_of(model));
  }
  onnx::Model model = onnx::clone(onnx::as_onnx(file).model());
  model.proto.edit().metadata.clear();
  each(model, onnx::serialize(model, onnx::Placement::kInline, {}).model);
}

}  // namespace

std::string content_digest(const model::ModelFile& file, ThreadPool& pool) {
  std::vector<Sha256::Digest> digests;
  each_stretch(
      file, pool, [&](std::size_t count) { digests.resize(count); },
      [&](std::size_t i, const std::vector<onnx::Bytes>& pieces) {
        Sha256 digest;
        for (const onnx::Bytes& bytes : pieces) digest.add(bytes);
        digests[i] = digest.digest();
      });
  return sha256_of({reinterpret_cast<const char*>(digests.data()), digests.size() * sizeof(Sha256::Digest)});
}

std::string weak_content_digest(const model::ModelFile& file, ThreadPool& pool) {
  std::vector<Digest> digests;
  each_stretch(
      file, pool, [&](std::size_t count) { digests.resize(count); },
      [&](std::size_t i, const std::vector<onnx::Bytes>& pieces) {
        std::string text;
        text.reserve(kStretch);
        for (const onnx::Bytes& bytes : pieces) text.append(bytes);
        digests[i] = digest_of(text);
      });
  return hex(digest_of(digests));
}

namespace {

constexpr std::size_t kPiece = std::size_t{4} << 20;  // bytes of a piece between large tensors

// The model file and its weight files, sorted by name.
std::vector<const io::MappedFile*> mapped_files(const model::ModelFile& source) {
  std::vector<const io::MappedFile*> files;
  if (source.kind() == model::ModelKind::kCoreml) {
    const coreml::Model& model = coreml::as_coreml(source).model();
    files = {&model.file};
    for (const auto& [name, weights] : model.weights) files.push_back(&weights.file);
  } else if (source.kind() == model::ModelKind::kTflite) {
    files = {&tflite::as_tflite(source).model().file};
  } else {
    const onnx::Model& model = onnx::as_onnx(source).model();
    files = {&model.file};
    for (const auto& [location, file] : model.external_files) files.push_back(&file);
  }
  return files;
}

// A stretch of a file: either digested in pieces, or a tensor whose digest is known.
struct Stretch {
  onnx::Bytes bytes;
  std::size_t piece = kPiece;
  std::optional<Digest> known;
};

// The large tensors inside `file` in file order; only the first one of tensors that overlap.
std::vector<Stretch> large_tensors(const io::MappedFile& file, const plan::Plan& plan) {
  std::vector<Stretch> tensors;
  for (const plan::Decision& decision : plan.decisions) {
    const auto* borrowed = std::get_if<onnx::Borrowed>(&decision.place.tensor->data);
    if (borrowed == nullptr || borrowed->bytes.size() < plan::kDigestFrom || !file.contains(borrowed->bytes))
      continue;
    const std::size_t tile = quant::kTile * quant::width_of(quant::float_type_of(decision.weight.type));
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

std::string source_digest(const model::ModelFile& source, ThreadPool& pool) {
  if (source.kind() != model::ModelKind::kOnnx) {
    std::vector<Digest> digests;
    for (const io::MappedFile* file : mapped_files(source)) {
      std::vector<Digest> pieces((file->bytes().size() + kPiece - 1) / kPiece);
      pool.for_each(pieces.size(), [&](std::size_t i) {
        const std::string_view piece = file->bytes().substr(i * kPiece, kPiece);
        pieces[i] = digest_of(piece);
        file->release(piece);
      });
      digests.push_back(digest_of(pieces));
    }
    if (digests.size() == 1) return hex(digests.front());
    return hex(digest_of(digests));
  }
  const onnx::OnnxFile& file = onnx::as_onnx(source);
  return source_digest(file.model(), plan::unread_plan(file.index()), pool);
}

std::string source_sha256(const model::ModelFile& source, ThreadPool& pool) {
  const std::vector<const io::MappedFile*> files = mapped_files(source);
  std::vector<std::string> digests(files.size());
  pool.for_each(files.size(), [&](std::size_t i) {
    Sha256 digest;
    for (std::size_t at = 0; at < files[i]->bytes().size(); at += kPiece) {
      throw_if_cancelled();
      const std::string_view piece = files[i]->bytes().substr(at, kPiece);
      digest.add(piece);
      files[i]->release(piece);
    }
    digests[i] = digest.hex();
  });
  if (digests.size() == 1) return digests.front();
  std::string lines;
  for (const std::string& digest : digests) lines += digest + '\n';
  return sha256_of(lines);
}

}  // namespace ounce::quantization
