# Statistics of two devices, merged and judged.
cat > one.json <<'J'
{"format": "ounce.shadow", "version": 1, "primary": "a", "candidate": "b", "calls": 1000, "compared": 500, "dropped": 3,
 "errors": 0, "crashes": 0, "timeouts": 0, "not_finite": 0, "canary_calls": 0, "canary_fallbacks": 0, "devices": 1,
 "canary_share": 0, "canary_stopped": "",
 "outputs": {"logits": {"values": 5000, "signal": 1000, "noise": 0.1, "largest": 0.25, "answers": 500, "flips": 2}},
 "primary_latency": [[133, 500], [141, 500]], "candidate_latency": [[125, 500]]}
J
sed 's/"flips": 2/"flips": 9/; s/"crashes": 0/"crashes": 4/; s/"canary_stopped": ""/"canary_stopped": "took too long"/' one.json > two.json
ounce shadow report one.json
exits 1 ounce shadow report one.json two.json
ounce shadow report one.json --json 2> /dev/null | json_shape
exits 1 ounce shadow report one.json --min-calls 501
exits 1 ounce shadow report one.json --min-agreement .999 --min-sqnr 50 --max-latency-ratio 0.1
ounce shadow report one.json two.json --max-failures .01 --min-agreement .98 --json 2> /dev/null | json_get results.0.passed results.0.devices results.0.failures.crashes results.0.agreement results.0.canary.stopped
