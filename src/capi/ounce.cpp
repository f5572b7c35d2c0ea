// include/ounce/ounce.h: nothing is thrown across it, and what is thrown behind it becomes a code and a
// message.
#include <ounce/error.h>
#include <ounce/file_guard.h>
#include <ounce/ounce.h>
#include <ounce/version.h>

#include <nlohmann/json.hpp>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/text.h"
#include "capi/call.h"
#include "verbs/host.h"

struct ounce_call {
  explicit ounce_call(const char* verb) : call(verb == nullptr ? "" : verb) {}

  ounce::capi::ApiCall call;
  std::string help;
  ounce_error error = {OUNCE_OK, nullptr};
};

namespace {

constexpr std::size_t kAnswerBytes = std::size_t{64} << 10;

// Inside a catch block.
int keep_failure(ounce_call& call) {
  const ounce::verbs::Failure failure = ounce::verbs::current_failure();
  ounce::capi::Outcome& outcome = call.call.outcome;
  outcome.code = failure.exit_code;
  outcome.error += (outcome.error.empty() ? "" : "\n") + ounce::escaped_lines(ounce::plain(failure.message));
  return failure.exit_code;
}

// Does `work`; what it throws is the call's error. No memory for its words: the code alone tells.
template <class Work>
int guarded(ounce_call* call, const Work& work) noexcept {
  if (call == nullptr) return OUNCE_BAD_REQUEST;
  int code = OUNCE_OK;
  const ounce::verbs::NamesParameters names;
  try {
    try {
      work();
    } catch (...) {
      code = keep_failure(*call);
    }
  } catch (...) {
    code = OUNCE_IO;
  }
  const ounce::capi::Outcome& outcome = call->call.outcome;
  if (code == OUNCE_OK) code = outcome.code;
  call->error = {code, outcome.error.c_str()};
  return code;
}

void require(bool is_given, const char* what) {
  if (!is_given) throw ounce::Error(ounce::ErrorCode::kUsage, std::string(what) + " is NULL");
}

ounce::ArrayView view_of(const ounce_array& array) {
  require(array.name != nullptr, "the name of an array");
  require(array.type != nullptr, "the type of an array");
  require(array.shape != nullptr || array.rank == 0, "the shape of an array");
  return {array.name, array.type, {array.shape, array.shape + array.rank}, array.values};
}

}  // namespace

void ounce_set_file_guard(int is_on) { ounce::set_file_guard(is_on != 0); }

uint32_t ounce_abi_version(void) { return OUNCE_ABI_VERSION; }

const char* ounce_version(void) { return ounce::version(); }

const char* ounce_verbs(void) {
  static const std::string verbs = []() -> std::string {
    try {
      return nlohmann::json(ounce::capi::all_verbs()).dump();
    } catch (...) {
      return "[]";
    }
  }();
  return verbs.c_str();
}

ounce_call* ounce_call_new(const char* verb) {
  try {
    return new ounce_call(verb);
  } catch (...) {
    return nullptr;
  }
}

void ounce_call_free(ounce_call* call) { delete call; }

const char* ounce_call_help(ounce_call* call) {
  const int code = guarded(call, [&] { call->help = call->call.help(); });
  return code == OUNCE_OK ? call->help.c_str() : nullptr;
}

int ounce_call_options(ounce_call* call, const char* json) {
  return guarded(call, [&] {
    require(json != nullptr, "the text of the options");
    call->call.add_options(json);
  });
}

int ounce_call_model(ounce_call* call, const char* argument, const void* bytes, size_t size) {
  return guarded(call, [&] {
    require(argument != nullptr, "the name of the argument");
    require(bytes != nullptr || size == 0, "the model");
    call->call.add_model(argument, {static_cast<const char*>(bytes), size});
  });
}

int ounce_call_array(ounce_call* call, const ounce_array* array) {
  return guarded(call, [&] {
    require(array != nullptr, "the array");
    call->call.add_array(view_of(*array));
  });
}

int ounce_call_sample(ounce_call* call, const ounce_array* arrays, size_t count, int has_batch_axis) {
  return guarded(call, [&] {
    require(arrays != nullptr || count == 0, "the list of arrays");
    std::vector<ounce::ArrayView> views;
    for (size_t i = 0; i < count; ++i) views.push_back(view_of(arrays[i]));
    call->call.add_sample(std::move(views), has_batch_axis != 0);
  });
}

int ounce_call_metric(ounce_call* call, ounce_metric metric, void* user) {
  return guarded(call, [&] {
    require(metric != nullptr, "the metric");
    call->call.set_metric([metric, user](const std::filesystem::path& folder) {
      std::vector<char> answer(kAnswerBytes);
      const int code = metric(user, folder.c_str(), answer.data(), answer.size());
      const std::string said(answer.data(), strnlen(answer.data(), answer.size()));
      if (code != 0) {
        throw ounce::Error(ounce::ErrorCode::kUsage,
                           "the metric function failed" + (said.empty() ? "" : ": " + said));
      }
      return said;
    });
  });
}

int ounce_call_on_progress(ounce_call* call, ounce_progress progress, void* user) {
  return guarded(call, [&] {
    require(progress != nullptr, "the callback");
    call->call.set_on_progress(
        [progress, user](const std::string& what, const char* stage, uint64_t done, uint64_t total) {
          return progress(user, what.c_str(), stage, done, total) != 0;
        });
  });
}

int ounce_call_run(ounce_call* call) {
  if (call != nullptr && call->error.code != OUNCE_OK) return call->error.code;  // of what it was given
  return guarded(call, [&] { call->call.run(); });
}

void ounce_call_stop(ounce_call* call) {
  if (call != nullptr) call->call.stop();
}

const char* ounce_call_document(const ounce_call* call) {
  if (call == nullptr || !call->call.outcome.document) return nullptr;
  return call->call.outcome.document->c_str();
}

const char* ounce_call_text(const ounce_call* call) {
  return call == nullptr ? "" : call->call.outcome.text.c_str();
}

const ounce_error* ounce_call_error(const ounce_call* call) {
  if (call == nullptr || call->error.code == OUNCE_OK) return nullptr;
  const int code = call->error.code;
  // Without words these are results; the others may lack words for lack of memory.
  const bool may_be_result = code < OUNCE_IO || code == OUNCE_UNPROVED;
  return may_be_result && call->call.outcome.error.empty() ? nullptr : &call->error;
}

const void* ounce_call_output(const ounce_call* call, size_t* size) {
  if (call == nullptr || size == nullptr || !call->call.outcome.output) return nullptr;
  *size = call->call.outcome.output->bytes().size();
  return call->call.outcome.output->bytes().data();
}
