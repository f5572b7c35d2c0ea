// swift-tools-version:5.7
import PackageDescription

// COunceApp is the C header of libounce_app. The app must link libounce_app and contain ONNX Runtime.
let package = Package(
    name: "OunceApp",
    products: [.library(name: "OunceApp", targets: ["OunceApp"])],
    targets: [
        .systemLibrary(name: "COunceApp"),
        .target(name: "OunceApp", dependencies: ["COunceApp"]),
    ]
)
