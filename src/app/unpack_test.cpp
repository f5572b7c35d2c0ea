#include <ounce/app.hpp>

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <thread>

#include "app/unpacked_file.h"
#include "base/machine.h"
#include "runtime/ort/library.h"
#include "support/app_models.h"
#include "support/runtime_versions.h"

namespace ounce::app {
namespace {

namespace fs = std::filesystem;
using test::small_w8;
using test::small_w8_of;
using test::status_of;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<float> kRowToUnpack = {1, -2, 0.5F, 4};

struct AppUnpack : testing::TestWithParam<fs::path> {
  UnpackOptions options() const { return {.library = GetParam().string()}; }
  LoadOptions load_options() const { return {.library = GetParam().string(), .cache = cache}; }
  std::vector<float> outputs(const Session& session) const {
    Call call = session.call();
    std::copy(kRowToUnpack.begin(), kRowToUnpack.end(), call.input<float>("x").begin());
    call.run();
    const auto y = call.output<float>();
    return {y.begin(), y.end()};
  }
  std::size_t files_in_cache() const {
    if (!fs::exists(cache)) return 0;
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(cache), fs::directory_iterator()));
  }

  test::TemporaryFolder folder;
  fs::path cache = folder / "cache";
  fs::path model = test::written(folder, small_w8({{"ounce.version", "0.1.0"}}));
};

TEST_P(AppUnpack, IsMadeOnceAndGivesTheSameNumbers) {
  const Unpacked first = unpack(model, cache, options());
  EXPECT_THAT(first.why_not, IsEmpty());
  EXPECT_TRUE(first.is_new);
  EXPECT_TRUE(first.used_runner);
  EXPECT_GT(first.bytes, 0U);
  const Unpacked second = unpack(model, cache, options());
  EXPECT_FALSE(second.is_new);
  EXPECT_EQ(second.file, first.file);
  const Session session = Session::load(model, load_options());
  EXPECT_TRUE(session.facts().is_unpacked) << session.facts().why_not_unpacked;
  EXPECT_THAT(outputs(session), ElementsAreArray(small_w8_of(kRowToUnpack)));
  EXPECT_EQ(session.metadata("ounce.version"), "0.1.0");  // the metadata that loading checks is kept
  EXPECT_EQ(files_in_cache(), 1U);
}

TEST_P(AppUnpack, LoadingDoesItAllAtOnce) {
  const Session session = Session::load(model, load_options());
  EXPECT_TRUE(session.facts().is_unpacked) << session.facts().why_not_unpacked;
  EXPECT_THAT(outputs(session), ElementsAreArray(small_w8_of(kRowToUnpack)));
  fs::remove_all(cache);  // evicted while it is in use
  EXPECT_THAT(outputs(session), ElementsAreArray(small_w8_of(kRowToUnpack)));
}

TEST_P(AppUnpack, ModelsInMemoryAreUnpackedToo) {
  const std::string bytes = test::read_file(model);
  const Session session = Session::from_memory(std::as_bytes(std::span(bytes)), load_options());
  EXPECT_TRUE(session.facts().is_unpacked) << session.facts().why_not_unpacked;
  EXPECT_THAT(outputs(session), ElementsAreArray(small_w8_of(kRowToUnpack)));
  const Session from_file = Session::load(model, load_options());
  EXPECT_EQ(files_in_cache(), 1U);  // the same model
}

TEST_P(AppUnpack, WorksWithoutARunner) {
  UnpackOptions how = options();
  how.uses_runner = false;
  const Unpacked made = unpack(model, cache, how);
  EXPECT_THAT(made.why_not, IsEmpty());
  EXPECT_FALSE(made.used_runner);
  EXPECT_THAT(outputs(Session::load(model, load_options())), ElementsAreArray(small_w8_of(kRowToUnpack)));
  EXPECT_EQ(files_in_cache(), 1U);
}

TEST_P(AppUnpack, AnythingElseIsAnotherFile) {
  const fs::path first = unpack(model, cache, options()).file;
  UnpackOptions with_config = options();
  with_config.config["session.disable_quant_qdq"] = "1";
  EXPECT_NE(unpack(model, cache, with_config).file, first);
  test::write_file(model, small_w8({}, 2).bytes());
  EXPECT_NE(unpack(model, cache, options()).file, first);
  EXPECT_THAT(outputs(Session::load(model, load_options())), ElementsAreArray(small_w8_of(kRowToUnpack, 2)));
  for (const fs::path& library : runtime::Library::installed()) {
    if (library != GetParam()) {
      EXPECT_NE(unpack(model, cache, {.library = library.string()}).file,
                unpack(model, cache, options()).file);
    }
  }
}

