# A float model, and one that computes on integers: on a new phone, on an old one, for accelerators.
need example
ounce check example.tflite --target android-arm64@litert-2.3.0,android-arm64@tflite-2.9.0
need integers
ounce check integers.tflite --target linux-arm64@litert-2.2.0+edgetpu
# What nobody measured, and what does not run.
need everything
ounce check everything.tflite --target linux-x64@tflite-2.9.0 || echo "exit $?"
