// Unpacking for those who have the model in their hands already.
#pragma once

#include <ounce/app/unpack.h>

#include <optional>

#include "app/model_bytes.h"
#include "app/unpacked_file.h"
#include "runtime/library.h"

namespace ounce::app {

struct Unpacking {
  Unpacked result;
  std::optional<UnpackedFile> file;  // the model to load; nothing: `result.why_not`
};

// Throws Failure.
Unpacking unpack_into(const ModelBytes& model, const std::filesystem::path& cache,
                      const std::shared_ptr<const runtime::Library>& library, const UnpackOptions& options);

}  // namespace ounce::app
