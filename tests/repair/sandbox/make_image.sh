#!/bin/sh
# Make a small docker image with python3 and pytest from this machine's own /usr/bin/python3, where
# no registry can be reached. Takes a few seconds. Usage: make_image.sh [TAG]
# PYTHON names the Python whose pip fetches pytest (default: python3).
set -eu
tag=${1:-graphloc-test:latest}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

python=$(readlink -f /usr/bin/python3)
version=$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/etc" "$root/run" "$root/var" "$root/root"
mkdir -m 1777 "$root/tmp"
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
mkdir -p "$root/usr/sbin" "$root/usr/lib64"

put() { # a file and its place, links followed
    mkdir -p "$root/$(dirname "$1")"
    cp -L "$1" "$root/$1"
}
need() { # the libraries a program loads
    ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do put "$library"; done
}
for program in sh cat cp env grep id kill ls mkdir rm setsid sleep touch uname yes; do
    path=$(command -v "$program" || true)
    case $path in /*) cp -L "$path" "$root/usr/bin/"; need "$path" ;; esac
done
cp "$python" "$root/usr/bin/python3"
need "$python"
mkdir -p "$root/usr/lib/$version" "$root/usr/lib/python3/dist-packages"
tar -C "/usr/lib/$version" --exclude=__pycache__ --exclude=test --exclude=idlelib \
    --exclude=ensurepip --exclude='config-*' -cf - . | tar -C "$root/usr/lib/$version" -xf -
for module in "$root/usr/lib/$version"/lib-dynload/*.so; do need "$module"; done
"${PYTHON:-python3}" -m pip install -q --no-cache-dir --no-compile \
    --target "$root/usr/lib/python3/dist-packages" pytest
tar -C "$root" -c . | docker import -c 'ENV PATH=/usr/bin:/bin' - "$tag" >/dev/null
docker run --rm --network none "$tag" python3 -m pytest --version
