#!/usr/bin/env bash
# kotlin.sh BUILD FOLDER: compiles the Kotlin extensions with warnings as errors, and runs them; `make test-kotlin`. Maven installs
# the compiler, ONNX Runtime's classes and stubs of Android's classes into FOLDER, so that examples/android and the class of the tutorial
# are compiled, too.
set -euo pipefail
build=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
project=$here/../..
cat > "$folder/pom.xml" << 'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>ounce</groupId><artifactId>kotlin</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.jetbrains.kotlin</groupId><artifactId>kotlin-compiler-embeddable</artifactId><version>2.0.21</version>
  </dependency><dependency>
    <groupId>com.google.android</groupId><artifactId>android</artifactId><version>4.1.1.4</version>
    <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
  </dependency><dependency>
    <groupId>com.microsoft.onnxruntime</groupId><artifactId>onnxruntime</artifactId><version>1.22.0</version>
  </dependency></dependencies>
</project>
POM
[[ -d $folder/lib ]] || mvn --quiet --batch-mode --file "$folder/pom.xml" dependency:copy-dependencies -DoutputDirectory=lib
rm -rf "$folder/classes"
javac -d "$folder/classes" "$project"/bindings/jvm/java/ounce/app/*.java
java -cp "$folder/lib/*" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -jvm-target 17 -Werror \
  -cp "$(echo "$folder"/lib/kotlin-stdlib-*.jar):$folder/classes" -d "$folder/classes" \
  "$project/bindings/jvm/kotlin/ounce/app/Ounce.kt" "$here/KotlinUse.kt"
java -cp "$folder/lib/*" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -jvm-target 17 -Werror \
  -cp "$(echo "$folder"/lib/kotlin-stdlib-*.jar):$(echo "$folder"/lib/android-*.jar):$folder/classes" -d "$folder/android" \
  "$project"/examples/android/app/src/main/java/com/example/hearing/*.kt
# The Kotlin block of the tutorial that defines a class.
awk '/^```kotlin/ { text = ""; inside = 1; next } /^```/ { if (inside && text ~ /class /) printf "%s", text; inside = 0 } inside { text = text $0 "\n" }' \
  "$project/docs/get-started/tutorial.md" > "$folder/Tutorial.kt"
java -cp "$folder/lib/*" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -jvm-target 17 -Werror \
  -cp "$(echo "$folder"/lib/kotlin-stdlib-*.jar):$(echo "$folder"/lib/android-*.jar):$(echo "$folder"/lib/onnxruntime-*.jar)" \
  -d "$folder/tutorial" "$folder/Tutorial.kt"
for library in "$project"/.deps/onnxruntime/[0-9]*/lib/libonnxruntime.so; do
  [[ $library != *-aarch64/* ]] || continue
  java -Xcheck:jni "-Dounce.jni=$build/tests/jvm/libounce_jni.so" -cp "$folder/classes:$folder/lib/*" KotlinUseKt \
    "$project/examples/commands/commands.onnx" "$folder/cache" "$library"
done
