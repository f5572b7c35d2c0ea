// Questions and answers as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <ounce/error.h>
#include <ounce/work.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/json_text.h"

namespace ounce::queue {

inline constexpr JsonLimits kQueueJson = {.depth = 32, .bytes = std::size_t{256} << 20};

// The text that workers read: `question` with its session.
std::string with_session(const std::string& question, const nlohmann::json& session);
bool needs_times(const nlohmann::json& question);
// The JSON of an object that is not empty, with further fields. Answers may have many MB, so they are not
// parsed for this.
std::string with_fields(const nlohmann::json& fields, const std::string& object);

// The error that an answer reports instead of a value.
std::optional<Error> error_in(const nlohmann::json& answer);

}  // namespace ounce::queue
