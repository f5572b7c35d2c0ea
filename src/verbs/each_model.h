// One model after the other, each with a row of its own: an error is a line and its exit code, and does not
// keep the others from their turn. Only what can be known before the work, such as a model that is not there,
// ends the run before it starts.
//
//   const auto [rows, worst] = each_model<report::ProveRow>(
//       models, *app, options, host, [&](auto& row) { row.proof = prove(row.model, options); },
//       [&](const auto& row, bool is_first) { host.say(human, report::prove_text(row.proof)); });
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "verbs/host.h"
#include "verbs/model_list.h"

namespace ounce::verbs {

template <class Row>
struct Rows {
  std::vector<Row> rows;
  int worst = 0;  // exit code
};

// A row for everything that `check` refuses; if there is one, no work may start. `check` gets what is checked
// and throws Error; `model_of` names its model.
template <class Row, class Items, class ModelOf, class Check>
Rows<Row> refused(const Items& items, const ModelOf& model_of, const Check& check) {
  Rows<Row> found;
  for (const auto& item : items) {
    Row row;
    row.model = model_of(item).path;
    row.exit_code = guarded(
        row.model, [&] { check(item); }, row.error);
    found.worst = std::max(found.worst, row.exit_code);
    if (row.exit_code != 0) found.rows.push_back(std::move(row));
  }
  return found;
}

// Of models that were named and cannot be read.
template <class Row>
Rows<Row> refused(const std::vector<ModelFile>& models, const CLI::App& verb) {
  return refused<Row>(
      models, [](const ModelFile& model) -> const ModelFile& { return model; },
      [&](const ModelFile& model) { require_readable(model, verb); });
}

// `work` fills in a row while its progress is watched; `show` says what came of it.
template <class Row, class Options, class Work, class Show>
Rows<Row> each_model(const std::vector<ModelFile>& models, const CLI::App& verb, Options& options, Host& host,
                     const Work& work, const Show& show) {
  Rows<Row> done = refused<Row>(models, verb);
  for (const Row& row : done.rows) host.complain(row.error);
  if (!done.rows.empty()) return done;
  for (const ModelFile& model : models) {
    Row row;
    row.model = model.path;
    const int failed = guarded(
        model.path,
        [&] {
          const std::unique_ptr<Watch> watch = host.watch(model.path.string());
          options.progress = &watch->progress;
          work(row);
        },
        row.error);
    if (failed != 0) row.exit_code = failed;
    done.worst = std::max(done.worst, row.exit_code);
    if (row.error.empty()) {
      show(row, done.rows.empty());
    } else {
      host.complain(row.error);
    }
    done.rows.push_back(std::move(row));
  }
  return done;
}

}  // namespace ounce::verbs
