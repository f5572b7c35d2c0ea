#include "verbs/verb_help.h"

#include <algorithm>

namespace ounce::verbs {

const std::vector<VerbHelp>& verb_helps() {
  static const std::vector<VerbHelp> kAll = {
      {"inspect", {}, {"ounce inspect model.onnx", "ounce inspect models/ --json"}},
      {"quantize",
       {"--output", "--to", "--data", "--memory", "--exclude", "--target", "--dry-run", "--verbose", "--json",
        "--report"},
       {"ounce quantize model.onnx",
        "ounce quantize model.onnx --to static --data calib.npz --report quantize.html",
        "ounce quantize models/ -o small/ --to w8"}},
      {"calibrate",
       {"--data", "--output", "--samples", "--json"},
       {"ounce calibrate model.onnx --data calib.npz -o model.ranges.json",
        "ounce quantize model.onnx --to static --ranges model.ranges.json"}},
      {"verify",
       {"--data", "--labels", "--task", "--max-drop", "--min-sqnr", "--min-agreement", "--confidence",
        "--worst", "--on", "--json", "--report"},
       {"ounce verify model.onnx model.w8.onnx --data val.npz --labels label --max-drop 1%",
        "ounce verify model.onnx model.w8.onnx --report verify.html"}},
      {"bench",
       {"--seconds", "--repeats", "--batch", "--data", "--threads", "--cold-starts", "--profile", "--tokens",
        "--json", "--report"},
       {"ounce bench model.onnx model.w8.onnx",
        "ounce bench gpt.onnx gpt.int4.onnx --tokens 64 --data text.npz",
        "ounce bench model.onnx model.w8.onnx -b 1,8 --report bench.html"}},
      {"sensitivity",
       {"--data", "--to", "--by", "--labels", "--min-sqnr", "--top", "--json", "--report"},
       {"ounce sensitivity model.onnx --data val.npz",
        "ounce sensitivity model.onnx --data val.npz --by block --report sensitivity.html"}},
      {"tune",
       {"--output", "--data", "--labels", "--max-drop", "--objective", "--budget", "--target", "--json",
        "--report"},
       {"ounce tune model.onnx --data val.npz --labels label --max-drop 1%",
        "ounce tune model.onnx --data val.npz --objective latency --budget 2m --report tune.html"}},
      {"advise",
       {"--data", "--labels", "--budget", "--target", "--max-drop", "--json", "--report"},
       {"ounce advise model.onnx", "ounce advise model.onnx --data val.npz --labels label --budget 90s"}},
      {"check",
       {"--target", "--execute", "--required-ops", "--releases", "--json", "--report"},
       {"ounce check model.w8.onnx --target android-arm64@1.22.0",
        "ounce check model.w8.onnx --target linux-x64@1.30.0,ios-arm64@1.22.0 --report check.html"}},
      {"contract set",
       {"--output", "--kind", "--size", "--layout", "--rescale", "--mean", "--std", "--rate", "--length"},
       {"ounce contract set model.onnx -o ready.onnx --rate 8000 --length 8000 --rescale 1/32768"}},
      {"copy", {}, {"ounce copy model.onnx -o packed.onnx --external-data never"}},
      {"publish",
       {"--output", "--layout", "--variants", "--data", "--labels", "--max-drop", "--json"},
       {"ounce publish model.onnx -o published/"}},
      {"prove",
       {"--source", "--data", "--json"},
       {"ounce prove model.w8.onnx", "ounce prove model.w8.onnx --source model.onnx"}},
      {"diff",
       {},
       {"ounce diff model.onnx model.w8.onnx", "ounce diff model.onnx model.w8.onnx --report diff.html"}},
      {"report",
       {},
       {"ounce verify model.onnx model.w8.onnx --json > verify.json",
        "ounce report verify.json -o report.html"}},
      {"unpack", {}, {"ounce unpack model.w8.onnx --cache cache/"}},
      {"shadow report", {}, {"ounce shadow report devices/*.json --min-agreement .995"}},
      {"demo", {}, {"ounce demo", "ounce demo -o demo/"}},
  };
  return kAll;
}

const VerbHelp* find_verb_help(std::string_view verb) {
  const auto& all = verb_helps();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const VerbHelp& help) { return help.verb == verb; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace ounce::verbs
