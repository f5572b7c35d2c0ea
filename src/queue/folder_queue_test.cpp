// Tests the queue in a folder with sessions that answer without a model.
#include <gmock/gmock.h>
#include <ounce/runtime.h>
#include <ounce/work.h>

#include <nlohmann/json.hpp>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/cancel.h"
#include "queue/layout.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace ounce::queue {
namespace {

using nlohmann::json;
using ounce::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kLease = 0.3, kIdle = 0.2;  // seconds

// Squares a number.
class SquareSession final : public Session {
 public:
  explicit SquareSession(std::atomic<int>& answers) : answers_(answers) {}
  const std::string& identity() const override { return identity_; }
  std::string answer(const std::string& question) override {
    const json asked = json::parse(question);
    ++answers_;
    if (asked.contains("code")) throw Error(ErrorCode::kTimeout, "took too long");
    const int number = asked.value("number", 0);
    return json{{"value", number * number}, {"seconds", 0.0}, {"kept", !asked.contains("once")}}.dump();
  }

 private:
  std::atomic<int>& answers_;
  std::string identity_ = "squares\nversion 1";
};

struct FolderQueueTest : testing::Test {
  WorkOptions worker() {
    WorkOptions options;
    options.open = [this](const std::string&) { return std::make_unique<SquareSession>(measured); };
    options.idle_seconds = kIdle;
    options.limits.lease_seconds = kLease;
    return options;
  }
  static std::string question(int number, const json& more = json::object()) {
    json asked = {{"measure", "square"}, {"number", number}, {"identity", "squares\nversion 1"}};
    asked.update(more);
    return asked.dump();
  }
  std::vector<int> ask(const std::vector<std::string>& questions) {
    std::vector<int> values(questions.size(), -1);
    folder_queue(folder, R"({"verb":"square"})", {kLease})
        ->ask(questions,
              [&](std::size_t i, const std::string& text) { values[i] = json::parse(text).at("value"); });
    return values;
  }
  // Asks while `workers` run.
  std::vector<int> asked_of(int workers, const std::vector<std::string>& questions) {
    std::vector<std::thread> threads;
    for (int i = 0; i < workers; ++i) threads.emplace_back([this] { total(work(folder, worker())); });
    std::vector<int> values;
    std::exception_ptr failure;
    try {
      values = ask(questions);
    } catch (...) {
      failure = std::current_exception();
    }
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
    return values;
  }
  void total(const WorkResult& result) {
    const std::scoped_lock lock(mutex);
    all.answered += result.answered;
    all.late += result.late;
    all.declined += result.declined;
  }
  // The only item that waits.
  std::string item() {
    while (true) {
      const std::vector<std::string> names = Layout(folder).items.names();
      if (!names.empty()) return names.front();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  std::vector<std::string> names(const char* part) { return SharedFolder(folder, part).names(); }

  ounce::test::TemporaryFolder temporary;
  std::filesystem::path folder = temporary / "queue";
  std::atomic<int> measured{0};
  std::mutex mutex;
  WorkResult all;
};

TEST_F(FolderQueueTest, EachQuestionIsAnsweredOnce) {
  std::vector<std::string> questions;
  std::vector<int> squares;
  for (int i = 0; i < 100; ++i) {
    questions.push_back(question(i));
    squares.push_back(i * i);
  }
  EXPECT_EQ(asked_of(3, questions), squares);
  EXPECT_EQ(measured, 100);
  EXPECT_EQ(all.answered, 100U);
  EXPECT_THAT(names("items"), IsEmpty());
  EXPECT_THAT(names("leases"), IsEmpty());
  EXPECT_THAT(names("drafts"), IsEmpty());
  EXPECT_THAT(names("beats"), IsEmpty());
  EXPECT_EQ(names("done").size(), 100U);
}

TEST_F(FolderQueueTest, AnAnswerIsUsedAgain) {
  asked_of(1, {question(3)});
  EXPECT_THAT(ask({question(3), question(3)}), ElementsAre(9, 9));  // without a worker
  EXPECT_EQ(measured, 1);
}

TEST_F(FolderQueueTest, AnAnswerAboutTheMachineIsNot) {
  asked_of(1, {question(3, {{"once", true}})});
  EXPECT_THAT(names("done"), IsEmpty());
}

TEST_F(FolderQueueTest, TheItemOfAWorkerThatEndedIsTakenOver) {
  std::thread other([this] {
    Layout layout(folder);
    layout.leases.publish(lease_name(item(), 1), "wdead", layout.drafts, layout.draft());
    layout.beats.overwrite("wdead", "7");
    layout.drafts.overwrite("wdead.1", "half an answ");
    total(work(folder, [this] {
      WorkOptions options = worker();
      options.idle_seconds = 3 * kLease;
      return options;
    }()));
  });
  EXPECT_THAT(ask({question(4)}), ElementsAre(16));
  other.join();
  EXPECT_EQ(all.answered, 1U);
  EXPECT_THAT(names("drafts"), IsEmpty());
}

TEST_F(FolderQueueTest, TheItemOfALivingWorkerIsNot) {
  Layout layout(folder);
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    layout.leases.publish(lease_name(item(), 1), "wslow", layout.drafts, layout.draft());
    for (int beat = 0; !is_over; ++beat) {
      layout.beats.overwrite("wslow", std::to_string(beat));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  std::thread idle([this] {
    WorkOptions options = worker();
    item();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    options.idle_seconds = 2 * kLease;
    total(work(folder, options));
  });
  std::thread answering([&] {
    item();
    std::this_thread::sleep_for(std::chrono::milliseconds(800));
    const std::string name = item();
    layout.done.publish(name, json{{"question", name}, {"value", 25}}.dump(), layout.drafts, layout.draft());
  });
  EXPECT_THAT(ask({question(5)}), ElementsAre(25));
  is_over = true;
  for (std::thread* thread : {&other, &idle, &answering}) thread->join();
  EXPECT_EQ(measured, 0);
}

TEST_F(FolderQueueTest, AnAnswerThatIsNoneIsAskedForAgain) {
  Layout layout(folder);
  std::thread spoiler([&] {
    const std::string name = item();
    layout.done.publish(name, R"({"question":"another","value":1})", layout.drafts, layout.draft());
    while (layout.done.has(name)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    total(work(folder, worker()));
  });
  EXPECT_THAT(ask({question(6)}), ElementsAre(36));
  spoiler.join();
}

TEST_F(FolderQueueTest, AnErrorOfAMeasurementIsThatOfTheCall) {
  const Error error = error_of([&] { asked_of(1, {question(1, {{"code", "timeout"}})}); });
  EXPECT_EQ(error.code(), ErrorCode::kTimeout);
  EXPECT_STREQ(error.what(), "took too long");
  EXPECT_THAT(names("items"), IsEmpty());
  EXPECT_THAT(names("done"), IsEmpty());  // another machine may have more time
}

TEST_F(FolderQueueTest, WhatNoWorkerCanAnswerIsAnError) {
  const Error error = error_of([&] {
    std::thread other([this] {
      item();
      total(work(folder, worker()));
    });
    struct Join {
      std::thread& thread;
      ~Join() { thread.join(); }
    } join{other};
    ask({json{{"measure", "square"}, {"identity", "squares\nversion 2"}}.dump()});
  });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_THAT(error.what(), HasSubstr("the question has 'version 2', this worker 'version 1'"));
  EXPECT_EQ(all.declined, 1U);
  EXPECT_EQ(measured, 0);
}

TEST_F(FolderQueueTest, OnlyWorkersForTimesMeasureTimes) {
  const json time = {{"measure", "time"}, {"cpu", ""}};
  std::thread other([&] {
    EXPECT_TRUE(is_of_times(item()));
    total(work(folder, worker()));
    EXPECT_EQ(measured, 0);
    WorkOptions options = worker();
    options.times = true;
    total(work(folder, options));
  });
  EXPECT_THAT(ask({question(7, time)}), ElementsAre(49));
  other.join();
  EXPECT_EQ(all.answered, 1U);
}

TEST_F(FolderQueueTest, TimesOfAnotherCpuAreDeclined) {
  WorkOptions options = worker();
  options.times = true;
  Answering answering(options);
  json asked = json::parse(question(7, {{"measure", "time"}, {"cpu", "another CPU"}}));
  asked.update({{"format", "ounce.question"}, {"version", 1}, {"session", json::object()}});
  EXPECT_THAT(error_of([&] { answering.answer(asked.dump()); }).what(), HasSubstr("another CPU"));
}

TEST_F(FolderQueueTest, ACoordinatorThatIsStoppedTakesItsItemsBack) {
  Progress progress;
  progress.stop_after(std::chrono::milliseconds(100));
  const std::unique_ptr<WorkQueue> queue = folder_queue(folder, "{}", {kLease}, &progress);
  const Error error = error_of([&] {
    const CancellationScope scope(&progress);  // as each call of the library has
    queue->ask({question(1)}, [&](std::size_t, const std::string&) {});
  });
  EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  EXPECT_THAT(names("items"), IsEmpty());
}

TEST_F(FolderQueueTest, AFolderIsNotTrusted) {
  Layout layout(folder);
  ounce::test::write_file(temporary / "outside", "secret");
  const std::string text = R"({"format":"ounce.question"})";
  std::filesystem::create_symlink(temporary / "outside", folder / "items" / item_name("link", false));
  std::filesystem::create_directory(folder / "items" / item_name("folder", false));
  ounce::test::write_file(folder / "items" / item_name("empty", false), "");
  ounce::test::write_file(folder / "items" / item_name("other text", false), text);
  ounce::test::write_file(folder / "items" / item_name(text, false), text);
  ounce::test::write_file(folder / "items" / "Odd Name", text);
  ounce::test::write_file(folder / "leases" / lease_name(item_name(text, false), 1), "../../outside");
  const WorkResult result = work(folder, [this] {
    WorkOptions options = worker();
    options.idle_seconds = 3 * kLease;
    return options;
  }());
  EXPECT_EQ(result.answered, 0U);
  EXPECT_EQ(result.declined, 3U);  // the empty one, the one with another name, and the one that asks nothing
  EXPECT_THAT(names("done"), IsEmpty());
  EXPECT_EQ(ounce::test::read_file(temporary / "outside"), "secret");
}

TEST_F(FolderQueueTest, ALinkIsNoFolderOfAQueue) {
  std::filesystem::create_directory(folder);
  std::filesystem::create_directory_symlink(temporary.path(), folder / "done");
  EXPECT_EQ(error_of([&] { folder_queue(folder, "{}"); }).code(), ErrorCode::kIo);
}

TEST_F(FolderQueueTest, AFolderThatCannotBeIsAnError) {
  ounce::test::write_file(temporary / "file", "");
  EXPECT_EQ(error_of([&] { folder_queue(temporary / "file" / "queue", "{}"); }).code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace ounce::queue
