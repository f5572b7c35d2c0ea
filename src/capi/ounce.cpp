// The C API (include/ounce/ounce.h) on top of the verbs. No exception crosses it: each becomes a code and a
// message.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/data.h>
#include <ounce/error.h>
#include <ounce/ounce.h>
#include <ounce/runtime.h>

#include <nlohmann/json.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/cancel.h"
#include "base/json_text.h"
#include "base/text.h"
#include "io/mapped_file.h"
#include "io/temporary_files.h"
#include "verbs/json_options.h"
#include "verbs/options.h"
#include "verbs/verb.h"

namespace ounce::capi {

using nlohmann::ordered_json;

constexpr auto kBetween = std::chrono::milliseconds(100);  // calls of the progress callback

// The results of a call.
struct Outcome {
  int code = 0;
  std::string error;  // empty: none
  std::string text;
  std::optional<std::string> document;
  std::optional<io::MappedFile> output;
};

// Returns true to stop.
using OnProgress =
    std::function<bool(const std::string& what, const char* stage, std::uint64_t done, std::uint64_t total)>;
using Metric = std::function<std::string(const std::filesystem::path& folder)>;

// Reports progress to the callback from a thread of its own as long as it lives.
class CallbackWatch : public verbs::Watch {
 public:
  CallbackWatch(std::string what, Progress& whole, const OnProgress& on_progress)
      : thread_([this, what = std::move(what), &whole, &on_progress] {
          std::unique_lock lock(mutex_);
          while (!ended_.wait_for(lock, kBetween, [this] { return is_over_; })) {
            lock.unlock();
            if (on_progress(what, progress.stage.load(), progress.done.load(), progress.total.load()))
              whole.stop();
            lock.lock();
          }
        }) {}

  ~CallbackWatch() override {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }
  CallbackWatch(const CallbackWatch&) = delete;
  CallbackWatch& operator=(const CallbackWatch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;  // the last: it uses all of the others
};

// Keeps the output of a verb for the caller, and reports progress to its callback.
class CallHost : public verbs::Host {
 public:
  // All of them must outlive it; `whole` is stopped when the callback says so.
  CallHost(Outcome& outcome, Progress& whole, const OnProgress& on_progress)
      : outcome_(outcome), whole_(whole), on_progress_(on_progress) {}

  std::unique_ptr<verbs::Watch> watch(const std::string& what) override {
    if (!on_progress_) return std::make_unique<verbs::Watch>();
    return std::make_unique<CallbackWatch>(what, whole_, on_progress_);
  }

 protected:
  void write(verbs::Stream, const std::string& text) override { outcome_.text += text; }
  void write_document(const std::string& document) override { outcome_.document = document; }
  void write_complaint(const std::string& line) override {
    outcome_.error += (outcome_.error.empty() ? "" : "\n") + line;
  }
  void write_passing(const std::string&) override {}  // the report repeats it

 private:
  Outcome& outcome_;
  Progress& whole_;
  const OnProgress& on_progress_;
};

namespace {

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw Error(ErrorCode::kIo, "cannot be written: is the disk full?", path.string());
}

}  // namespace

// One run of one verb. Errors are thrown; guarded() makes codes of them.
class ApiCall {
 public:
  explicit ApiCall(std::string verb) : verb_(std::move(verb)) {}

  std::string help() const {
    return json_text(verbs::describe(verbs::find_verb(verbs::all_verbs(), verb_), verb_));
  }

  void add_options(std::string_view json) {
    const auto added = parse_json<ordered_json>(json, {}, "options");
    if (!added.is_object())
      throw Error(ErrorCode::kUsage, "options are a JSON object such as {\"to\": \"w8\"}");
    options_.update(added);
  }

  void add_model(const std::string& argument, std::string_view bytes) {
    const std::string name = models_.empty() ? "model.onnx" : fmt::format("model{}.onnx", models_.size() + 1);
    models_.push_back(folder() / name);
    write_file(models_.back(), bytes);
    ordered_json& place = options_[argument];
    if (place.is_null()) {
      place = models_.back().string();
    } else {
      if (!place.is_array()) place = ordered_json::array({place});
      place.push_back(models_.back().string());
    }
  }

  void add_array(ArrayView array) {
    data_.arrays.push_back(std::move(array));
    has_data_ = true;
  }

