// Checks readers of text files: preprocessing metadata, activation ranges, journals, provenance records.
// Accepted texts are written and read again.
#include "calibration/ranges.h"
#include "data/contract/contract_file.h"
#include "fuzz/memory_file.h"
#include "fuzz/promise.h"
#include "fuzz/targets.h"
#include "quantize/statement.h"
#include "search/tune/journal.h"
#include "support/temporary_folder.h"

namespace ounce::test {

void check_contract(const std::string& bytes) {
  for (const auto parse : {data::parse_contract, data::parse_contract_toml}) {
    const auto contract = unless_refused([&] { return parse(bytes, "contract"); }, Versions::kMayBeNewer);
    if (!contract) continue;
    const std::string written = data::write_contract(*contract, -1);
    promise(data::write_contract(data::parse_contract(written, "written"), -1) == written,
            "a contract changed when it was written and read");
  }
}

void check_ranges(const std::string& bytes) {
  const auto ranges =
      unless_refused([&] { return calibration::parse_ranges(bytes, "ranges"); }, Versions::kMayBeNewer);
  if (!ranges) return;
  const std::string written = calibration::to_json(*ranges);
  promise(calibration::to_json(calibration::parse_ranges(written, "written")) == written,
          "ranges changed when they were written and read");
}

void check_statement(const std::string& bytes) {
  const auto statement = unless_refused([&] { return quantization::parse_statement(bytes, "statement"); },
                                        Versions::kMayBeNewer);
  if (!statement) return;
  const std::string written = quantization::statement_text(*statement);
  promise(quantization::statement_text(quantization::parse_statement(written, "written")) == written,
          "a statement changed when it was written and read");
}

// A journal accepts any file and skips invalid lines. Added entries must be found when the file is read
// again.
void check_journal(const std::string& bytes) {
  const TemporaryFolder folder;  // not a file in memory: its name is a link, which a journal does not follow
  const std::filesystem::path file = folder / "journal.jsonl";
  write_file(file, bytes);
  const std::string key = "a key that no journal has";
  {
    search::Journal journal(file);
    if (journal.find(key) != nullptr) return;
    journal.add(key, 1, 0.5);
  }
  const search::Journal again(file);
  const auto* entry = again.find(key);
  promise(entry != nullptr && entry->value == 1 && entry->seconds == 0.5, "a measurement was lost");
}

}  // namespace ounce::test