TEST_P(AppUnpack, ExternalDataIsPartOfTheKey) {
  test::ModelBuilder external(13, 7);
  external.input("x", test::kFloat, {1, 4}).output("y", test::kFloat, {1, 4});
  external.initializer(test::external_tensor("w", {4}, "w.bin", "0", "16")).node("Mul", {"x", "w"}, {"y"});
  const fs::path path = test::written(folder, external, "external.onnx");
  test::write_file(folder / "w.bin", test::raw_floats({1, 2, 3, 4}));
  EXPECT_THAT(outputs(Session::load(path, load_options())), ElementsAreArray({1.0F, -4.0F, 1.5F, 16.0F}));
  test::write_file(folder / "w.bin", test::raw_floats({2, 2, 2, 2}));
  const Session changed = Session::load(path, load_options());
  EXPECT_TRUE(changed.facts().is_unpacked) << changed.facts().why_not_unpacked;
  EXPECT_THAT(outputs(changed), ElementsAreArray({2.0F, -4.0F, 1.0F, 8.0F}));
}

TEST_P(AppUnpack, ADamagedFileIsMadeAnew) {
  const fs::path file = unpack(model, cache, options()).file;
  const std::string whole = test::read_file(file);
  std::string other_key = whole;
  other_key[whole.size() - 60] ^= 1;
  for (const std::string& damaged :
       {whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1), std::string(), other_key,
        std::string(whole.size() - 300, '\0') + whole.substr(whole.size() - 300)}) {
    test::write_file(file, damaged);
    const Session session = Session::load(model, load_options());
    EXPECT_TRUE(session.facts().is_unpacked) << session.facts().why_not_unpacked;
    EXPECT_THAT(outputs(session), ElementsAreArray(small_w8_of(kRowToUnpack)));
    EXPECT_EQ(fs::file_size(file), whole.size());
  }
}

// Changes single bytes, in a file of the same length with an unchanged end.
TEST_P(AppUnpack, AFileThatWasWrittenToIsMadeAnew) {
  const fs::path file = unpack(model, cache, options()).file;
  const std::string whole = test::read_file(file);
  for (std::size_t at = 8; at + 100 < whole.size(); at += whole.size() / 16 + 1) {
    std::string damaged = whole;
    damaged[at] ^= 0x40;
    test::write_file(file, damaged);
    const Session session = Session::load(model, load_options());
    EXPECT_TRUE(session.facts().is_unpacked) << session.facts().why_not_unpacked;
    EXPECT_THAT(outputs(session), ElementsAreArray(small_w8_of(kRowToUnpack))) << "byte " << at;
    EXPECT_NE(test::read_file(file), damaged) << "byte " << at;
  }
}

TEST_P(AppUnpack, UnpackLooksAtEveryByteAlways) {
  const fs::path file = unpack(model, cache, options()).file;
  std::string damaged = test::read_file(file);
  damaged[damaged.size() / 2] ^= 1;
  const auto time = fs::last_write_time(file);
  test::write_file(file, damaged);
  fs::last_write_time(file, time);  // hides the change
  const Unpacked again = unpack(model, cache, options());
  EXPECT_TRUE(again.is_new);
  EXPECT_TRUE(again.was_damaged);
  EXPECT_NE(test::read_file(file), damaged);
  const Unpacked intact = unpack(model, cache, options());
  EXPECT_FALSE(intact.is_new);
  EXPECT_FALSE(intact.was_damaged);
}

TEST_P(AppUnpack, AFileIsVerifiedOnceUntilItIsWrittenTo) {
  const Unpacked made = unpack(model, cache, options());
  const Session session = Session::load(model, load_options());
  const auto time = fs::last_write_time(made.file);
  // The file is marked as intact: damage that keeps inode, size and time is not detected.
  std::string damaged = test::read_file(made.file);
  damaged[damaged.size() / 2] ^= 1;
  test::write_file(made.file, damaged);
  fs::last_write_time(made.file, time);
  EXPECT_EQ(test::read_file(made.file), damaged);
  const CacheKey key{made.digest, made.runtime_version, cpu_features(), ""};
  EXPECT_TRUE(open_verified(made.file, key, Verification::kOnce));
  EXPECT_FALSE(open_verified(made.file, key, Verification::kAlways));
  // A copy has another inode and is checked again.
  fs::copy_file(made.file, folder / "copy");
  fs::rename(folder / "copy", made.file);
  fs::last_write_time(made.file, time);
  EXPECT_FALSE(open_verified(made.file, key, Verification::kOnce));
}

TEST_P(AppUnpack, AFileThatIsCutWhileItIsInUseDoesNotEndTheProcess) {
  const Session session = Session::load(model, load_options());
  ASSERT_TRUE(session.facts().is_unpacked) << session.facts().why_not_unpacked;
  Call call = session.call();
  for (const auto& file : fs::directory_iterator(cache)) fs::resize_file(file, 0);
  const Status status = status_of([&] { call.run(); });
  EXPECT_TRUE(status == Status::kIo ||
              status == Status::kOk);  // a kernel may have made a copy of all weights
  EXPECT_THAT(outputs(Session::load(model, load_options())), ElementsAreArray(small_w8_of(kRowToUnpack)));
}

