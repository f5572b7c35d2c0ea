# Weights of a Core ML package: the forms depend on the target, and nothing is left of what fails.
cp -r "$OUNCE_TEST_MODELS"/small.mlpackage "$OUNCE_TEST_MODELS"/small18.mlpackage "$OUNCE_TEST_MODELS"/network.mlmodel .
ounce quantize small.mlpackage/ -v --min-bytes 512
ounce quantize small18.mlpackage --to w4 -o four.mlpackage
ounce quantize small.mlpackage --to w4 --target ios18 -o raised.mlpackage
ounce inspect raised.mlpackage | head -3
exits 1 ounce diff small.mlpackage small.w8.mlpackage
exits 3 ounce quantize small18.mlpackage --target ios16
exits 2 ounce quantize small.mlpackage --target linux-x64
exits 3 ounce quantize small.w8.mlpackage
exits 3 ounce quantize network.mlmodel
exits 3 ounce quantize small.mlpackage --to int8-dynamic
exits 2 ounce quantize small.mlpackage -o small.mlpackage
ls
