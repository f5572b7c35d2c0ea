# Models one after another; one that fails does not stop the others.
need fatal text
exits 2 ounce sensitivity text.onnx fatal.onnx --to w8 --data fatal.npz --no-cache --by op --json 2> human > document
head -n 1 human
json_get errors.0.code errors.0.model results.0.groups.0.name < document
