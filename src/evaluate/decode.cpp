#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/bench.h>
#include <ounce/error.h>
#include <ounce/runtime.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/cancel.h"
#include "data/source/open_source.h"
#include "data/tensor.h"
#include "evaluate/metrics/token_decoder.h"
#include "evaluate/models/open.h"
#include "evaluate/timing/rounds.h"
#include "io/mapped_file.h"

namespace ounce {
namespace {

using evaluate::TokenDecoder;

// Loads the model into this process, so that its key/value cache needs no transfer.
std::unique_ptr<TokenDecoder> load_decoder(const std::filesystem::path& path, const DecodeOptions& options) {
  evaluate::require_loadable(path, options.runtime);
  runtime::ExecutorOptions how = evaluate::executor_options(options.runtime);
  how.isolate.reset();
  try {
    return std::make_unique<TokenDecoder>(evaluate::load_as_floats(path, how), options.data.carry,
                                          options.data.constants);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUsage || !error.where().empty()) throw;
    throw Error(error.code(), error.what(), path.string());
  }
}

// Opens a feed of token ids, one text per row.
std::unique_ptr<data::Feed> open_texts(const std::filesystem::path& path, const TokenDecoder& decoder,
                                       const DecodeOptions& options) {
  const data::ValueDescription& ids = decoder.ids();
  DataOptions data = options.data;
  data.carry.clear();
  data.constants.clear();
  data.batch = 1;
  std::erase_if(data.fields, [&](const auto& field) { return field.first != ids.name; });
  if (data.is_generated())
    data.shape = {{ids.name + ":1", static_cast<std::int64_t>(options.prompt + options.tokens)}};
  return evaluate::open_feed(path, {ids}, data).feed;
}

std::vector<std::int64_t> text_of(data::Feed& feed, std::uint64_t index) {
  data::Batch batch;
  feed.read(index, batch);
  const std::vector<double> numbers = data::to_doubles(batch.inputs[0], "ids");
  return {numbers.begin(), numbers.end()};
}

// The negative log-likelihood of a token, and the most likely token.
struct Judged {
  double nll = 0;
  std::size_t chosen = 0;
};

Judged judge_scores(std::span<const float> scores, std::int64_t token, const std::filesystem::path& model) {
  if (token < 0 || static_cast<std::uint64_t>(token) >= scores.size())
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("a text has the token id {}, but the model has only {} tokens", token, scores.size()),
        model.string());
  const auto largest = std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const float score : scores)
    sum += std::exp(static_cast<double>(score) - static_cast<double>(*largest));
  const double own =
      static_cast<double>(scores[static_cast<std::size_t>(token)]) - static_cast<double>(*largest);
  return {std::log(sum) - own, static_cast<std::size_t>(largest - scores.begin())};
}

// One model and its results so far.
struct Course {
  std::unique_ptr<TokenDecoder> decoder;
  evaluate::CallTimes first, next;
  double nll = 0;
  std::uint64_t flips = 0;
};

// Decodes a text. The first model's most likely tokens are stored in `chosen`; the other models' are compared
// with them.
void read_text(Course& course, std::span<const std::int64_t> text, std::uint64_t prompt, bool is_first,
               std::vector<std::size_t>& chosen, const std::filesystem::path& model) {
  course.decoder->begin();
  if (is_first) chosen.clear();
  for (std::size_t at = prompt; at < text.size(); ++at) {
    throw_if_cancelled();
    const bool is_prompt = at == prompt;
    const std::span<const float> scores =
        course.decoder->feed(is_prompt ? text.first(prompt) : text.subspan(at - 1, 1));
    (is_prompt ? course.first : course.next).add(course.decoder->seconds());
    const Judged judged = judge_scores(scores, text[at], model);
    course.nll += judged.nll;
    if (is_first) {
      chosen.push_back(judged.chosen);
    } else if (chosen[at - prompt] != judged.chosen) {
      ++course.flips;
    }
  }
}

