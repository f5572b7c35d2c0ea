#!/usr/bin/env bash
# dependencies.sh ARCHITECTURE: builds the libraries of sources.sh as static libraries with zig, in
# build-package/ARCHITECTURE/prefix, where OunceDependencies.cmake finds them.
source "$(dirname "${BASH_SOURCE[0]}")/settings.sh"
known_architecture "${1:-}"
architecture=$1
prefix=$work/$architecture/prefix
[[ -e $prefix/complete ]] && exit 0
rm -rf "$prefix" "$work/$architecture/dependencies"
mkdir -p "$prefix/include"

logged() {  # NAME COMMAND…: shows the output only if the command fails
  local log=$work/$architecture/dependencies/$1.log
  "${@:2}" > "$log" 2>&1 &  # a separate shell, which exits at the first error
  wait $! || { tail -n 30 "$log" >&2; die "cannot build $1 for $architecture"; }
}

cmake_build() {  # NAME FOLDER OPTIONS…: builds a library with a CMakeLists.txt
  local name=$1 folder=$2 build=$work/$architecture/dependencies/$1
  shift 2
  cmake -S "$folder" -B "$build" -G Ninja --toolchain "$project/packaging/zig.cmake" \
    -DOUNCE_ARCH="$architecture" -DOUNCE_TOOLS="$tools" -DOUNCE_PREFIX="$prefix" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE='-O2 -DNDEBUG' -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR:STRING=lib -DBUILD_TESTING=OFF "$@"
  cmake --build "$build" -j "$(nproc)"
  cmake --install "$build"
}

zlib_build() {  # Debian's source lacks files that its CMakeLists.txt needs
  cp -r "$sources/zlib" "$work/$architecture/dependencies/zlib"
  cd "$work/$architecture/dependencies/zlib"
  CC=$tools/$architecture-cc AR=$tools/ar RANLIB=$tools/ranlib CFLAGS='-O2 -fPIC' ./configure --static --prefix="$prefix"
  make install
}

echo "package: building the libraries for $architecture"
mkdir -p "$work/$architecture/dependencies"
logged fmt cmake_build fmt "$sources/fmtlib" -DFMT_TEST=OFF -DFMT_DOC=OFF
logged highway cmake_build highway "$sources/highway" -DHWY_ENABLE_EXAMPLES=OFF -DHWY_ENABLE_CONTRIB=OFF -DHWY_ENABLE_TESTS=OFF
logged re2 cmake_build re2 "$sources/re2" -DRE2_BUILD_TESTING=OFF
sed "s|@includedir@|$prefix/include|; s|@libdir@|$prefix/lib|" "$sources/re2/re2.pc" > "$prefix/lib/pkgconfig/re2.pc"
logged xxhash cmake_build xxhash "$sources/xxhash/cmake_unofficial" -DXXHASH_BUILD_XXHSUM=OFF
logged zlib zlib_build
logged libpng cmake_build libpng "$sources/libpng1.6" -DPNG_SHARED=OFF -DPNG_TESTS=OFF
logged libjpeg-turbo cmake_build libjpeg-turbo "$sources/libjpeg-turbo" -DENABLE_SHARED=OFF -DWITH_TURBOJPEG=OFF -DREQUIRE_SIMD=ON

# Header-only libraries are the same for every machine, so the installed ones are used. They are copied one by one, because
# /usr/include also has the headers of this machine's C library.
for headers in protozero CLI nlohmann toml++; do cp -r "/usr/include/$headers" "$prefix/include/"; done
mkdir -p "$prefix/lib/cmake"
cp -r /usr/share/cmake/{nlohmann_json,CLI11} "$prefix/lib/cmake/"
touch "$prefix/complete"
