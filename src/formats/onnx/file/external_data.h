// Tensor bytes in other files: what a reference says, and which paths a model may name.
//
// A model may only name files in its own folder or below: no absolute path, no "..", no drive, no
// backslash, no symbolic link that leads out, and none of the runtime's in-memory markers, which
// would make a loader read from an address of the attacker's choice.
#pragma once

#include <fmt/format.h>
#include <ounce/error.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/onnx/file/cursor.h"
#include "formats/onnx/file/model.h"
#include "io/mapped_file.h"

namespace ounce::onnx {

struct ExternalReference {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

// All of these throw Error{kBadInput} that names the tensor.
ExternalReference read_external_reference(const std::vector<Bytes>& entries, const Origin& origin,
                                          const Tensor& tensor);
void check_external_location(const std::string& location, const Tensor& tensor);
io::MappedFile open_external(const std::filesystem::path& folder, const std::string& location,
                             const Tensor& tensor);

// What is wrong with a tensor of a file, said with the tensor's name.

// Throws Error{kBadInput}.
[[noreturn]] inline void fail(const Tensor& tensor, const std::string& what) {
  throw Error(ErrorCode::kBadInput, what, fmt::format("tensor '{}'", tensor.name));
}

}  // namespace ounce::onnx
