// Unpacking for those who have the model in their hands already.
#pragma once

#include <ounce/app/unpack.h>

#include <optional>

#include "app/model_bytes.h"
#include "app/unpacked_file.h"
#include "runtime/ort/library.h"

namespace ounce::app {

struct Unpacking {
  Unpacked result;
  std::optional<UnpackedFile> file;  // the model to load; nothing: `result.why_not`
};

// `identity` is that of model_digest.h. Throws Failure.
Unpacking unpack_into(const ModelBytes& model, const std::string& identity,
                      const std::filesystem::path& cache,
                      const std::shared_ptr<const runtime::Library>& library, const UnpackOptions& options,
                      Verification verification);

}  // namespace ounce::app
