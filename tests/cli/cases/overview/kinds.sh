# A TFLite and a Core ML model; options before the model; the JSON document.
need example everything
ounce example.tflite | sed -n '/^--to/,$p'
ounce everything.mlpackage | sed -n '/^Nothing/,$p'
ounce --quiet example.tflite
ounce example.tflite --json > document
json_get results.0.file_format results.0.formats.0.format results.0.commands.0 next < document
cat document | grep -c estimated || true
