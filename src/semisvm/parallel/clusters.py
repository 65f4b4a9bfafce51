"""Dask clusters: one of processes of this computer, that nobody else can reach, or one that is running elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from .._threads import n_available_threads
from .._validation import import_optional

LOCALHOST = "127.0.0.1"


@contextmanager
def local_client(
    n_workers: int | None = None,
    memory_limit: str | int | None = None,
    folder: str | Path | None = None,
    *,
    dashboard_address: str | None = None,
    security: Any = True,
) -> Iterator[Any]:
    """Start a cluster of processes of this computer and connect to it; it ends with the ``with`` statement.

    Scheduler and workers, and their HTTP servers, listen on 127.0.0.1 alone, at ports that are free. In a script it
    belongs below ``if __name__ == "__main__":``, as everything that starts processes.

    Parameters
    ----------
    n_workers : int, optional
        Processes of one thread each; by default one for each thread of this process.
    memory_limit : str or int, optional
        Of each worker, such as "2GB"; by default the memory of the computer divided by the workers.
    folder : path, optional
        For what workers keep on the disk; by default that of temporary files.
    dashboard_address : str, optional
        Where Dask's dashboard listens, such as "127.0.0.1:8787"; by default there is none. ":8787" would show it on
        all addresses of the computer.
    security : bool or distributed.Security, default True
        True for certificates that are made for this cluster, without which other users of the computer could connect
        to it and run code.

    Yields
    ------
    distributed.Client

    Examples
    --------
    >>> from semisvm import parallel
    >>> with parallel.local_client(2, memory_limit="2GB") as client:  # doctest: +SKIP
    ...     parallel.fit(model, X, y, client=client)
    """
    distributed = import_optional("distributed", "dask", "a cluster")
    if security is True:
        import_optional("cryptography", "dask", "a cluster with certificates", "security=False")
    options: dict[str, Any] = {} if memory_limit is None else {"memory_limit": memory_limit}
    address = dashboard_address or f"{LOCALHOST}:0"  # of the HTTP server, which a scheduler always has
    with ExitStack() as stack:
        cluster = distributed.LocalCluster(
            n_workers=n_workers or n_available_threads(),
            threads_per_worker=1,
            processes=True,
            host=LOCALHOST,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": address, "dashboard": dashboard_address is not None},
            local_directory=None if folder is None else str(folder),
            security=security or None,
            silence_logs=logging.CRITICAL,  # what goes wrong in a task is raised here
            **options,
        )
        stack.enter_context(cluster)
        yield stack.enter_context(distributed.Client(cluster))


def connect(
    address: str,
    *,
    security: Any = None,
    ca_file: str | Path | None = None,
    cert: str | Path | None = None,
    key: str | Path | None = None,
    timeout: float = 10.0,
) -> Any:
    """Connect to a cluster that is running, and wait for a worker.

    Parameters
    ----------
    address : str
        Of the scheduler, such as "tcp://host:8786" or "tls://host:8786".
    security : distributed.Security, optional
        Certificates, and what else the scheduler asks for; by default the settings of Dask.
    ca_file, cert, key : path, optional
        In place of it: files of the certificate authority, and of the certificate of this client with its key.
    timeout : float
        Seconds after which a scheduler that does not answer is given up, and so is waiting for a worker.

    Returns
    -------
    distributed.Client
        Ends the connection when it is closed, or at the end of a ``with`` statement; the cluster goes on.

    Raises
    ------
    ValueError
        For an address or certificates that cannot be used.
    ConnectionError
        If the scheduler does not answer or has no workers.
    """
    distributed = import_optional("distributed", "dask", "a cluster")
    if ca_file or cert or key:
        security = _security(distributed, ca_file, cert, key)
    _check_address(address, security or distributed.Security())
    try:
        client = distributed.Client(address, security=security, timeout=timeout)
    except OSError as error:
        raise ConnectionError(
            f"the scheduler at {address} does not answer ({_first_sentence(error)}); check that it is running (dask "
            "scheduler), its address, and for tls:// the certificates."
        ) from None
    try:
        client.wait_for_workers(1, timeout=timeout)
    except TimeoutError:
        client.close()
        raise ConnectionError(
            f"the scheduler at {address} has no workers; start some (dask worker {address}) and try again."
        ) from None
    return client


def _security(distributed: Any, *paths: str | Path | None) -> Any:
    """The certificates in some files, all of which have to be there."""
    for name, path in zip(("ca_file", "cert", "key"), paths):
        if path is None or not Path(path).is_file():
            raise ValueError(
                f"{name}={str(path)!r} is not a file; TLS needs three: that of the certificate authority, and the "
                "certificate of this client with its key."
            )
    ca_file, cert, key = map(str, paths)
    return distributed.Security(tls_ca_file=ca_file, tls_client_cert=cert, tls_client_key=key, require_encryption=True)


def _check_address(address: str, security: Any) -> None:
    """Refuse an address that cannot be one of a scheduler; a client that fails because of it would stay the default."""
    from distributed.comm import get_address_host_port

    try:
        get_address_host_port(address)
    except ValueError as error:
        raise ValueError(
            f"{address!r} is no address of a scheduler ({_first_sentence(error)}); pass one such as tcp://host:8786, "
            "or tls://host:8786 with certificates."
        ) from None
    if address.startswith("tls://") and security.get_connection_args("client").get("ssl_context") is None:
        raise ValueError(
            f"the scheduler at {address} asks for certificates; pass the files of the certificate authority, and of "
            "the certificate of this client with its key."
        )


def _first_sentence(error: Exception) -> str:
    """What an error says, without its end."""
    return " ".join(str(error).split(". ")[0].split()).rstrip(".")[:120]
