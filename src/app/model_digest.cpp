#include "app/model_digest.h"

#include <ounce/error.h>

#include "base/digest.h"
#include "base/sha256.h"
#include "onnx/reader.h"

namespace ounce::app {

ModelDigest::ModelDigest(const ModelBytes& model) : model_(model) {
  // The runtime's own format holds all of its weights.
  if (!model.is_ort() && !model.path().empty()) read_ = onnx::read_model(model.path());
}

std::string ModelDigest::identity() const {
  const Digest own = digest_of(model_.bytes());
  if (read_.external_files.empty()) return hex(own);
  std::vector<Digest> all = {own};
  for (const auto& [location, file] : read_.external_files) all.push_back(digest_of(file.bytes()));
  return hex(digest_of(all));
}

std::string ModelDigest::sha256() const {
  const std::string own = sha256_of(model_.bytes());
  if (read_.external_files.empty()) return own;
  std::string lines = own + '\n';
  for (const auto& [location, file] : read_.external_files) lines += sha256_of(file.bytes()) + '\n';
  return sha256_of(lines);
}

std::string identity_or_nothing(const ModelBytes& model) {
  try {
    return ModelDigest(model).identity();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace ounce::app
