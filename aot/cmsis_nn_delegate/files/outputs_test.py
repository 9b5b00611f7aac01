"""Writing is interrupted at every step, by exceptions and by kills: what is left is whole, or is told apart.

The writer runs in a child process (fork), which an audit hook counts the steps of: every file opened, renamed
or removed, every folder made or removed in the output folder.
"""

import contextlib
import errno
import os
import pathlib
import resource
import signal
import sys
import tempfile
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.files import outputs
from cmsis_nn_delegate.files.artifacts import Artifacts, check_name
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.report.delegated_work import Work
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

_STEPS = {"open", "os.link", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "fcntl.flock"}
_KILLED, _REFUSED, _FAILED = 77, 78, 79


class Remembering(Compiled):
    """Makes its files once: they are written thousands of times."""

    _made = {}

    def files(self, emit="payload", page=False):
        key = id(self), emit, page
        if key not in self._made:
            self._made[key] = super().files(emit, page)
        return dict(self._made[key])


class WithPage(Remembering):
    """Written with a page, a short one."""

    def page(self, image=None):
        return f'<meta name="payload-crc32" content="{decode(self.payload).crc32:08x}">'

    def files(self, emit="payload", page=True):
        return super().files(emit, page)

    def write(self, folder, emit="payload", page=True):
        return super().write(folder, emit, page)


@pytest.fixture
def tmp_path(tmp_path):
    """In memory where there is such a folder: some disks take 2 ms to remove one of the thousands of files."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield pathlib.Path(folder)


@pytest.fixture(autouse=True)
def no_flushing(monkeypatch):
    """What a killed process wrote is there also if the disk does not have it yet; waiting for disks takes minutes."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def compiled(seed, whole=True, name="net", form=Remembering):
    """A compiled model without PyTorch's part of it; not `whole`: one part of it is delegated."""
    target = get_target("cortex-m55")
    builder = GraphBuilder(seed)
    x = builder.input(1, 3, 6, 6)
    encoded = encode(builder.graph(builder.conv2d(x, 4, (3, 3))), target)
    return form(
        name=name,
        target=target,
        io="int8",
        pte=b"program of %d " % seed + encoded.payload,
        program=None,
        reports=(),
        work=Work(),
        quantizer="default",
        placements={},
        parts=(encoded,),
        obstacle="" if whole else "a node stays outside",
    )


def files_of(model):
    return {} if model is None else FILES[id(model)]


OLD, NEW = compiled(1), compiled(2)
OLD_PART, NEW_PART = compiled(3, whole=False), compiled(4, whole=False)
OLD_PAGE, NEW_PAGE = compiled(5, form=WithPage), compiled(6, form=WithPage)
FILES = {id(model): model.files() for model in (OLD, NEW, OLD_PART, NEW_PART, OLD_PAGE, NEW_PAGE)}
TRANSITIONS = {
    "first": (None, NEW),
    "again": (OLD, NEW),
    "becomes partial": (OLD, NEW_PART),
    "becomes whole": (OLD_PART, NEW),
    "stays partial": (OLD_PART, NEW_PART),
    "gets a page": (OLD, NEW_PAGE),
    "loses its page": (OLD_PAGE, NEW),
}


def in_child(action, limit=None):
    """(exit code or negative signal, message) of `action()` in a process of its own."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code, message = _FAILED, ""
        try:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            message = str(action())
            code = 0
        except UserError as error:
            code, message = _REFUSED, str(error)
        except BaseException as error:
            message = repr(error)
        finally:
            os.write(write, message.encode())
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as pipe:
        message = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), message


def hooked(folder, action, at):
    """Calls `at(i)` before step i of `action()`; the number of steps."""
    count = 0

    def hook(event, arguments):
        nonlocal count
        if event not in _STEPS:
            return
        if event == "open" and not str(arguments[0]).startswith(str(folder)):
            return
        count += 1
        at(count - 1)

    sys.addaudithook(hook)  # there is no way to remove it: only in a child
    action()
    return count


def steps_of(folder, action):
    code, message = in_child(lambda: hooked(folder, action, lambda index: None))
    assert code == 0, message
    return int(message)


def contents(folder):
    """Visible files."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} if folder.exists() else {}


