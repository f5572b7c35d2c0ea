# A Core ML package, one with nested blocks and two functions, and a neural network.
cp -r "$OUNCE_TEST_MODELS"/small.mlpackage "$OUNCE_TEST_MODELS"/everything.mlpackage "$OUNCE_TEST_MODELS"/network.mlmodel .
ounce inspect small.mlpackage/
ounce inspect everything.mlpackage
ounce inspect network.mlmodel
