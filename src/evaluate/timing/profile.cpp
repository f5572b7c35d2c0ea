#include "evaluate/timing/profile.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/json_text.h"
#include "evaluate/timing/rounds.h"
#include "io/mapped_file.h"
#include "ops/op_info.h"

namespace ounce::evaluate {
namespace {

constexpr std::string_view kEnding = "_kernel_time", kDelegate = "XNNPACK";
constexpr JsonLimits kLimits{.depth = 16, .bytes = std::size_t{512} << 20};

struct Event {
  std::string node, op_type;
  bool is_integer = false, is_delegated = false;
  double begin = 0, seconds = 0;  // those of nodes inside taken off
  double end = 0;
};

struct Events {
  std::uint64_t runs = 0;
  std::uint64_t operators = 0, delegated = 0;  // of a .tflite model
  std::vector<Event> kernels;
};

Events events_of(std::string_view json) {
  Events events;
  for (const auto& entry : parse_json(json, kLimits)) {
    if (!entry.is_object()) continue;
    const std::string name = entry.value("name", "");
    if (entry.value("cat", "") == "Session" && name == "model_run") ++events.runs;
    if (entry.value("cat", "") == "Session" && name == "delegation" && entry.contains("args")) {
      events.operators = entry["args"].value("operators", std::uint64_t{0});
      events.delegated = entry["args"].value("delegated", std::uint64_t{0});
    }
    if (entry.value("cat", "") != "Node" || !name.ends_with(kEnding) || !entry.contains("args")) continue;
    constexpr double kMicro = 1e-6;
    const double begin = kMicro * entry.value("ts", 0.0), seconds = kMicro * entry.value("dur", 0.0);
    const auto& args = entry["args"];
    const std::string op_type = args.value("op_name", "");
    events.kernels.push_back({name.substr(0, name.size() - kEnding.size()), op_type,
                              args.value("is_integer", is_integer_kernel(op_type)),
                              args.value("provider", "") == kDelegate, begin, seconds, begin + seconds});
  }
  return events;
}

// An event that lies inside of another one is part of it. Those around come first.
void take_off_the_inner(std::vector<Event>& events) {
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<std::size_t> around;
  const auto has_body = [](const Event& event) {
    return ops::info(ops::find_op(event.op_type)).op_class == ops::Class::kControlFlow;
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    while (!around.empty() && events[around.back()].end < events[i].end) around.pop_back();
    if (!around.empty()) events[around.back()].seconds -= events[i].end - events[i].begin;
    if (has_body(events[i])) around.push_back(i);
  }
}

template <class T>
void sort_by_time(std::vector<T>& list) {
  std::stable_sort(list.begin(), list.end(), [](const T& a, const T& b) { return a.seconds > b.seconds; });
}

}  // namespace

bool is_integer_kernel(std::string_view op_type) {
  return ops::info(ops::find_op(op_type)).op_class == ops::Class::kIntegerProduct;
}

Profile profile_of(std::string_view json) {
  auto [runs, operators, delegated, events] = events_of(json);
  take_off_the_inner(events);
  struct Node {
    bool is_integer = false, is_delegated = false;
    std::vector<double> times;
  };
  std::map<std::pair<std::string, std::string>, Node> by_node;
  for (Event& event : events) {
    Node& node = by_node[{std::move(event.node), std::move(event.op_type)}];
    node.is_integer = event.is_integer;
    node.is_delegated = event.is_delegated;
    node.times.push_back(std::max(0.0, event.seconds));
  }
  Profile profile;
  profile.runs = runs;
  profile.operators = operators;
  profile.delegated = delegated;
  std::map<std::string, OpTime> ops;
  for (const auto& [key, node] : by_node) {
    const std::vector<double>& times = node.times;
    // In a loop a node runs more often than the model, in a branch less often.
    const double seconds = times.size() == runs ? median(times)
                                                : std::accumulate(times.begin(), times.end(), 0.0) /
                                                      std::max(1.0, static_cast<double>(runs));
    profile.nodes.push_back({key.first, key.second, seconds});
    if (node.is_integer) profile.integer_share += seconds;
    if (node.is_delegated) profile.delegated_share += seconds;
  }
  for (const NodeTime& node : profile.nodes) {
    OpTime& op = ops[node.op_type];
    op.op_type = node.op_type;
    ++op.nodes;
    op.seconds += node.seconds;
    profile.seconds += node.seconds;
  }
  for (double* const share : {&profile.integer_share, &profile.delegated_share})
    if (profile.seconds > 0) *share /= profile.seconds;
  for (auto& [name, op] : ops) profile.ops.push_back(std::move(op));
  sort_by_time(profile.ops);
  sort_by_time(profile.nodes);
  return profile;
}

Profile read_profile(const std::filesystem::path& file) {
  return profile_of(io::MappedFile::open(file).bytes());
}

}  // namespace ounce::evaluate
