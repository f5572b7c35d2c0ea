#include "cli/parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ounce/error.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <istream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/toml_text.h"

namespace ounce::cli {
namespace {

using verbs::guess_of;
using verbs::Option;
using verbs::VerbCall;
using verbs::VerbInfo;
using verbs::with_guess;

constexpr std::size_t kMostBytes = 1 << 20;

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw Error(ErrorCode::kUsage, why, file);
}

[[noreturn]] void refuse(const std::string& file, const toml::source_region& place, const std::string& why) {
  throw Error(ErrorCode::kUsage, why, fmt::format("{}:{}:{}", file, place.begin.line, place.begin.column));
}

// Checked before opening: opening a pipe waits for a writer, and a device has no end.
void require_plain_file(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    if (errno == ENOENT) throw CLI::FileError::Missing(file);
    throw Error(ErrorCode::kIo, std::strerror(errno), file);
  }
  if (!S_ISREG(status.st_mode)) refuse(file, "is not a regular file; --config reads a TOML file");
  if (status.st_size > off_t{kMostBytes})
    refuse(file, "is larger than 1 MiB, so it is not a configuration file");
}

// Reads the tables of a file. Each table is a verb.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  std::vector<CLI::ConfigItem> read(const toml::table& document, std::span<const VerbInfo* const> verbs) {
    for (const auto& [key, value] : document) {
      const std::string name(key.str());
      if (!value.is_table())
        refuse(file_, key.source(),
               fmt::format("'{}' is outside of a section; add a section such as [quantize] before it", name));
      read_section(*value.as_table(), verbs, key, "ounce");
    }
    return std::move(items_);
  }

 private:
  void read_section(const toml::table& section, std::span<const VerbInfo* const> verbs,
                    const toml::key& title, const std::string& whose) {
    const std::string name(title.str());
    const auto found =
        std::find_if(verbs.begin(), verbs.end(), [&](const VerbInfo* verb) { return is_named(*verb, name); });
    if (found == verbs.end()) {
      std::vector<std::string> names;
      for (const VerbInfo* verb : verbs) names.emplace_back(verb->name);
      refuse(file_, title.source(),
             with_guess(fmt::format("'{}' is not a verb of {}", name, whose), nearest(name, names)));
    }
    const VerbInfo& verb = **found;
    const std::unique_ptr<VerbCall> call = verb.call == nullptr ? nullptr : verb.call(name);
    parents_.push_back(name);
    for (const auto& [key, value] : section) {
      if (value.is_table() && !verb.verbs.empty()) {
        read_section(*value.as_table(), verb.verbs, key, name);
      } else {
        read_option(name, call.get(), key, value);
      }
    }
    parents_.pop_back();
  }

  void read_option(const std::string& verb, const VerbCall* call, const toml::key& name,
                   const toml::node& value) {
    const std::string key(name.str());
    const Option* option = call == nullptr || key.starts_with('-') ? nullptr : call->options.find(key);
    if (option == nullptr) {
      std::vector<std::string> keys;
      for (std::size_t i = 0; call != nullptr && i < call->options.all().size(); ++i) {
        const std::vector<std::string> names = call->options.all()[i].names();
        keys.insert(keys.end(), names.begin(), names.end());
      }
      refuse(file_, name.source(),
             with_guess(fmt::format("{} has no option '{}'", verb, key), guess_of(key, keys)));
    }
    const bool takes_none = option->is_flag;
    if (takes_none && !value.is_boolean())
      refuse(file_, value.source(), fmt::format("'{}' must be true or false", key));
    CLI::ConfigItem item{parents_, key, {}};
    if (const toml::array* list = value.as_array()) {
      for (const toml::node& element : *list) item.inputs.push_back(word_of(key, element));
      if (list->empty()) return;  // sets nothing
      if (option->is_joined) item.inputs = {fmt::format("{}", fmt::join(item.inputs, ","))};
    } else {
      if (value.is_boolean() && !takes_none)
        refuse(file_, value.source(), fmt::format("'{}' takes a value, not true or false", key));
      item.inputs.push_back(word_of(key, value));
    }
    items_.push_back(std::move(item));
  }

  // Returns a value as a word of the command line.
  std::string word_of(const std::string& key, const toml::node& value) {
    if (const auto text = value.value_exact<std::string>()) return *text;
    if (const auto number = value.value_exact<std::int64_t>()) return fmt::format("{}", *number);
    if (const auto number = value.value_exact<double>()) return fmt::format("{}", *number);
    if (const auto flag = value.value_exact<bool>()) return *flag ? "true" : "false";
    refuse(file_, value.source(), fmt::format("'{}' takes text or numbers, or a list of them", key));
  }

  const std::string& file_;
  std::vector<std::string> parents_;
  std::vector<CLI::ConfigItem> items_;
};

class ConfigFile : public CLI::Config {
 public:
  explicit ConfigFile(std::span<const VerbInfo* const> verbs) : verbs_(verbs) {}

  // Remembers the name of the file: CLI11 opens it and passes only a stream to from_config().
  void take(const std::string& file) {
    require_plain_file(file);
    file_ = file;
  }

  std::vector<CLI::ConfigItem> from_config(std::istream& stream) const override {
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    try {
      return Reader(file_).read(parse_toml(text, {.bytes = kMostBytes}), verbs_);
    } catch (const TomlError& error) {
      const std::string place = error.line == 0 ? "" : fmt::format(":{}:{}", error.line, error.column);
      throw Error(ErrorCode::kUsage, error.what(), file_ + place);
    }
  }

  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }

 private:
  std::span<const VerbInfo* const> verbs_;
  std::string file_;
};

}  // namespace

void add_config_option(CLI::App& parser, std::span<const VerbInfo* const> verbs) {
  const auto config = std::make_shared<ConfigFile>(verbs);
  parser.config_formatter(config);
  parser.set_config("--config", "", kConfig);
  parser.get_config_ptr()->check(CLI::Validator(
      [config](std::string& file) {
        config->take(file);
        return std::string();
      },
      ""));
}

}  // namespace ounce::cli
