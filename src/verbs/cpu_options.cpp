#include "verbs/cpu_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/cpus.h>
#include <ounce/error.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "verbs/option_kinds.h"

namespace ounce::verbs {

void add_cpu_option(CLI::App& app, std::string& on, const char* help) {
  app.add_option("--on", on, help)->type_name(as_joined_list("CPU"));
}

std::vector<std::string> cpus_of(const std::string& on) {
  if (on == "auto") return other_cpus();
  std::vector<std::string> cpus;
  std::istringstream names(on == "none" ? "" : on);
  for (std::string name; std::getline(names, name, ',');) {
    const std::vector<std::string> known = known_cpus();
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(ErrorCode::kUsage,
                  fmt::format("--on '{}' is no CPU that models can be run on: there are {}", name,
                              fmt::join(known, ", ")));
    cpus.push_back(name);
  }
  return cpus;
}

std::string usual_cpus() {
  const char* const usual = std::getenv("OUNCE_ON");
  return usual == nullptr || *usual == '\0' ? "auto" : usual;
}

}  // namespace ounce::verbs