def check_state(folder, old, new):
    """What is there passes `Artifacts.check` only if all of it is of `old`, or all of it of `new`."""
    there = contents(folder)
    assert there.keys() <= files_of(old).keys() | files_of(new).keys()
    for name, content in there.items():
        assert content in (files_of(old).get(name), files_of(new).get(name)), f"{name} is not whole"
    if not there:
        return "nothing"
    try:
        Artifacts.of(str(folder / "net")).check()
    except UserError as error:
        assert "compile the model again" in str(error)
        return "refused"
    for state, model in (("old", old), ("new", new)):
        if all(files_of(model).get(name) == content for name, content in there.items()):
            return state
    raise AssertionError(f"a mixture is not noticed: {sorted(there)}")


def check_recovers(folder):
    """The next write works, and leaves nothing of the one that was interrupted."""
    OLD.write(folder)
    assert contents(folder) == files_of(OLD)
    assert sorted(p.name for p in folder.iterdir()) == sorted(files_of(OLD))


@pytest.mark.parametrize("transition", TRANSITIONS)
@pytest.mark.parametrize("how", ["kill", "exception"])
def test_interrupted_at_every_step(tmp_path, transition, how):
    old, new = TRANSITIONS[transition]
    states = set()

    def folder_of(name):
        folder = tmp_path / name
        if old is not None:
            old.write(folder)
        return folder

    folder = folder_of("whole")
    count = steps_of(folder, lambda: new.write(folder))
    assert check_state(folder, old, new) == "new"
    assert count > 2 * len(files_of(new))
    for index in range(count):
        folder = folder_of(str(index))

        def at(step):
            if step == index and how == "kill":
                os._exit(_KILLED)
            if step == index:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "somewhere")

        code, message = in_child(lambda: hooked(folder, lambda: new.write(folder), at))
        state = check_state(folder, old, new)
        states.add(state)
        if how == "kill":
            assert code == _KILLED, message
        elif code == _REFUSED:
            assert str(folder) in message and "No space left" in message
            assert contents(folder) == files_of(old)
        else:  # on the way to the lock, or of what is removed in the end
            assert (code, state) == (0, "new"), message
        check_recovers(folder)
    assert "new" in states
    assert "refused" not in states or how == "kill"
    assert old is None or "old" in states


@pytest.mark.parametrize("killed", [False, True])
def test_a_full_disk_in_the_middle_of_a_file(tmp_path, killed):
    """The system cuts files at a size: then it fails the write, or kills the writer."""

    def write(folder):
        if killed:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        NEW.write(folder)

    sizes = sorted({len(content) for content in files_of(NEW).values()})
    for index, limit in enumerate([0, 1, *(size - 1 for size in sizes)]):
        folder = tmp_path / str(index)
        OLD.write(folder)
        code, message = in_child(lambda: write(folder), limit)
        if killed:
            assert code == -signal.SIGXFSZ
        else:
            assert code == _REFUSED, message
            assert str(folder / "net.") in message and "files that were there are unchanged" in message
        assert contents(folder) == files_of(OLD)
        check_recovers(folder)


def test_two_writers_do_not_mix(tmp_path):
    """Whoever comes second waits: the files are those of one of them."""
    children = []
    folder = tmp_path / "made" / "by the first"
    for model in (OLD, NEW_PAGE, NEW_PART) * 4:
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                model.write(folder)
                os._exit(0)
            os._exit(1)
        children.append(pid)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * 12
    assert contents(folder) in [files_of(model) for model in (OLD, NEW_PAGE, NEW_PART)]
    assert len(list(folder.iterdir())) == len(contents(folder))
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


@pytest.mark.parametrize("old, new", [(OLD, NEW), (OLD, NEW_PART), (OLD_PART, NEW), (OLD_PART, NEW_PART)])
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_mixture_is_refused(tmp_path_factory, old, new, data):
    """Also what no interruption leaves, as long as a file names what the others are."""
    folder = tmp_path_factory.mktemp("mixture")
    for name in sorted(files_of(old).keys() | files_of(new).keys()):
        model = data.draw(st.sampled_from([*(m for m in (old, new) if name in files_of(m)), None]), label=name)
        if model is not None:
            (folder / name).write_bytes(files_of(model)[name])
    # Files of one delegate call other than the graph's do not say which program they belong to.
    if not {"net.graph.npz", "net.parts.json"} & contents(folder).keys():
        (folder / "net.pte").unlink(missing_ok=True)
    check_state(folder, old, new)


