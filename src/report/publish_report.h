// The results of publish, for people and for programs.
#pragma once

#include <ounce/publish.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ounce::report {

std::string publish_text(const PublishResult& result);
nlohmann::ordered_json publish_json(const PublishResult& result, int exit_code);

}  // namespace ounce::report
