# A past that is kept gives what the whole text gives; times differ from run to run.
need cached uncached matmul
ounce quantize cached.onnx --to nbits4 --method rtn -o small.onnx --no-verify > /dev/null
ounce bench uncached.onnx cached.onnx small.onnx --tokens 16 --prompt 4 --data cached.npz --json 2>human > out
json_get results.0.texts results.0.prompt results.0.tokens results.0.generated results.0.models.0.cached results.0.models.1.cached results.0.models.1.flips results.0.models.1.next_token.calls < out
python3 - out <<'END'
import json, sys
whole, kept, small = json.load(open(sys.argv[1]))["results"][0]["models"]
print("the same perplexity:", abs(whole["nll"] - kept["nll"]) < 1e-4, "another one:", abs(whole["nll"] - small["nll"]) > 1e-4)
END
sed -E 's/ on (avx2|avx512|sse|arm64)( vnni)?,/ on <cpu>,/; s/[0-9]+(\.[0-9]+)*/#/g; s/-+/-/g; s/µs|ms|kB|MB/<unit>/g; s/ +/ /g' human
ounce bench cached.onnx --tokens 4 --json 2> /dev/null | json_get results.0.generated results.0.tokens results.0.notes.0
for words in '--tokens 4 -r 3' '--prompt 4' '--tokens 4 --prompt 30 --data cached.npz' '--tokens 4 --carry nothing=logits'; do ounce bench cached.onnx $words || echo $?; done
ounce bench matmul.onnx --tokens 4 2>&1 || echo $?
