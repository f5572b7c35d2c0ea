// Preprocessing contracts as JSON, in a model's metadata and in files, or as TOML; and their golden sample.
//
//   {"version": 1,
//    "inputs": {"pixel_values": {"kind": "image", "size": {"height": 224, "width": 224},
//                                "resample": "bilinear", "rescale_factor": 0.00392156862745098,
//                                "image_mean": […], "image_std": […]}},
//    "golden": {"sample": "cat.jpg", "input_digest": "…", "output_digest": "…", "outputs": {"logits": […]}}}
//
// A file without "inputs" is the contract of one input, and Hugging Face's preprocessor_config.json is such a
// file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ounce/contract.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"
#include "model/model_file.h"

namespace ounce::data {

// The key of an input without a name in the file: the only input of the model.
inline constexpr const char* kOnlyInput = "";

// Throw Error{kBadInput}; `where` names the file or the metadata key.
Contract parse_contract(std::string_view json, const std::string& where);
Contract parse_contract_toml(std::string_view toml, const std::string& where);
Contract read_contract(const nlohmann::ordered_json& json, const std::string& where);
std::string write_contract(const Contract& contract, int indent);  // -1: on one line

// The contract in a model's metadata; nothing when it has none. Throws what open_model()
// throws, and Error{kBadInput} when it cannot be read.
std::optional<Contract> contract_in(const model::ModelFile& file);
std::optional<Contract> contract_in(const std::filesystem::path& model);

// The golden sample of a contract: the command line and apps record it, and compare it, with these functions.

// A digest of types, shapes and values, in their order.
std::string digest_of_tensors(std::span<const TensorView> tensors);

// Some of an output's values, spread evenly; nothing for strings.
std::vector<double> golden_values(const TensorView& output);

// The SQNR of values against the recorded ones: infinite when they are equal, minus infinity when their
// number differs, or when only one of two is finite.
double golden_sqnr_db(std::span<const double> recorded, std::span<const double> now);

}  // namespace ounce::data