// Judges all gates that are set.
void judge_flips(const DecodeOptions& options, const DecodeReport& report, DecodeResult& result) {
  std::vector<std::string> held, failed;
  const auto add = [&](bool holds, std::string text) { (holds ? held : failed).push_back(std::move(text)); };
  if (options.max_flips) {
    const double share = static_cast<double>(result.flips) / static_cast<double>(report.tokens);
    add(share <= *options.max_flips,
        fmt::format("{} of {} tokens changed ({:.2f} %, at most {:.2f} % allowed)", result.flips,
                    report.tokens, 100 * share, 100 * *options.max_flips));
  }
  if (options.max_nll_rise) {
    const double rise = result.nll - report.models.front().nll;
    add(rise <= *options.max_nll_rise,
        fmt::format("nll {:.4f} instead of {:.4f} ({:+.4f}, at most {:+.4f} allowed)", result.nll,
                    report.models.front().nll, rise, *options.max_nll_rise));
  }
  result.passed = failed.empty();
  if (!held.empty() || !failed.empty())
    result.verdict = fmt::format("{}: {}", result.passed ? "passed" : "failed",
                                 fmt::join(result.passed ? held : failed, "; "));
}

}  // namespace

double DecodeResult::perplexity() const { return std::exp(nll); }

DecodeReport decode(const std::vector<std::filesystem::path>& models, const DecodeOptions& options) {
  const CancellationScope scope(options.progress);
  if (models.empty() || options.prompt == 0 || options.tokens == 0)
    throw Error(ErrorCode::kUsage,
                "decoding needs a model, a prompt of at least one token and at least one token after it");
  if (options.max_nll_rise && options.data.is_generated())
    throw Error(ErrorCode::kUsage, "nll is meaningless for random token ids: give texts with `data`");
  if (options.runtime.remote)
    throw Error(ErrorCode::kUsage,
                "decoding runs on this machine: leave out `remote.via` and `remote.launcher`");
  for (const std::filesystem::path& model : models) io::require_readable(model);
  data::require_files(options.data);
  DecodeReport report;
  report.threads = options.runtime.threads;
  report.prompt = options.prompt;
  report.is_generated = options.data.is_generated();
  report.cpu = this_cpu();
  std::vector<Course> courses(models.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    DecodeResult& result = report.models.emplace_back();
    result.model = models[i];
    result.bytes = evaluate::check_model(models[i]).bytes;
    courses[i].decoder = load_decoder(models[i], options);
    result.is_cached = courses[i].decoder->is_cached();
  }
  report.runtime_version = courses[0].decoder->model().library_version();
  const std::unique_ptr<data::Feed> feed = open_texts(models[0], *courses[0].decoder, options);
  report.texts = report.is_generated ? 1 : feed->samples();

  begin_stage(options.progress, "decoding", report.texts);
  std::vector<std::size_t> chosen;
  for (std::uint64_t t = 0; t < report.texts; ++t) {
    std::vector<std::int64_t> text = text_of(*feed, t);
    if (text.size() <= options.prompt)
      throw Error(ErrorCode::kUsage, fmt::format("a text has {} token ids, too few for a prompt of {}",
                                                 text.size(), options.prompt));
    text.resize(std::min<std::size_t>(text.size(), options.prompt + options.tokens));
    for (std::size_t i = 0; i < models.size(); ++i)
      read_text(courses[i], text, options.prompt, i == 0, chosen, models[i]);
    report.tokens += chosen.size();
    if (options.progress != nullptr) options.progress->done = t + 1;
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    report.models[i].first_token = courses[i].first.latency();
    report.models[i].next_token = courses[i].next.latency();
    report.models[i].nll = courses[i].nll / static_cast<double>(report.tokens);
    report.models[i].flips = courses[i].flips;
  }
  for (std::size_t i = 1; i < models.size(); ++i) judge_flips(options, report, report.models[i]);
  if (report.is_generated)
    report.notes.emplace_back("random token ids: perplexity is meaningless without `data`");
  return report;
}

}  // namespace ounce
