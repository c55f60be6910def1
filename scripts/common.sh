# SPDX-License-Identifier: Apache-2.0
# What scripts/quickstart and scripts/test share: packages and building. Sourced by bash.
# Works as root without sudo, as another user with sudo, without a terminal, any number of times.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The same names in Debian 12 and Ubuntu 24.04.
PACKAGES=(build-essential cmake ninja-build libcsv-dev libfyaml-dev libdeflate-dev libhdf5-dev
          zlib1g-dev libopenblas-dev libfftw3-dev libcunit1-dev)

# What some tests need besides; they skip without. Not in every release.
TEST_PACKAGES=(python3-numpy python3-h5py python3-pandas hdf5-tools hdf5-filter-plugin
               hdf5-filter-plugin-blosc-serial)

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# missing_packages PACKAGE...
missing_packages() {
    local package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}

install_packages() {
    command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || {
        say "no apt-get here: install by hand, if missing, what these Debian packages hold:"
        say "${PACKAGES[*]}"
        return
    }
    local missing as_root=()
    mapfile -t missing < <(missing_packages "${PACKAGES[@]}")
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null ||
            die "run as root, or ask an administrator for: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    say "installing ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
        --no-install-recommends "${missing[@]}" </dev/null >&2 && return
    say "once more, after apt-get update"
    "${as_root[@]}" apt-get update -q </dev/null >&2 || die "apt-get update failed"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
        --no-install-recommends "${missing[@]}" </dev/null >&2 ||
        die "apt-get could not install: ${missing[*]}"
}

# Each by itself: one that this release lacks must not keep the others away.
install_test_packages() {
    local package as_root=()
    command -v apt-get >/dev/null || return 0
    [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null || return 0; as_root=(sudo); }
    for package in $(missing_packages "${TEST_PACKAGES[@]}"); do
        say "installing $package"
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
            --no-install-recommends "$package" </dev/null >/dev/null 2>&1 ||
            say "could not install $package: the tests that need it skip"
    done
}

has_nvcc() {
    command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || [ -x "${CUDA_HOME:-/-}/bin/nvcc" ]
}

tell_about_nvcc() {
    has_nvcc && return
    say "no nvcc found: building for the CPU only. For the GPU install the CUDA toolkit"
    say "(https://developer.nvidia.com/cuda-downloads, or apt-get install nvidia-cuda-toolkit),"
    say "remove the build folder and run this again."
}

# build PRESET [cmake arguments]
build() {
    local preset=$1
    shift
    (cd "$ROOT" && cmake --preset "$preset" "$@" && cmake --build "build/$preset" --parallel) >&2
}

# Whether clang is there with libFuzzer.
can_fuzz() {
    command -v clang >/dev/null && command -v clang++ >/dev/null &&
        echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d == 0 && n; }' |
        clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null
}
