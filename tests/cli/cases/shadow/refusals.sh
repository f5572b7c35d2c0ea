echo '{}' > none.json
exits 2 ounce shadow report none.json
exits 4 ounce shadow report missing.json
cat > one.json <<'J'
{"format": "ounce.shadow", "version": 1, "primary": "a", "candidate": "b", "calls": 1, "compared": 1, "dropped": 0,
 "errors": 0, "crashes": 0, "timeouts": 0, "not_finite": 0, "canary_calls": 0, "canary_fallbacks": 0, "devices": 1,
 "canary_share": 0, "canary_stopped": "", "outputs": {}, "primary_latency": [], "candidate_latency": []}
J
sed 's/"candidate": "b"/"candidate": "c"/' one.json > other.json
exits 2 ounce shadow report one.json other.json
sed 's/"calls": 1/"calls": -1/' one.json > negative.json
exits 2 ounce shadow report negative.json
sed 's/"primary_latency": \[\]/"primary_latency": [[320, 1]]/' one.json > bucket.json
exits 2 ounce shadow report bucket.json
