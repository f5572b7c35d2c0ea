// The results of unpack, for people and for programs.
#pragma once

#include <ounce/app/unpack.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ounce::report {

// One model of a run: what became of it, or why nothing did.
struct UnpackRow {
  std::filesystem::path model;
  app::Unpacked unpacked;
  std::string error;
  int exit_code = 0;
};

std::string unpack_text(const UnpackRow& row);
std::string unpack_table(const std::vector<UnpackRow>& rows);  // for several models
nlohmann::ordered_json unpack_json(const std::vector<UnpackRow>& rows);

}  // namespace ounce::report
