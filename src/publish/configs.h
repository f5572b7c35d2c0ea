// The text files around a model, as those who load it expect them: its configuration files and its card. Each
// function takes the text of a file that somebody else wrote and gives the new one; what it does not know is
// kept, in its order.
#pragma once

#include <ounce/publish.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace ounce::publication {

// One variant that was written.
struct WrittenVariant {
  std::string stem, variant;   // "model", "q4"
  std::filesystem::path file;  // below the output
  bool has_data = false;       // external
  Format format = Format::kFp32;
  std::set<std::string> op_types;  // of the original
};

// config.json: "transformers.js_config" says which files have external data, and which variant is loaded when
// FP32 is not there. Empty when nothing has to be said: the file stays as it is. Throws Error{kBadInput}.
std::string transformers_config(const std::string& text, const std::vector<WrittenVariant>& written,
                                const std::string& where);

// quantize_config.json, as a record of what was done.
std::string quantize_config(const std::vector<WrittenVariant>& written);

// genai_config.json: "model" names the file. Empty when it does so already. Throws Error{kBadInput}.
std::string genai_config(const std::string& text, const std::vector<std::string>& files,
                         const std::string& where);

// The part of a README.md that is ours: a table of what was measured, between two markers. Everything else in
// the file stays as it is.

inline constexpr const char* kCardBegin = "<!-- ounce:begin -->";
inline constexpr const char* kCardEnd = "<!-- ounce:end -->";

// With its markers.
std::string card_section(const PublishResult& result);

// `section` in the place of the one that `readme` has, or behind its end. An empty one becomes a card with
// `title`. Throws Error{kBadInput} when a marker stands alone.
std::string with_section(const std::string& readme, const std::string& section, const std::string& title,
                         const std::string& where);

}  // namespace ounce::publication
