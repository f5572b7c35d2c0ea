// The configuration files around a model, as those who load it expect them. Each function takes the text of a
// file that somebody else wrote and gives the new one; what it does not know stays, in its order.
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

}  // namespace ounce::publication
