# The codes of notes and errors.
ounce explain OUN701
ounce explain 110
ounce explain oun110 --json | json_get results.0.id results.0.title
ounce explain | sed -n '1,4p'
exits 2 ounce explain OUN999
# A code in text and in the document.
need saturating
ounce check saturating.onnx --target linux-x64@1.22.0 | grep OUN
ounce check saturating.onnx --target linux-x64@1.22.0 --json | json_get notes.0.id notes.0.model
