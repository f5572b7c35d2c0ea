need masked
ounce quantize masked.onnx --to fp16 --target cuda --keep-names --json 2>/dev/null | python3 -c "
import json, sys
model = json.load(sys.stdin)['results'][0]
for node in model['nodes']:
    print(node['op_type'], node['arithmetic'], node['reason'] or '')
for tensor in model['tensors']:
    print(tensor['name'], tensor['encoding'] or 'kept', tensor['reason'])
for note in model['notes']:
    print(note)"
