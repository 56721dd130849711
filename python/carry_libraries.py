"""Puts the shared libraries that a wheel needs into it: carry_libraries.py WHEEL FOLDER.

The module is linked to a few libraries, and loads others when they are first needed (src/base/shared_library.h): all of
them, and what they need in turn, go into muster/libs, with patchelf telling each where the others are. Only what every
Linux machine with glibc has stays outside. The dynamic linker looks there for what the module asks for by name, too.
Beside them, muster/libs/licences has the copyright file of each library's Debian package, and a list of which is whose.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

# Of every machine: the C library and its loader, and what must be the machine's own.
PATCHELF = os.path.join(os.path.dirname(sys.executable), "patchelf")
OUTSIDE = re.compile(r"^(ld-linux|libc\.so|libm\.so|libdl\.so|libpthread\.so|librt\.so|libutil\.so|linux-vdso)")


def needed(library):
    """What a library is linked to, as name and path."""
    listed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    for name, path in re.findall(r"^\s*(\S+) => (\S+)", listed, re.MULTILINE):
        if not OUTSIDE.match(name):
            yield name, path


def paths_known():
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"^\s*(\S+) \(libc6,x86-64[^)]*\) => (\S+)", listed, re.MULTILINE))


def asked_for():
    """The names that the sources load, so that this list cannot go stale."""
    root = pathlib.Path(__file__).resolve().parent.parent / "src"
    names = []
    for source in sorted(root.rglob("*.cc")):
        for call in re.findall(r"SharedLibrary library\{\{([^}]*)\}", source.read_text()):
            names += re.findall(r'"([^"]+)"', call)
    return names


def collect(binaries):
    known = paths_known()
    found = {name: path for binary in binaries for name, path in needed(binary)}
    for name in asked_for():
        # Fetching data over the network uses the machine's own certificates and library.
        if name in known and not name.startswith("libcurl"):
            found[name] = known[name]
            found.update(needed(known[name]))
    return found


def package_of(path):
    """The Debian package that a library is from, and its version."""
    # Where /lib is a link to /usr/lib, the package may name either.
    for name in (path, path.removeprefix("/usr")):
        said = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True, check=False).stdout
        if said:
            package = said.split(":")[0]
            version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", package], capture_output=True, text=True,
                                     check=True).stdout
            return package, version.split()[0]
    sys.exit(f"carry_libraries: no Debian package has {path}; a wheel with it would lack its licence")


def carry_licences(paths, folder):
    """The licences of Apache-2.0, EPL-2.0 and most others ask to be shipped with what they are of."""
    folder.mkdir()
    whose = []
    for name, path in sorted(paths.items()):
        package, version = package_of(os.path.realpath(path))
        text = pathlib.Path("/usr/share/doc") / package / "copyright"
        if not text.exists():
            sys.exit(f"carry_libraries: {text} is missing; reinstall {package} with its documentation")
        shutil.copyfile(text, folder / package)
        whose.append(f"{name}: {package} {version}\n")
    (folder / "LIBRARIES").write_text("".join(whose))


def carry(folder):
    # What was built here, and where it will look for its libraries.
    built = {next((folder / "muster").glob("_core*.so")): "$ORIGIN/libs",
             folder / "muster" / "bin" / "muster-keeper": "$ORIGIN/../libs"}
    libraries = folder / "muster" / "libs"
    libraries.mkdir()
    found = collect(built)
    carry_licences(found, libraries / "licences")
    for name, path in sorted(found.items()):
        shutil.copy(os.path.realpath(path), libraries / name)
        os.chmod(libraries / name, 0o755)
        subprocess.run([PATCHELF, "--set-rpath", "$ORIGIN", libraries / name], check=True)
    for binary, where in built.items():
        os.chmod(binary, 0o755)
        subprocess.run([PATCHELF, "--set-rpath", where, binary], check=True)
        subprocess.run(["strip", "--strip-unneeded", binary], check=True)


def oldest_glibc(folder):
    """The C library that everything in the wheel can do with, as (2, 36)."""
    newest = (2, 17)
    for library in [*folder.rglob("*.so*"), *folder.rglob("muster-keeper")]:
        listed = subprocess.run(["objdump", "-T", library], capture_output=True, text=True, check=True).stdout
        versions = re.findall(r"GLIBC_(\d+)\.(\d+)", listed)
        newest = max([newest, *((int(major), int(minor)) for major, minor in versions)])
    return newest


def tagged(folder, name):
    """Writes into the wheel, and returns as its file name, which machines it is for: pip then refuses it elsewhere."""
    major, minor = oldest_glibc(folder)
    platform = f"manylinux_{major}_{minor}_{os.uname().machine}"
    info = next(folder.glob("*.dist-info")) / "WHEEL"
    info.write_text(re.sub(r"^(Tag: \S+?-\S+?-)\S+$", rf"\g<1>{platform}", info.read_text(), flags=re.MULTILINE))
    return re.sub(r"-[^-]+\.whl$", f"-{platform}.whl", name)


def record(folder):
    info = next(folder.glob("*.dist-info"))
    lines = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "RECORD"):
        data = path.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path.relative_to(folder)},sha256={digest},{len(data)}")
    lines.append(f"{info.name}/RECORD,,")
    (info / "RECORD").write_text("\n".join(lines) + "\n")


def main():
    wheel, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        carry(folder)
        made = target / tagged(folder, wheel.name)
        record(folder)
        made.unlink(missing_ok=True)
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(p for p in folder.rglob("*") if p.is_file()):
                archive.write(path, path.relative_to(folder))
        print(f"built {made} ({made.stat().st_size / 2**20:.1f} MiB)")


if __name__ == "__main__":
    main()
