# SPDX-License-Identifier: MIT
"""A machine of our own for tests: Debian's kernel in QEMU, software emulation, disks of any kind.

    with vm.Machine() as m:
        m.disk("n0", "64M", "nvme", "nvme,serial=TARE0001", discard="unmap")
        m.boot()
        done = m.run("tare devices --json")     # .code .out .err .json()
        m.data("n0")                            # what the host has of it: truth from outside

The initramfs holds busybox, tare, the tools named below with their libraries, the kernel
modules named below with what they depend on, and an agent (guest/init) that carries out one
shell script at a time, sent over a virtio console. So a case is written in one place: what the
guest does, and what host and guest must then show.

The kernel's package is fetched by apt-get download, and unpacked below the build directory;
nothing is installed on the host for it. No rights of root's are needed once QEMU is there.
"""

import glob
import json
import lzma
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD", os.path.join(HERE, "../../../build"))
TARE = os.path.realpath(os.environ.get("TARE", os.path.join(BUILD, "tare")))
NVME_TARGET = os.environ.get("NVME_TARGET", os.path.join(os.path.dirname(TARE), "tests/device/qemu/nvme_target"))
# A machine as busy as it likes: only a guest that has died makes a test wait so long.
PATIENCE_S = 400

# dd beside busybox's, which cannot leave holes: as /usr/bin/dd, whatever the shell prefers.
TOOLS = """mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat cryptsetup dmsetup lvm mdadm setpriv dd""".split()
# Without these no machine is of use; the rest as a machine needs it: each costs time at its start.
BASE = "crc32c_generic crc32c_intel virtio_pci virtio_console nvme".split()
DRIVES = "virtio_blk virtio_scsi ahci sd_mod sg".split()
LAYERS = "dm_mod dm_crypt dm_thin_pool raid0 raid1 raid456 md_mod xts aesni_intel loop".split()
MADE_UP = "scsi_debug null_blk".split()
NETWORK = ["nvme_tcp"]
FILE_SYSTEMS = "ext4 xfs btrfs vfat nls_cp437 nls_ascii".split()
MODULES = [*BASE, *DRIVES, *MADE_UP, *LAYERS, *NETWORK, *FILE_SYSTEMS]
# Parts of the kernel's package that hold them and what they need.
UNPACK = """boot/vmlinuz-* */kernel/arch/* */kernel/crypto/* */kernel/lib/* */kernel/fs/*
    */kernel/block/* */kernel/drivers/md/* */kernel/drivers/block/* */kernel/drivers/scsi/*
    */kernel/drivers/ata/* */kernel/drivers/nvme/* */kernel/drivers/virtio/* */kernel/drivers/char/*
    */kernel/drivers/dax/*""".split()


class Missing(Exception):
    """What cannot be tested here, and why."""


# --- TAP ------------------------------------------------------------------------------------

class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def check(self, name, fact, *shown):
        """fact is true, or a callable that is; shown is printed when it is not."""
        self.count += 1
        try:
            good = bool(fact() if callable(fact) else fact)
        except Exception as error:  # a missing member is a failure of this fact, not of the rest
            good, shown = False, (*shown, f"{type(error).__name__}: {error}")
        if not good:
            self.failed += 1
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}", flush=True)
        if not good:
            for text in shown:
                for line in str(text).splitlines()[:60]:
                    print("# " + line[:2000])
        return good

    def end(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed or not self.count else 0)


def main(cases):
    """Runs cases(tap, machine class); a machine that cannot be had is one skipped test."""
    tap = Tap()
    began = time.monotonic()
    # So that machines and files go also when a test is stopped for being late.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    try:
        cases(tap)
    except Missing as missing:
        print(f"1..0 # SKIP {missing}")
        sys.exit(0)
    except Exception as error:
        if not isinstance(error, (GuestDied, subprocess.CalledProcessError, OSError)):
            raise
        tap.check("the machine keeps running", False, error)
    # A busy machine makes it longer, not costlier.
    used = os.times()
    print(f"# {time.monotonic() - began:.0f} s, {used.children_user + used.children_system:.0f} s of CPU")
    tap.end()


# --- the kernel -----------------------------------------------------------------------------

def apt(*args, cwd=None):
    return subprocess.run(["apt-get", "-q", *args], cwd=cwd, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)


