// One model after the other, each with a row of its own: an error is a line and its exit code, and does not
// keep the others from their turn.
//
//   const auto [rows, worst] = each_model<report::ProveRow>(
//       models, options, host, [&](auto& row) { row.proof = prove(row.model, options); },
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

// `work` fills in a row while its progress is watched; `show` says what came of it.
template <class Row, class Options, class Work, class Show>
Rows<Row> each_model(const std::vector<ModelFile>& models, Options& options, Host& host, const Work& work,
                     const Show& show) {
  Rows<Row> done;
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
