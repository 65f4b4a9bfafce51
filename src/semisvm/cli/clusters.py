"""The cluster of a command: started or found by the options, and tasks on the partitions of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..parallel import connect, local_client
from ..parallel.execution import ClusterFailure, explained_failures
from . import InputError
from .progress import ProgressDisplay

LOCAL = "local"
RETRIES = 3  # of a task whose worker is lost
TLS_FILES = ("ca.pem", "cert.pem", "key.pem")  # of the authority, and of the client


@dataclass(frozen=True)
class ClusterOptions:
    """The options of a cluster.

    Attributes
    ----------
    address : str
        Of the scheduler, or "local".
    n_workers : int or None
        Processes of a local cluster.
    tls : Path or None
        The folder of the certificates.
    checkpoint : Path or None
        The folder from which a fit that was interrupted goes on.
    """

    address: str
    n_workers: int | None = None
    tls: Path | None = None
    checkpoint: Path | None = None

    @classmethod
    def from_options(
        cls, address: str | None, n_workers: int | None, tls: Path | None, checkpoint: Path | None
    ) -> ClusterOptions | None:
        """The cluster that the options name, None without one; refused if they do not go together."""
        if address is None:
            others = {"--workers": n_workers, "--tls-folder": tls, "--checkpoint": checkpoint}
            named = [name for name, value in others.items() if value is not None]
            if named:
                raise InputError(f"{named[0]} is an option of a cluster; pass --cluster local or an address as well.")
            return None
        if address == LOCAL and tls is not None:
            raise InputError("--tls-folder is for a cluster that is running elsewhere; remove it from --cluster local.")
        if address != LOCAL and n_workers is not None:
            raise InputError(f"--workers is for --cluster local; the workers of {address} are already there.")
        return cls(address, n_workers, tls, checkpoint)

    def describe(self, client: Any) -> dict[str, Any]:
        """The number of workers, and the address of the dashboard if there is one."""
        dashboard = None if self.address == LOCAL else client.dashboard_link
        return {"workers": len(client.scheduler_info(n_workers=-1)["workers"]), "dashboard": dashboard}

    def client(self) -> AbstractContextManager[Any]:
        """Connect to the cluster, or start it."""
        if self.address == LOCAL:
            return local_client(self.n_workers)
        if self.tls is None:
            return connect(self.address)
        ca_file, cert, key = (self.tls / name for name in TLS_FILES)
        return connect(self.address, ca_file=ca_file, cert=cert, key=key)


@contextmanager
def open_cluster(options: ClusterOptions, display: ProgressDisplay) -> Iterator[Any]:
    """The client of a cluster; what goes wrong with the cluster is said in one sentence."""
    display.begin("starting workers" if options.address == LOCAL else "connecting")
    with ExitStack() as stack:
        try:
            client = stack.enter_context(options.client())
        except (ImportError, ConnectionError, ValueError) as error:
            raise InputError(str(error)) from None
        try:
            with explained_failures(client.scheduler.address):
                yield client
        except ModuleNotFoundError as error:
            raise InputError(
                f"a worker has no module {error.name}; install the same packages on all computers: "
                'pip install "semisvm[cli,dask]"'
            ) from error
        except ClusterFailure as error:
            raise InputError(str(error)) from error


def run_tasks(
    client: Any,
    function: Callable[..., Any],
    arguments: Sequence[tuple[Any, ...]],
    stage: str,
    display: ProgressDisplay,
) -> list[Any]:
    """The results of a function for each of some arguments, in their order; a part of the stage is one of them."""
    from distributed import as_completed

    display.begin(stage, len(arguments))
    submitted = [client.submit(_attempt, function, *each, pure=False, retries=RETRIES) for each in arguments]
    numbers = {future.key: number for number, future in enumerate(submitted)}
    results: list[Any] = [None] * len(arguments)
    try:
        for future, result in as_completed(submitted, with_results=True):
            if isinstance(result, InputError):
                raise result
            results[numbers[future.key]] = result
            display.advance()
    except BaseException:
        client.cancel(submitted)
        raise
    return results


def _attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a function, or why its input cannot be used, which is no reason to try again."""
    try:
        return function(*arguments)
    except InputError as error:
        return error