def kernel_package():
    """The package that linux-image-amd64 stands for just now."""
    for refresh in (False, True):
        if refresh:
            sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
            subprocess.run([*sudo, "apt-get", "-q", "update"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        done = subprocess.run(["apt-cache", "depends", "linux-image-amd64"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        found = re.search(r"Depends: (linux-image-\S+)", done.stdout)
        if found and apt("--print-uris", "download", found[1]).returncode == 0:
            return found[1]
    raise Missing("no package linux-image-amd64 can be had by apt-get download")


def kernel():
    """Directory with boot/vmlinuz-* and lib/modules/, unpacked once per build directory."""
    top = os.path.join(BUILD, "qemu")
    os.makedirs(top, exist_ok=True)
    have = sorted(glob.glob(top + "/linux-image-*"))
    if have:
        return have[-1]
    package = kernel_package()
    with tempfile.TemporaryDirectory(dir=top) as work:
        done = apt("download", package, cwd=work)
        if done.returncode:
            raise Missing(f"apt-get download {package}: {done.stdout.strip()[-300:]}")
        deb, = glob.glob(work + "/*.deb")
        os.mkdir(work + "/x")
        archive = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
        subprocess.run(["tar", "x", "-C", work + "/x", "--wildcards", *["./" + p if p[0] != "*" else p
                        for p in UNPACK]], stdin=archive.stdout, check=True)
        if archive.wait():
            raise OSError(f"dpkg-deb cannot unpack {deb}")
        os.rename(work + "/x", os.path.join(top, package))
    return os.path.join(top, package)


def plain(image):
    """The kernel as an ELF file beside it, unpacked once: a guest takes seconds for that each time.
    The image itself where it is packed in another way."""
    made = os.path.join(os.path.dirname(image), "vmlinux")
    if os.path.exists(made):
        return made
    with open(image, "rb") as f:
        data = f.read()
    at = data.find(b"\xfd7zXZ\0")
    if at < 0:
        return image
    elf = lzma.LZMADecompressor().decompress(data[at:])
    if not elf.startswith(b"\x7fELF"):
        return image
    with open(f"{made}.{os.getpid()}", "wb") as f:
        f.write(elf)
    os.rename(f.name, made)
    return made


def modules_in_order(root, names):
    """Files of these modules and of all they depend on, each after what it needs."""
    files = {}
    for path in glob.glob(root + "/lib/modules/*/kernel/**/*.ko", recursive=True):
        files[os.path.basename(path)[:-3].replace("-", "_")] = path
    order = []

    def add(name):
        if name not in files or files[name] in order:   # what is not there is built in
            return
        with open(files[name], "rb") as f:
            needs = re.search(rb"\0depends=([^\0]*)\0", f.read())
        for need in needs[1].decode().split(",") if needs else []:
            add(need.replace("-", "_"))
        order.append(files[name])

    for name in names:
        if name not in files:
            raise Missing(f"Debian's kernel has no module {name}")
        add(name)
    return order


# --- the initramfs --------------------------------------------------------------------------

def libraries(program):
    done = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return re.findall(r"(/\S+) \(0x", done.stdout)


def initramfs(root, path, modules):
    with tempfile.TemporaryDirectory() as tree:
        os.chmod(tree, 0o755)   # it is the guest's /

        def put(source, target, mode=0o755):
            target = tree + target
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if not os.path.exists(target):
                shutil.copyfile(source, target)
                os.chmod(target, mode)

        for directory in "proc sys dev run tmp etc mnt var/lib".split():
            os.makedirs(f"{tree}/{directory}")
        put("/bin/busybox", "/bin/busybox")
        put(HERE + "/guest/init", "/init")
        programs = {"tare": TARE, "nvme_target": NVME_TARGET}
        for tool in TOOLS:
            programs[tool] = shutil.which(tool, path="/usr/sbin:/sbin:/usr/bin:/bin")
            if not programs[tool]:
                raise Missing(f"no {tool} here")
        for name, source in programs.items():
            put(source, "/usr/bin/" + name)
            for library in libraries(source):
                # Without the name of its directory the loader finds it in the usual place.
                where = library if "ld-linux" in library else "/usr/lib/x86_64-linux-gnu/" + \
                    os.path.basename(library)
                put(os.path.realpath(library), where)
        for number, module in enumerate(modules_in_order(root, modules)):
            put(module, f"/modules/{number:03}-{os.path.basename(module)}", 0o644)
        os.symlink("usr/lib", tree + "/lib")
        names = subprocess.run(["find", "."], cwd=tree, stdout=subprocess.PIPE, check=True).stdout
        with open(path, "wb") as f:
            subprocess.run(["/bin/busybox", "cpio", "-o", "-H", "newc", "-R", "0:0"], cwd=tree, input=names,
                           stdout=f, stderr=subprocess.DEVNULL, check=True)


# --- the machine ----------------------------------------------------------------------------

class GuestDied(Exception):
    pass


class Done:
    def __init__(self, script, code, out, err):
        self.script, self.code, self.out, self.err = script, code, out, err

    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f"{self.script.strip()}\nexit code {self.code}\n{self.out[-3000:]}\n{self.err[-3000:]}"


class Machine:
    def __init__(self, modules=None):
        """modules: what it has of MODULES; without them all."""
        self.modules = [*BASE, *modules] if modules is not None else MODULES
        self.work = tempfile.mkdtemp(prefix="tare-qemu.")
        self.args = []
        self.process = self.port = None
        self.buffer = b""
        self.images = {}
        self.servers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.port:
            self.port.close()
        for process in filter(None, [self.process, *self.servers]):
            process.terminate()
            process.wait()
        shutil.rmtree(self.work, ignore_errors=True)

    def qemu(self, *args):
        self.args += args

    def disk(self, name, size, device, file=None, **options):
        """A drive over a sparse file of ours (or over file=...), seen through a QEMU device.
        discard="unmap" or "ignore" is the image's; fails="discard" lets each end with EIO."""
        if file is None:
            file = self.images[name] = f"{self.work}/{name}.img"
            with open(file, "wb") as f:
                f.truncate(int(size[:-1]) << {"K": 10, "M": 20, "G": 30}[size[-1]])
        fails = options.pop("fails", None)
        if fails:
            options = {"file.driver": "blkdebug", "file.image.driver": "file", "file.image.filename": file,
                       "file.discard": "unmap",
                       "file.inject-error.0.event": "none", "file.inject-error.0.iotype": fails, "file.inject-error.0.errno": 5, **options}
        else:
            options["file"] = file
        options = {"if": "none", "id": name, "format": "raw", **options}
        self.qemu("-drive", ",".join(f"{k.replace('_', '-')}={v}" for k, v in options.items()),
                  "-device", f"{device},drive={name}")

    def nbdkit(self, name, plugin, *args):
        """A drive of nbdkit's; its address for disk(file=...)."""
        path = f"{self.work}/{name}.sock"
        self.servers.append(subprocess.Popen(["nbdkit", "-f", "-U", path, "-t", "64", plugin, *args]))
        wait_for(lambda: os.path.exists(path), 20, "nbdkit does not start")
        return f"nbd+unix:///?socket={path}"

    def boot(self):
        began = time.monotonic()
        emulator = shutil.which("qemu-system-x86_64")
        if not emulator:
            raise Missing("no qemu-system-x86_64 here")
        if not os.access("/bin/busybox", os.X_OK):
            raise Missing("no static busybox here")
        root = kernel()
        image, = glob.glob(root + "/boot/vmlinuz-*")
        image = plain(image)
        initramfs(root, self.work + "/initramfs", self.modules)
        built = time.monotonic()
        self.console = self.work + "/console"
        socket_path = self.work + "/port"
        self.process = subprocess.Popen([
            emulator, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-machine", "q35,accel=tcg", "-cpu", "max", "-smp", "2", "-m", "1536",
            "-kernel", image, "-initrd", self.work + "/initramfs",
            "-append", "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr random.trust_cpu=on"
            " tsc=reliable",
            "-serial", "file:" + self.console,
            "-device", "virtio-serial-pci", "-device", "virtserialport,chardev=port,name=tare",
            "-chardev", f"socket,id=port,path={socket_path},server=on,wait=off", *self.args],
            stderr=open(self.work + "/stderr", "w"))
        wait_for(lambda: os.path.exists(socket_path) or self.process.poll() is not None, 30,
                 "QEMU does not start")
        self.port = socket.socket(socket.AF_UNIX)
        try:
            self.port.connect(socket_path)
            ready = self._line()
        except ConnectionError:
            raise GuestDied("QEMU does not start: " + self._console()) from None
        if ready != "ready":
            raise GuestDied("the guest says something else than ready")
        print(f"# initramfs of {os.path.getsize(self.work + '/initramfs') >> 20} MiB in {built - began:.1f} s,"
              f" ready after {time.monotonic() - built:.1f} s more")

    # --- the agent's protocol: "LENGTH\n" script; "CODE OUT ERR\n" stdout stderr

    def _more(self, deadline):
        left = max(0, deadline - time.monotonic())
        if not select.select([self.port], [], [], left)[0]:
            raise GuestDied("no answer in time; console:\n" + self._console())
        try:
            data = self.port.recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            raise GuestDied("the machine has stopped; console:\n" + self._console())
        self.buffer += data

    def _console(self):
        texts = []
        for path in filter(os.path.exists, (self.console, self.work + "/stderr")):
            with open(path, errors="replace") as f:
                texts.append(f.read()[-3000:])
        return "\n".join(texts)

    def _line(self, patience_s=PATIENCE_S):
        deadline = time.monotonic() + patience_s
        while b"\n" not in self.buffer:
            self._more(deadline)
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def _bytes(self, count):
        deadline = time.monotonic() + PATIENCE_S
        while len(self.buffer) < count:
            self._more(deadline)
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data.decode(errors="replace")

    def run(self, script, patience_s=PATIENCE_S):
        data = script.encode()
        began = time.monotonic()
        self.port.sendall(b"%d\n%s" % (len(data), data))
        code, out, err = map(int, self._line(patience_s).split())
        done = Done(script, code, self._bytes(out), self._bytes(err))
        if os.environ.get("QEMU_TRACE"):
            print(f"# {time.monotonic() - began:.1f} s: {done}", file=sys.stderr)
        return done

    def together(self, scripts, at_once=16):
        """Each in a shell of its own, several at a time: what each came to, in their order."""
        files = "".join(f"cat >/tmp/do.{i} <<'TOGETHER'\n{text}\nTOGETHER\n" for i, text in enumerate(scripts))
        self.must(files + f"seq 0 {len(scripts) - 1} | xargs -P {at_once} -I @ sh -c "
                  "'sh /tmp/do.@ >/tmp/out.@ 2>/tmp/err.@ </dev/null; echo $? >/tmp/code.@'")
        answers = []
        for i, text in enumerate(scripts):
            done = self.must(f"cat /tmp/code.{i} /tmp/out.{i}; cat /tmp/err.{i} >&2")
            code, out = done.out.split("\n", 1)
            answers.append(Done(text, int(code), out, done.err))
        return answers

    def must(self, script):
        """A step of the test itself, not a fact: its failure ends the test."""
        done = self.run(script)
        if done.code:
            raise GuestDied(f"a step failed: {done}")
        return done

    # --- the host's side of a disk

    def held(self, name):
        """Bytes that a drive of ours holds, be it an image or the reference drive."""
        if name in self.images:
            return self.data(name)
        return self.stat(name)["mapped_bytes"]

    def stat(self, name):
        done = subprocess.run(["nbdcopy", f"nbd+unix:///stat?socket={self.work}/{name}.sock", "-"],
                              stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def ranges(self, name, start=0, end=None):
        """What of the image is no hole between start and end, as pairs of offsets."""
        with open(self.images[name], "rb") as f:
            end = os.fstat(f.fileno()).st_size if end is None else end
            at = start
            while at < end:
                try:
                    at = os.lseek(f.fileno(), at, os.SEEK_DATA)
                except OSError:
                    break
                stop = min(os.lseek(f.fileno(), at, os.SEEK_HOLE), end)
                if stop > at:
                    yield at, stop
                at = stop

    def data(self, name, start=0, end=None):
        """Bytes of the image that are not holes, between start and end."""
        return sum(stop - at for at, stop in self.ranges(name, start, end))

    def pieces(self, name):
        """Where the image's data lies, and the data."""
        with open(self.images[name], "rb") as f:
            for at, stop in self.ranges(name):
                f.seek(at)
                yield b"%d %d\n" % (at, stop)
                yield f.read(stop - at)


def wait_for(fact, seconds, sentence):
    deadline = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > deadline:
            raise GuestDied(sentence)
        time.sleep(0.02)
