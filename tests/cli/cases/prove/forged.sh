# Whoever changes a model can change its statement as well, digests and all. Only what the recipe makes of the original is proved.
need matmul
ounce quantize matmul.onnx > /dev/null
cat > forge.py <<'END'
"""forge.py OUT [--ruin] [--version V] [KEY=JSON…]: matmul.w8.onnx with other weights and a statement that fits them."""
import hashlib, json, sys

def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at

def number(value):
    out = b''
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])

def fields(data):
    """(number, whole field, payload) of a message with varints and bytes."""
    at = 0
    while at < len(data):
        start = at
        tag, at = varint(data, at)
        size, at = varint(data, at)
        payload = b''
        if tag & 7 == 2:
            payload, at = data[at:at + size], at + size
        yield tag >> 3, data[start:at], payload

def message(number_of_field, payload):
    return number(number_of_field << 3 | 2) + number(len(payload)) + payload

out, words = sys.argv[1], sys.argv[2:]
version = words[words.index('--version') + 1] if '--version' in words else None
changes = dict(word.split('=', 1) for word in words if '=' in word)
model = list(fields(open('matmul.w8.onnx', 'rb').read()))
if '--ruin' in words:
    graph = next(payload for field, _, payload in model if field == 7)
    raw = max((inner for field, _, payload in fields(graph) if field == 5 for kind, _, inner in fields(payload) if kind == 9), key=len)
    ruined = bytes((7 * i * i + 3) % 251 for i in range(len(raw)))
    model = [(field, message(7, payload.replace(raw, ruined)), b'') if field == 7 else (field, whole, payload) for field, whole, payload in model]
content = b''.join(whole for field, whole, _ in model if field != 14)
assert len(content) < 4 << 20
digest = hashlib.sha256(hashlib.sha256(content).digest()).hexdigest()
entries = {}
for field, _, payload in model:
    if field == 14:
        key, value = (inner for _, _, inner in fields(payload))
        entries[key.decode()] = value.decode()
statement = json.loads(entries['ounce.statement'])
if '--ruin' in words:
    assert statement['content'] != digest
else:
    assert statement['content'] == digest, 'the digest is not the documented one'
statement['content'] = digest
for key, value in changes.items():
    *path, last = key.split('.')
    place = statement
    for part in path:
        place = place[part]
    place[last] = json.loads(value)
    if place[last] is None:
        del place[last]
entries['ounce.statement'] = json.dumps(statement)
if version:
    entries['ounce.version'] = version
with open(out, 'wb') as file:
    file.write(content)
    for key, value in entries.items():
        file.write(message(14, message(1, key.encode()) + message(2, value.encode())))
END
plain() { grep -v -e '^  command' -e '^  result' -e '^  runs in' | sed 's/-*[0-9][0-9]* dB/<dB>/g'; }
prove() { echo "- $*"; python3 forge.py forged.onnx "$@"; }
# The digest of the source is that of sha256sum.
sha256sum < matmul.onnx | cut -c-64 > source
ounce prove matmul.w8.onnx --json 2> /dev/null | json_get results.0.statement.source_sha256 | grep -q "$(cat source)" && echo same source
prove genuine; exits 0 ounce prove forged.onnx --source matmul.onnx | plain
prove --ruin; exits 1 ounce prove forged.onnx --source matmul.onnx | plain
prove --ruin --version 0.0.9; exits 1 ounce prove forged.onnx --source matmul.onnx | plain
prove --ruin --version 0.0.9 trial=null; exits 5 ounce prove forged.onnx --source matmul.onnx | plain
prove --ruin --version 0.0.9 trial.sqnr_db=-99; exits 5 ounce prove forged.onnx --source matmul.onnx | plain
prove --ruin --version 0.0.9 'trial.runtime="9.9.9"' trial.samples=5; exits 5 ounce prove forged.onnx --source matmul.onnx | plain
prove --version 0.0.9; exits 0 ounce prove forged.onnx --source matmul.onnx | plain
prove 'recipe.granularity="tensor"'; exits 1 ounce prove forged.onnx --source matmul.onnx | plain
prove 'recipe.granularity="tensor"' --version 0.0.9; exits 5 ounce prove forged.onnx --source matmul.onnx | plain
prove recipe.min_bytes=1000000; exits 1 ounce prove forged.onnx --source matmul.onnx | plain
prove trial.sqnr_db=99; exits 1 ounce prove forged.onnx --source matmul.onnx | plain
prove trial.samples=1000; exits 1 ounce prove forged.onnx --source matmul.onnx | plain
prove "source=\"$(printf '%064d' 0)\""; exits 1 ounce prove forged.onnx --source matmul.onnx | plain
prove version=1; exits 1 ounce prove forged.onnx --source matmul.onnx | plain
prove version=1 "content=\"$(printf '%032d' 0)\""; exits 1 ounce prove forged.onnx | plain
# Of several models, an error comes first, then one that is refuted, then one that is unproved.
prove --ruin; exits 1 ounce prove forged.onnx matmul.w8.onnx --source matmul.onnx | grep -v '^Next: ' | tail -n 4
exits 5 ounce prove matmul.w8.onnx matmul.w8.onnx | grep -v '^Next: ' | tail -n 4
prove --ruin; exits 1 ounce prove forged.onnx matmul.w8.onnx --source matmul.onnx --json 2> /dev/null > both.json
json_get results.0.verdict results.0.holds results.1.verdict < both.json
