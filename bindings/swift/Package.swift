// swift-tools-version:5.7
import PackageDescription

// COunceApp is the C header of libounce_app; an app adds the library itself, with ONNX Runtime beside it.
let package = Package(
    name: "OunceApp",
    products: [.library(name: "OunceApp", targets: ["OunceApp"])],
    targets: [
        .systemLibrary(name: "COunceApp"),
        .target(name: "OunceApp", dependencies: ["COunceApp"]),
    ]
)
