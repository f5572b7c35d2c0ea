#include "queue/answering.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <sstream>
#include <utility>

#include "base/machine.h"

namespace ounce {
namespace queue {

using nlohmann::json;

constexpr const char* kQuestionFormat = "ounce.question";
constexpr int kQuestionVersion = 1;

struct NamedCode {
  ErrorCode code;
  const char* name;
};
constexpr NamedCode kCodes[] = {{ErrorCode::kUsage, "usage"},
                                {ErrorCode::kBadInput, "bad_input"},
                                {ErrorCode::kUnsupported, "unsupported"},
                                {ErrorCode::kIo, "io"},
                                {ErrorCode::kInternal, "internal"},
                                {ErrorCode::kTimeout, "timeout"},
                                {ErrorCode::kMemory, "memory"}};

std::string with_session(const std::string& question, const json& session) {
  json whole = parse_json(question, kQueueJson, "a question");
  whole["format"] = kQuestionFormat;
  whole["version"] = kQuestionVersion;
  whole["session"] = session;
  return json_text(whole);
}

std::string with_fields(const json& fields, const std::string& object) {
  std::string text = json_text(fields);
  text.back() = ',';
  return text.append(object, 1);
}

bool needs_times(const json& question) { return question.value("measure", "") == "time"; }

std::optional<Error> error_in(const json& answer) {
  if (!answer.is_object() || !answer.contains("error")) return std::nullopt;
  const json& error = answer["error"];
  const std::string name = error.value("code", ""), message = error.value("message", "");
  for (const NamedCode& known : kCodes) {
    if (name == known.name) return Error(known.code, message);
  }
  return Error(ErrorCode::kInternal, message);
}

namespace {

json error_json(const Error& error) {
  const char* name = "internal";
  for (const NamedCode& known : kCodes) {
    if (known.code == error.code()) name = known.name;
  }
  return {{"code", name}, {"message", error.what()}};
}

[[noreturn]] void decline(const std::string& why) { throw Error(ErrorCode::kUnsupported, why); }

// The first line that differs.
std::string difference(const std::string& asked, const std::string& own) {
  std::istringstream theirs(asked), ours(own);
  for (std::string a, b;;) {
    const bool has_a = static_cast<bool>(std::getline(theirs, a)),
               has_b = static_cast<bool>(std::getline(ours, b));
    if (!has_a && !has_b) return "nothing";
    if (has_a != has_b || a != b)
      return fmt::format("the question has '{}', this worker '{}'", has_a ? a : "", has_b ? b : "");
  }
}

}  // namespace
}  // namespace queue

class Answering::Impl {
 public:
  explicit Impl(const WorkOptions& options) : options_(options) {}

  std::string answer(const std::string& text) {
    const nlohmann::json question = parsed(text);
    Session& session = session_of(json_text(question["session"]));
    if (question.value("identity", "") != session.identity())
      queue::decline("other inputs: " +
                     queue::difference(question.value("identity", ""), session.identity()));
    const Stopwatch time;
    std::string answer;
    try {
      answer = session.answer(text);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      if (error.code() == ErrorCode::kIo) queue::decline(error.what());  // another machine may have the file
      answer = json_text(nlohmann::json{{"error", queue::error_json(error)}, {"seconds", time.seconds()}});
    }
    return queue::with_fields({{"cpu", cpu_name()}}, answer);
  }

 private:
  struct OpenSession {
    std::string text;
    std::unique_ptr<Session> session;
  };
  static constexpr std::size_t kMostSessions = 2;  // each has models and recorded outputs in memory

  nlohmann::json parsed(const std::string& text) const {
    nlohmann::json question = parse_json_or_nothing(text, queue::kQueueJson);
    const auto is_text = [&](const char* key) { return question.contains(key) && question[key].is_string(); };
    if (!question.is_object() || !is_text("format") || question["format"] != queue::kQuestionFormat ||
        !question.contains("version") || question["version"] != queue::kQuestionVersion ||
        !question.contains("session") || !is_text("identity") || !is_text("measure"))
      queue::decline("is no question, or one of another version of Ounce");
    if (queue::needs_times(question) && !options_.times)
      queue::decline("measures times, and this worker may not: its machine may be busy");
    if (is_text("cpu") && question["cpu"] != "" && question["cpu"] != cpu_name())
      queue::decline(fmt::format("measures times on '{}', and this is '{}'",
                                 question["cpu"].get<std::string>(), cpu_name()));
    return question;
  }

  Session& session_of(const std::string& text) {
    const auto known =
        std::find_if(open_.begin(), open_.end(), [&](const OpenSession& one) { return one.text == text; });
    if (known != open_.end()) return *known->session;
    if (open_.size() >= kMostSessions) open_.pop_front();
    try {
      std::unique_ptr<Session> session = options_.open(text);
      return *open_.emplace_back(OpenSession{text, std::move(session)}).session;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      queue::decline(error.what());
    }
  }

  const WorkOptions& options_;
  std::deque<OpenSession> open_;
};

Answering::Answering(const WorkOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Answering::~Answering() = default;
std::string Answering::answer(const std::string& question) { return impl_->answer(question); }

}  // namespace ounce
