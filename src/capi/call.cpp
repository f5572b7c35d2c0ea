#include "capi/call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/cancel.h"
#include "base/json_text.h"
#include "verbs/json_options.h"
#include "verbs/verb.h"

namespace ounce::capi {
namespace {

using nlohmann::ordered_json;

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw Error(ErrorCode::kIo, "cannot be written: is the disk full?", path.string());
}

}  // namespace

std::vector<std::string> all_verbs() {
  std::vector<std::string> all;
  verbs::for_each_verb(verbs::all_verbs(), [&](const verbs::VerbInfo& verb, const std::string& name) {
    if (verb.call != nullptr) all.push_back(name);
  });
  return all;
}

std::string ApiCall::help() const {
  return verbs::describe(verbs::find_verb(verbs::all_verbs(), verb_), verb_).dump();
}

void ApiCall::add_options(std::string_view json) {
  const auto added = parse_json<ordered_json>(json, {}, "options");
  if (!added.is_object())
    throw Error(ErrorCode::kUsage, "options are a JSON object such as {\"to\": \"w8\"}");
  options_.update(added);
}

const std::filesystem::path& ApiCall::folder() {
  if (folder_ == nullptr) folder_ = std::make_unique<TemporaryFolder>("call");
  return folder_->path();
}

void ApiCall::add_model(const std::string& argument, std::string_view bytes) {
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

void ApiCall::add_array(ArrayView array) {
  data_.arrays.push_back(std::move(array));
  has_data_ = true;
}

void ApiCall::add_sample(std::vector<ArrayView> arrays, bool has_batch_axis) {
  if (!data_.samples.empty() && data_.has_batch_axis != has_batch_axis)
    throw Error(ErrorCode::kUsage, "some samples have a batch axis and some have none");
  data_.samples.push_back(std::move(arrays));
  data_.has_batch_axis = has_batch_axis;
  has_data_ = true;
}

void ApiCall::set_output(const verbs::Options& known) {
  if (models_.empty() || known.find("output") == nullptr ||
      (options_.contains("output") && !options_["output"].is_null()))
    return;
  output_ = folder() / "output.onnx";
  options_["output"] = output_.string();
}

void ApiCall::take_output() {
  if (output_.empty() || !std::filesystem::exists(output_)) return;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    const bool is_ours = std::find(models_.begin(), models_.end(), entry.path()) != models_.end();
    if (!is_ours && entry.path() != output_) {
      throw Error(ErrorCode::kUsage, fmt::format("the result is more than one file ({} too): name a path for "
                                                 "it, as the option 'output'",
                                                 entry.path().filename().string()));
    }
  }
  outcome.output = io::MappedFile::open(output_);
}

void ApiCall::run() {
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

namespace {

constexpr auto kBetween = std::chrono::milliseconds(100);

// Asks how far it is from a thread of its own, until it goes.
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

}  // namespace

std::unique_ptr<verbs::Watch> CallHost::watch(const std::string& what) {
  if (!on_progress_) return std::make_unique<verbs::Watch>();
  return std::make_unique<CallbackWatch>(what, whole_, on_progress_);
}

void CallHost::write_complaint(const std::string& line) {
  outcome_.error += (outcome_.error.empty() ? "" : "\n") + line;
}

}  // namespace ounce::capi
