# A script takes the first line; the others are for people and differ from build to build.
ounce --version | head -n 1
ounce --version | grep -c -E '^(built with .+ for .+|kernels for .+; this CPU runs models as .+|ONNX Runtime: .+)$'
