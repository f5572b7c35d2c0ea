// The contract as JSON, which is how it stands in a model's metadata and in files; TOML says the same.
//
//   {"version": 1,
//    "inputs": {"pixel_values": {"kind": "image", "size": {"height": 224, "width": 224}, "resample":
//    "bilinear",
//                                "rescale_factor": 0.00392156862745098, "image_mean": […], "image_std":
//                                […]}},
//    "golden": {"sample": "cat.jpg", "input_digest": "…", "output_digest": "…", "outputs": {"logits": […]}}}
//
// A file without "inputs" is the contract of one input, and Hugging Face's preprocessor_config.json is such a
// file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ounce/contract.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "model/model_file.h"

namespace ounce::data {

// The key of an input that a file does not name: it means the model's only one.
inline constexpr const char* kOnlyInput = "";

// Throw Error{kBadInput}; `where` names the file or the metadata key.
Contract parse_contract(std::string_view json, const std::string& where);
Contract parse_contract_toml(std::string_view toml, const std::string& where);
Contract read_contract(const nlohmann::ordered_json& json, const std::string& where);
std::string write_contract(const Contract& contract, int indent);  // -1: on one line

// The contract that a model carries in its metadata; nothing when it carries none. Throws what open_model() throws, and Error{kBadInput} when it cannot be read.
std::optional<Contract> contract_in(const model::ModelFile& file);
std::optional<Contract> contract_in(const std::filesystem::path& model);

}  // namespace ounce::data
