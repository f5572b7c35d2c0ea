# The provenance record of a Core ML package is reproduced.
cp -r "$OUNCE_TEST_MODELS"/small18.mlpackage .
ounce quantize small18.mlpackage --to w6 -o six.mlpackage --min-bytes 512 | head -3
ounce prove six.mlpackage --source small18.mlpackage
exits 5 ounce prove six.mlpackage
exits 3 ounce publish small18.mlpackage -o out
exits 2 ounce quantize small18.mlpackage --to w4 --expert rounding=adaptive