@pytest.mark.parametrize("suffix", [".payload.bin", ".graph.npz", ".report.txt", ".report.json", ".h", ".c"])
def test_files_that_do_not_say_what_they_belong_to(tmp_path, suffix):
    OLD.write(tmp_path)
    (tmp_path / f"net{suffix}").write_bytes(b"of an earlier version")
    with pytest.raises(UserError, match=rf"net\{suffix}"):
        Artifacts.of(str(tmp_path / "net")).check()


def test_every_text_of_a_model_in_parts_names_the_program():
    named = f"{zlib.crc32(NEW_PART.pte):08x}"
    texts = {name: content.decode() for name, content in NEW_PART.files().items() if not name.endswith(".pte")}
    assert texts.keys() == {"net.kernels.h", "net.parts.json"}
    assert all(named in text for text in texts.values())


def test_every_text_names_the_payload():
    named = f"{decode(NEW.payload).crc32:08x}"
    for name, content in NEW.files("cpp").items():
        assert name.endswith((".bin", ".npz", ".pte")) or named in content.decode(), name


@pytest.mark.parametrize("suffix", [".model.h", ".model.cc"])
def test_calls_of_another_compilation_are_refused(tmp_path, suffix):
    NEW.write(tmp_path, "cpp")
    Artifacts.of(str(tmp_path / "net")).check()
    (tmp_path / f"net{suffix}").write_bytes(OLD.files("cpp")[f"net{suffix}"])
    with pytest.raises(UserError, match=rf"net\{suffix}.*different compilations"):
        Artifacts.of(str(tmp_path / "net")).check()


def test_calls_of_an_earlier_compilation_do_not_stay(tmp_path):
    NEW.write(tmp_path, "cpp")
    NEW.write(tmp_path)
    assert contents(tmp_path) == files_of(NEW)


def test_what_is_not_one_payload_has_no_calls_to_write(tmp_path):
    with pytest.raises(UserError, match="net cannot be written as C.., because .* a node stays outside"):
        NEW_PART.write(tmp_path, "cpp")
    with pytest.raises(UserError, match="emit 'c' is none of payload, cpp"):
        NEW.files("c")
    assert not list(tmp_path.iterdir())


# Folders and names ----------------------------------------------------------


def test_a_folder_that_can_be_written_is_left_as_it_was(tmp_path):
    outputs.check_writable(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a").mkdir()
    outputs.check_writable(tmp_path / "a" / "b", ["x"])
    outputs.check_writable(tmp_path / "a", ["x"])
    assert [p.name for p in tmp_path.rglob("*")] == ["a"]


def test_folders_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "net.h").mkdir()
    for folder, names, pattern in (
        (tmp_path / "file", [], "file is a file, not a folder"),
        (tmp_path / "file" / "below", [], "below cannot be made: Not a directory"),
        (tmp_path, ["net.pte", "net.h"], "net.h is a folder"),
        ("/proc/here", [], "/proc/here cannot be made"),
        ("/proc", [], "/proc takes no files"),
    ):
        with pytest.raises(UserError, match=pattern):
            outputs.check_writable(folder, names)
    with pytest.raises(UserError, match="net.h is a folder"):
        NEW.write(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "net.h"]


@pytest.mark.parametrize("name", ["net", "a", "_", "kws-1", "v1.2", "netz_ü", "1x", "x" * 200])
def test_names_that_models_can_have(name):
    check_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        ".net",
        "-o",
        "a/b",
        "/net",
        "a\\b",
        "a b",
        "a\nb",
        'a"b',
        "a\0b",
        "net.pte",
        "net.graph.npz",
        "x" * 255,
    ],
)
def test_names_that_models_cannot_have(name):
    with pytest.raises(UserError, match="cannot be the name of a model"):
        check_name(name)


def test_a_folder_in_the_place_of_an_obsolete_file_stays(tmp_path):
    kept = tmp_path / "net.old" / "notes.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    with pytest.raises(UserError, match="net.old is a folder, in the place of a file"):
        outputs.write_files(tmp_path, {"net.new": b"1"}, obsolete=["net.old"])
    assert kept.read_text() == "mine" and not (tmp_path / "net.new").exists()
