// Updates the configuration files and the model card that belong to a published model. Each function takes
// the text of an existing file and returns the new text. Unknown entries are kept, in their order.
#pragma once

#include <ounce/publish.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace ounce::publication {

// A variant that was written.
struct WrittenVariant {
  std::string stem, variant;   // "model", "q4"
  std::filesystem::path file;  // relative to the output folder
  bool has_data = false;       // has external data
  Format format = Format::kFp32;
  std::set<std::string> op_types;  // of the original model
};

// config.json: sets "transformers.js_config" to the files with external data, and to the variant to load if
// there is no FP32 model. Returns an empty string if nothing changes. Throws Error{kBadInput}.
std::string transformers_config(const std::string& text, const std::vector<WrittenVariant>& written,
                                const std::string& where);

// quantize_config.json: records how the variants were quantized.
std::string quantize_config(const std::vector<WrittenVariant>& written);

// genai_config.json: sets the file names in "model". Returns an empty string if they are right already.
// Throws Error{kBadInput}.
std::string genai_config(const std::string& text, const std::vector<std::string>& files,
                         const std::string& where);

// The generated section of a README.md, between two markers. The rest of the file is kept.

inline constexpr const char* kCardBegin = "<!-- ounce:begin -->";
inline constexpr const char* kCardEnd = "<!-- ounce:end -->";

// The section, with its markers: a table of the variants and their measurements.
std::string card_section(const PublishResult& result);

// Replaces the section of `readme`, or appends it. An empty `readme` becomes a card with `title`. Throws
// Error{kBadInput} if only one marker is present.
std::string with_section(const std::string& readme, const std::string& section, const std::string& title,
                         const std::string& where);

}  // namespace ounce::publication
