// The results of publish, for people and for programs.
#pragma once

#include <ounce/publish.h>

#include <string>

namespace ounce::report {

std::string publish_text(const PublishResult& result);

}  // namespace ounce::report
