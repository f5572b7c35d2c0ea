plugins {
    id("com.android.application") version "8.7.0"
    id("org.jetbrains.kotlin.android") version "2.0.21"
}

android {
    namespace = "com.example.hearing"
    compileSdk = 34
    defaultConfig {
        minSdk = 33  // for java.lang.ref.Cleaner, which closes unused objects
        ndk { abiFilters += "arm64-v8a" }
        externalNativeBuild { cmake { arguments("-DANDROID_STL=c++_shared") } }
    }
    externalNativeBuild { cmake { path = file("src/main/cpp/CMakeLists.txt") } }
    androidResources { noCompress += "onnx" }
    sourceSets["main"].java.srcDirs("../../../bindings/jvm/java", "../../../bindings/jvm/kotlin")
}

dependencies { implementation("com.microsoft.onnxruntime:onnxruntime-android:1.22.0") }
