// The verbs that run models, in a library that was built without ONNX Runtime.
#include <ounce/advise.h>
#include <ounce/app/unpack.h>
#include <ounce/bench.h>
#include <ounce/cpus.h>
#include <ounce/decode.h>
#include <ounce/error.h>
#include <ounce/publish.h>
#include <ounce/sensitivity.h>
#include <ounce/tune.h>
#include <ounce/verify.h>

#include "base/cpu.h"

namespace ounce {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::kUnsupported, "this ounce was built without ONNX Runtime and cannot run models");
}

}  // namespace

bool has_runtime() noexcept { return false; }
std::vector<std::string> installed_runtimes() { return {}; }
std::vector<std::string> known_cpus() { return {}; }
std::vector<std::string> other_cpus() { return {}; }
std::string this_cpu() { return cpu_kernels(); }
std::shared_ptr<ReferenceRuns> keep_reference_runs(std::uint64_t) { return nullptr; }
VerifyResult verify(const std::filesystem::path&, const std::filesystem::path&, const VerifyOptions&) {
  refuse();
}
AdviseResult advise(const std::filesystem::path&, const AdviseOptions&) { refuse(); }
SensitivityResult sensitivity(const std::filesystem::path&, const SensitivityOptions&) { refuse(); }
TuneResult tune(const std::filesystem::path&, const std::filesystem::path&, const TuneOptions&) { refuse(); }
std::size_t PublishResult::written() const { return 0; }
bool PublishResult::passed() const { return false; }
PublishResult publish(const std::filesystem::path&, const std::filesystem::path&, const PublishOptions&) {
  refuse();
}
double DecodeResult::perplexity() const { return 0; }
DecodeReport decode(const std::vector<std::filesystem::path>&, const DecodeOptions&) { refuse(); }
BenchReport bench(const std::vector<std::filesystem::path>&, const BenchOptions&) { refuse(); }

namespace app {

Unpacked unpack(const std::filesystem::path&, const std::filesystem::path&, const UnpackOptions&) {
  refuse();
}

}  // namespace app

}  // namespace ounce