  void add_sample(std::vector<ArrayView> arrays, bool has_batch_axis) {
    if (!data_.samples.empty() && data_.has_batch_axis != has_batch_axis)
      throw Error(ErrorCode::kUsage, "some samples have a batch axis and some have none");
    data_.samples.push_back(std::move(arrays));
    data_.has_batch_axis = has_batch_axis;
    has_data_ = true;
  }

  void set_metric(Metric metric) { metric_ = std::move(metric); }
  void set_on_progress(OnProgress on_progress) { on_progress_ = std::move(on_progress); }

  void run() {
    if (has_run_) throw Error(ErrorCode::kUsage, "a call runs once: make another one");
    has_run_ = true;
    const CancellationScope scope(&whole_);
    const verbs::VerbInfo& verb = verbs::find_verb(verbs::all_verbs(), verb_);
    if (verb.call == nullptr) {
      std::vector<std::string> inside;
      for (const verbs::VerbInfo* one : verb.verbs) inside.emplace_back(one->name);
      throw Error(ErrorCode::kUsage,
                  fmt::format("{}: say which of its verbs: {}", verb_, fmt::join(inside, ", ")));
    }
    const std::unique_ptr<verbs::VerbCall> chosen = verb.call(verb_);
    if (chosen->options.find("json") != nullptr) options_["json"] = true;
    set_output(chosen->options);
    verbs::read_json(chosen->options, options_);

    CallHost host(outcome, whole_, on_progress_);
    if (has_data_) host.given.data = std::make_shared<MemoryData>(data_);
    std::mutex one_at_a_time;
    if (metric_) {
      host.given.metric = [&](const std::filesystem::path& outputs) {
        const std::lock_guard lock(one_at_a_time);
        return metric_(outputs);
      };
    }
    throw_if_cancelled();
    outcome.code = chosen->run(host);
    take_output();
  }

  void stop() noexcept { whole_.stop(); }  // from any thread

  Outcome outcome;  // errors of the functions above too

 private:
  const std::filesystem::path& folder() {
    if (folder_ == nullptr) folder_ = std::make_unique<TemporaryFolder>("call");
    return folder_->path();
  }

  void set_output(const verbs::Options& known) {
    if (models_.empty() || known.find("output") == nullptr ||
        (options_.contains("output") && !options_["output"].is_null()))
      return;
    output_ = folder() / "output.onnx";
    options_["output"] = output_.string();
  }

  void take_output() {
    if (output_.empty() || !std::filesystem::exists(output_)) return;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      const bool is_ours = std::find(models_.begin(), models_.end(), entry.path()) != models_.end();
      if (!is_ours && entry.path() != output_) {
        throw Error(ErrorCode::kUsage,
                    fmt::format("the result is more than one file ({} too): name a path for "
                                "it, as the option 'output'",
                                entry.path().filename().string()));
      }
    }
    outcome.output = io::MappedFile::open(output_);
  }

  std::string verb_;
  ordered_json options_ = ordered_json::object();
  std::unique_ptr<TemporaryFolder> folder_;
  std::vector<std::filesystem::path> models_;  // in the folder
  std::filesystem::path output_;               // in the folder; empty: the options name a place
  MemoryData data_;
  bool has_data_ = false;
  Metric metric_;
  OnProgress on_progress_;
  Progress whole_;
  bool has_run_ = false;
};

}  // namespace ounce::capi

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

// Does `work`; an exception becomes the call's error, without a message if there is no memory for it.
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
      namespace verbs = ounce::verbs;
      nlohmann::json all = nlohmann::json::array();  // with those inside of others: "contract set" …
      verbs::for_each_verb(verbs::all_verbs(), [&](const verbs::VerbInfo& verb, const std::string& name) {
        if (verb.call != nullptr) all.push_back(name);
      });
      return ounce::json_text(all);
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
  if (call != nullptr && call->error.code != OUNCE_OK) return call->error.code;  // of its arguments
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
  // Without a message these are results; the others may lack a message for lack of memory.
  const bool may_be_result = code < OUNCE_IO || code == OUNCE_UNPROVED;
  return may_be_result && call->call.outcome.error.empty() ? nullptr : &call->error;
}

const void* ounce_call_output(const ounce_call* call, size_t* size) {
  if (call == nullptr || size == nullptr || !call->call.outcome.output) return nullptr;
  *size = call->call.outcome.output->bytes().size();
  return call->call.outcome.output->bytes().data();
}
