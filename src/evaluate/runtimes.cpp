#include <ounce/cpus.h>
#include <ounce/error.h>
#include <ounce/runtime.h>

#include "base/cpu.h"
#include "runtime/ort/library.h"
#include "runtime/other_cpu.h"

namespace ounce {

std::vector<std::string> known_cpus() { return runtime::other_cpu_names(); }

std::vector<std::string> other_cpus() {
  std::vector<std::string> found;
  for (const char* const name : {"avx2", "arm64"}) {
    try {
      if (!runtime::on_cpu(name, {}).is_this_one) found.emplace_back(name);
    } catch (const Error&) {  // nothing here shows it
    }
  }
  return found;
}

std::string this_cpu() { return cpu_kernels(); }

std::vector<std::string> installed_runtimes() { return runtime::Library::installed_versions(); }

}  // namespace ounce
