"""Where tasks on groups of blocks run: in threads of this process, or on a Dask cluster.

A task is a function of a group of blocks and some arguments, without memory of its own, so that a cluster may repeat it
anywhere. What a group needs again and again (its recipes, vectors over its samples) is sent once and held by the worker
that has used it; a task that does not find it there says so and gets it again, as after the loss of a worker.
"""

from __future__ import annotations

import shutil
import threading
import uuid
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .. import __version__
from .._threads import limit_threads, n_available_threads, run_in_threads
from .blocks import scratch_folder
from .clusters import LOCALHOST
from .packing import Packed, pack, unpack

GROUPS_PER_THREAD = 1  # every task more costs some milliseconds a pass
FAN_IN = 8  # results that are merged at a time on a cluster
RETRIES = 3  # of a task whose worker is lost or that fails

_held: dict[tuple, tuple[int, Any]] = {}  # of this process: version and value of every slot


@dataclass(frozen=True)
class Held:
    """A value that its user holds: sent with its version at first, and as the version alone from then on."""

    slot: tuple
    version: int
    value: Any = None
    is_sent: bool = True


class Missing:
    """The answer of a task that does not hold what it needs."""


def call(task: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Run a task in one thread, with what is held in place."""
    values = [_take(one) if isinstance(one, Held) else unpack(one) for one in arguments]
    if any(isinstance(value, Missing) for value in values):
        return Missing()
    with limit_threads(1):
        return task(*values)


def _take(argument: Held) -> Any:
    """The value that is held, or that has come to be held."""
    if argument.is_sent:
        _held[argument.slot] = argument.version, unpack(argument.value)
    version, value = _held.get(argument.slot, (None, None))
    return value if version == argument.version else Missing()


def release(token: str) -> None:
    """Forget what is held for a table."""
    for slot in [slot for slot in _held if slot[0] == token]:
        _held.pop(slot, None)


class Executor(ABC):
    """Runs a task on every group of blocks.

    Attributes
    ----------
    n_bytes : int
        Size of the arrays that have moved between processes.
    """

    n_bytes: int = 0

    @property
    @abstractmethod
    def n_groups(self) -> int:
        """How many groups of blocks keep everybody busy."""

    @property
    @abstractmethod
    def folder(self) -> str | None:
        """Where blocks are kept on the disk; None for the folders of the workers."""

    @abstractmethod
    def run(
        self,
        task: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        merge: Callable[..., Any],
        places: Sequence[float] | None = None,
    ) -> Any:
        """What ``merge`` makes of the results of the task, one per group, in their order.

        ``places`` says where in the table the groups are, from 0 to 1, if they are not all of them.
        """

    @abstractmethod
    def forget(self, token: str) -> None:
        """Remove what is held and kept for a table."""

    def close(self) -> None:  # noqa: B027 (threads have nothing to close)
        """Remove what is not of a single table."""


class Threads(Executor):
    """Threads of this process, for tables on the disk of this computer.

    Parameters
    ----------
    folder : str
        Where blocks are kept.
    """

    def __init__(self, folder: str):
        self._folder = folder

    @property
    def n_groups(self) -> int:
        """One per thread."""
        return n_available_threads()

    @property
    def folder(self) -> str | None:
        """A folder of this computer."""
        return self._folder

    def run(
        self,
        task: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        merge: Callable[..., Any],
        places: Sequence[float] | None = None,
    ) -> Any:
        """The merged results of the task."""
        results: list[Any] = [None] * len(arguments)

        def compute(number: int) -> None:
            values = (one.value if isinstance(one, Held) else one for one in arguments[number])
            results[number] = task(*values)

        run_in_threads(compute, range(len(arguments)))
        return merge(*results)

    def forget(self, token: str) -> None:
        """Nothing is held; the folder is removed by who has made it."""


class Cluster(Executor):
    """A Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        Connected to the scheduler.
    """

    def __init__(self, client: Any):
        from distributed.comm import get_address_host

        self.client = client
        self._address = client.scheduler.address
        self._lock = threading.Lock()
        self._sent: dict[tuple, int] = {}
        self._published: list[str] = []
        workers = client.scheduler_info(n_workers=-1)["workers"]
        if not workers:
            raise ValueError(
                f"the cluster at {self._address} has no workers; start some (dask worker ADDRESS) and wait "
                "for them (client.wait_for_workers)."
            )
        self._workers = sorted(workers)
        # results come from the workers of this computer; others may be where only the scheduler can reach them
        self._is_direct = all(get_address_host(address) == LOCALHOST for address in workers)
        self._n_threads = sum(worker["nthreads"] for worker in workers.values())

    @property
    def n_groups(self) -> int:
        """One per thread of the workers."""
        return GROUPS_PER_THREAD * self._n_threads

    @property
    def folder(self) -> str | None:
        """Each worker has its own."""
        return None

    def run(
        self,
        task: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        merge: Callable[..., Any],
        places: Sequence[float] | None = None,
    ) -> Any:
        """The merged results of the task; merged on the cluster, ``FAN_IN`` at a time, if they are many."""
        places = [number / len(arguments) for number in range(len(arguments))] if places is None else places
        result = self._run(task, [tuple(self._unsent(one) for one in each) for each in arguments], merge, places)
        if isinstance(result, Missing):
            result = self._run(task, [tuple(map(_packed, each)) for each in arguments], merge, places)
        if isinstance(result, Missing):
            raise RuntimeError("a worker does not hold what was sent with its task; restart the cluster.")
        return result

    def _unsent(self, argument: Any) -> Any:
        """An argument as it is sent: a held value as its version alone, if it was sent before."""
        if not isinstance(argument, Held):
            return pack(argument)
        with self._lock:
            known = self._sent.get(argument.slot) == argument.version
            self._sent[argument.slot] = argument.version
        return Held(argument.slot, argument.version, is_sent=False) if known else _packed(argument)

    def _run(
        self,
        task: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        merge: Callable[..., Any],
        places: Sequence[float],
    ) -> Any:
        import dask

        with explained_failures(self._address), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # vectors over the samples, once
            self.n_bytes += size_of(arguments)
            homes = [[self._workers[int(place * len(self._workers))]] for place in places]
            keys = dict(zip((f"{task.__name__}-{uuid.uuid4().hex}" for _ in homes), homes))
            # one message for all: the client waits between two of them
            with dask.annotate(workers=keys.__getitem__, allow_other_workers=True, retries=RETRIES):
                futures = self.client.map(partial(call, task), arguments, key=list(keys), pure=False)
            try:
                while len(futures) > FAN_IN:
                    parts = [futures[k : k + FAN_IN] for k in range(0, len(futures), FAN_IN)]
                    futures = [self.client.submit(_merge, merge, *part, retries=RETRIES, pure=False) for part in parts]
                results = self.client.gather(futures, direct=self._is_direct)
            except BaseException:
                if self.client.status == "running":
                    self.client.cancel(futures)
                raise
        self.n_bytes += sum(size_of(result) for result in results)
        return _merge(merge, *results)

    def forget(self, token: str) -> None:
        """Remove what the workers hold and keep, those that are still there."""
        for slot in [slot for slot in self._sent if slot[0] == token]:
            del self._sent[slot]
        if self.client.status == "running":
            self.client.run(_forget, token, on_error="ignore")

    def publish(self, futures: list[Any]) -> str:
        """Let the workers find what the cluster holds; returns the name of it."""
        name = f"semisvm-{uuid.uuid4().hex[:12]}"
        self.client.publish_dataset(**{name: futures})
        self._published.append(name)
        return name

    def close(self) -> None:
        """Take back what was published."""
        if self.client.status == "running":
            for name in self._published:
                self.client.unpublish_dataset(name)
        self._published.clear()


def held_by_cluster(client: Any, value: Any) -> Any:
    """A value that is sent once and that tasks take as an argument; it outlives the loss of a worker."""
    return client.submit(_same, value, pure=False, retries=RETRIES)


def _same(value: Any) -> Any:
    return value


def _packed(argument: Any) -> Any:
    """An argument, or the value that is to be held, packed."""
    return replace(argument, value=pack(argument.value)) if isinstance(argument, Held) else pack(argument)


def _merge(merge: Callable[..., Any], *results: Any) -> Any:
    """Merged results; missing if one of them is."""
    return Missing() if any(isinstance(result, Missing) for result in results) else merge(*results)


def _forget(token: str, dask_worker: Any) -> None:
    """Remove what a worker holds and keeps for a table."""
    release(token)
    shutil.rmtree(scratch_folder(token, dask_worker.local_directory), ignore_errors=True)


def check_workers(client: Any) -> None:
    """Refuse workers that do not have this version of semisvm: one that cannot read a task closes without a word."""
    if client.status != "running":
        return
    # a function of semisvm could not be read there; a builtin one can
    found = client.run(eval, "__import__('semisvm').__version__", on_error="return")
    others = {address: version for address, version in found.items() if version != __version__}
    if others:
        address, version = next(iter(others.items()))
        what = f"cannot import semisvm ({version})" if isinstance(version, Exception) else f"has semisvm {version}"
        raise ClusterFailure(
            f"the worker at {address} {what}; here it is {__version__}. Install the same version on all workers and "
            f"start them again ({len(others)} of {len(found)} differ)."
        )


def size_of(value: Any) -> int:
    """Bytes of the arrays in a value."""
    if isinstance(value, Held):
        return size_of(value.value)
    if isinstance(value, tuple | list):
        return sum(size_of(one) for one in value)
    if isinstance(value, dict):
        return size_of(list(value.values()))
    if isinstance(value, np.ndarray | Packed):
        return value.nbytes
    return sum(size_of(getattr(value, name)) for name in ("data", "indices", "indptr") if hasattr(value, name))


@contextmanager
def explained_failures(address: str) -> Iterator[None]:
    """Say in a sentence what happened to the cluster."""
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise ClusterFailure(
            f"a task was on {error.allowed_failures + 1} workers when they were lost. That happens where a worker has "
            "too little memory for a block: use smaller blocks (rechunk X), or workers with more memory or fewer "
            "threads; their logs say more."
        ) from error
    except (CancelledError, CommClosedError, TimeoutError) as error:
        raise ClusterFailure(
            f"the connection to the scheduler at {address} was lost; start the cluster again. A fit with a checkpoint "
            "goes on from there."
        ) from error


class ClusterFailure(RuntimeError):
    """A cluster that cannot go on; the message says why."""
