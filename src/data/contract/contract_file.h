// Reads and writes preprocessing contracts as JSON (in a model's metadata and in files), reads them as TOML,
// and compares golden samples.
//
//   {"version": 1,
//    "inputs": {"pixel_values": {"kind": "image", "size": {"height": 224, "width": 224},
//                                "resample": "bilinear", "rescale_factor": 0.00392156862745098,
//                                "image_mean": […], "image_std": […]}},
//    "golden": {"sample": "cat.jpg", "input_digest": "…", "output_digest": "…", "outputs": {"logits": […]}}}
//
// A file without "inputs" is the contract of a single input. Hugging Face's preprocessor_config.json is such
// a file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ounce/data.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"
#include "model/model_file.h"

namespace ounce::data {

// The name of an input that the file does not name: the model's only input.
inline constexpr const char* kOnlyInput = "";

// Parse a contract. Throw Error{kBadInput}; `where` names the file or the metadata key.
Contract parse_contract(std::string_view json, const std::string& where);
Contract parse_contract_toml(std::string_view toml, const std::string& where);
Contract read_contract(const nlohmann::ordered_json& json, const std::string& where);
std::string write_contract(const Contract& contract, int indent);  // as JSON; indent −1: on one line

// The contract in a model's metadata, if it has one. Throws the errors of open_model(), and Error{kBadInput}
// for an invalid contract.
std::optional<Contract> contract_in(const model::ModelFile& file);
std::optional<Contract> contract_in(const std::filesystem::path& model);

// Golden sample of a contract: the command line and apps record and compare it with these functions.

// A digest of the types, shapes and values of all tensors in their order.
std::string digest_of_tensors(std::span<const TensorView> tensors);

// An evenly spaced selection of an output's values; empty for strings.
std::vector<double> golden_values(const TensorView& output);

// The SQNR of values compared with the recorded ones: infinite if they are equal, minus infinity if their
// number differs or if only one value of a pair is finite.
double golden_sqnr_db(std::span<const double> recorded, std::span<const double> now);

}  // namespace ounce::data
