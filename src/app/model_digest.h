// What tells one model from another: digests over the model and its external data.
//
//   const ModelDigest files(model);
//   files.identity();   // 32 digits, fast: names files in the cache. Not for security.
//   files.sha256();     // 64 digits: the model is the very one that was expected
//
// Without external data these are the digests of the model's bytes; the second one is what `sha256sum`
// prints. With external data both are digests of digests: of the model's, then of each external file's in the
// byte order of the locations that the model names. For SHA-256 the digests are lines of text:
//
//   sha256sum model.onnx a.bin b.bin | cut -d ' ' -f 1 | sha256sum
#pragma once

#include <string>

#include "app/model_bytes.h"
#include "onnx/model.h"

namespace ounce::app {

class ModelDigest {
 public:
  // Opens the external data; that of a model without a path is not covered. Throws Error.
  explicit ModelDigest(const ModelBytes& model);

  std::string identity() const;
  std::string sha256() const;

 private:
  const ModelBytes& model_;
  onnx::Model read_;  // holds the external data
};

// The identity, or nothing for a model that we cannot read; the runtime may still load it.
std::string identity_or_nothing(const ModelBytes& model);

}  // namespace ounce::app