TEST_P(AppUnpack, ItsEndTellsDamage) {
  const Unpacked made = unpack(model, cache, options());
  const CacheKey key{made.digest, made.runtime_version, "another CPU", ""};
  EXPECT_FALSE(open_unpacked(made.file, key));
}

// Simulates a full disk with a limit on the file size.
TEST_P(AppUnpack, AFullDiskMeansAPlainLoad) {
  std::string large = small_w8().bytes();
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_IGN);  // makes writing fail with an error instead of a signal
  const rlimit little{512, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &little);
  for (const bool uses_runner : {true, false}) {
    UnpackOptions how = options();
    how.uses_runner = uses_runner;
    const Unpacked made = unpack(model, cache, how);
    EXPECT_THAT(made.why_not, HasSubstr("File too large"));
    EXPECT_EQ(made.status, Status::kIo);
    EXPECT_TRUE(made.file.empty());
  }
  const Session session = Session::load(model, load_options());
  EXPECT_FALSE(session.facts().is_unpacked);
  EXPECT_THAT(session.facts().why_not_unpacked, Not(IsEmpty()));
  EXPECT_THAT(outputs(session), ElementsAreArray(small_w8_of(kRowToUnpack)));
  EXPECT_EQ(files_in_cache(), 0U);
  ::setrlimit(RLIMIT_FSIZE, &before);
}

TEST_P(AppUnpack, ACacheThatIsNoFolderMeansAPlainLoad) {
  test::write_file(cache, "a file");
  const Session session = Session::load(model, load_options());
  EXPECT_FALSE(session.facts().is_unpacked);
  EXPECT_THAT(outputs(session), ElementsAreArray(small_w8_of(kRowToUnpack)));
}

TEST_P(AppUnpack, WhatIsNoModelIsAFailure) {
  test::write_file(model, test::read_file(model).substr(0, 100));
  EXPECT_EQ(status_of([&] { unpack(model, cache, options()); }), Status::kBadModel);
  EXPECT_EQ(status_of([&] { Session::load(model, load_options()); }), Status::kBadModel);
  EXPECT_EQ(status_of([&] { unpack(folder / "none", cache, options()); }), Status::kIo);
  EXPECT_EQ(files_in_cache(), 0U);
}

TEST_P(AppUnpack, WhoStopsItLeavesNothing) {
  UnpackOptions how = options();
  how.progress = [](double share) { return share < 0.7; };
  EXPECT_EQ(status_of([&] { unpack(model, cache, how); }), Status::kCancelled);
  EXPECT_EQ(files_in_cache(), 0U);
}

TEST_P(AppUnpack, ThreadsThatWantTheSameGetTheSame) {
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4);
  for (std::vector<float>& result : results)
    threads.emplace_back([&] { result = outputs(Session::load(model, load_options())); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_THAT(result, ElementsAreArray(small_w8_of(kRowToUnpack)));
  EXPECT_EQ(files_in_cache(), 1U);
}

TEST_P(AppUnpack, WhatWasUsedLongestAgoGoesFirst) {
  std::vector<fs::path> files;
  std::uint64_t bytes = 0;
  for (int seed = 0; seed < 3; ++seed) {
    const fs::path path = test::written(folder, small_w8({}, seed), std::to_string(seed) + ".onnx");
    const Unpacked made = unpack(path, cache, options());
    files.push_back(made.file);
    bytes = made.bytes;
    fs::last_write_time(made.file, fs::file_time_type::clock::now() - std::chrono::hours(10 - seed));
  }
  test::write_file(cache / "somebody's", "file");
  ASSERT_EQ(cached_files(cache).size(), 3U);
  EXPECT_EQ(cached_files(cache)[0].file, files[2]);
  unpack(folder / "0.onnx", cache, options());  // now the most recently used one
  EXPECT_EQ(evict(cache, 2 * bytes), 1U);
  EXPECT_TRUE(fs::exists(files[0]));
  EXPECT_FALSE(fs::exists(files[1]));
  EXPECT_TRUE(fs::exists(cache / "somebody's"));
  UnpackOptions how = options();
  how.max_bytes = 1;
  EXPECT_TRUE(fs::exists(unpack(folder / "1.onnx", cache, how).file));  // the requested file is never evicted
  EXPECT_EQ(cached_files(cache).size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Versions, AppUnpack, testing::ValuesIn(runtime::Library::installed()),
                         test::version_name);

}  // namespace
}  // namespace ounce::app
