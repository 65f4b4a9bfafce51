"""Clusters of this computer can be reached by nobody else, and connections are refused in one sentence."""

import os
import pathlib
import subprocess
import sys

import pytest

from semisvm import parallel
from semisvm.parallel.reading import current_client

distributed = pytest.importorskip("distributed")

LISTENING = "0A"
LOCALHOST = ("0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000")


def listening(pids):
    """Addresses on which processes listen, in hexadecimal, as Linux lists them."""
    sockets = set()
    for pid in pids:
        for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            try:
                sockets.add(os.readlink(link))
            except FileNotFoundError:
                continue
    tables = [pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    cells = [line.split() for table in tables for line in table]
    return [one[1].partition(":")[0] for one in cells if one[3] == LISTENING and f"socket:[{one[9]}]" in sockets]


@pytest.mark.skipif(not pathlib.Path("/proc/net/tcp").exists(), reason="reads /proc")
def test_nothing_listens_beyond_this_computer_and_strangers_are_refused():
    pytest.importorskip("cryptography")
    with parallel.local_client(2, memory_limit="1GB") as client:
        pids = list(client.run(os.getpid).values())
        address = client.scheduler.address
        found = listening([os.getpid(), *pids])
        assert len(found) >= 6  # scheduler, nannies and workers, and their HTTP servers
        assert set(found) <= set(LOCALHOST)
        assert client.run(lambda dask_worker: dask_worker.memory_manager.memory_limit) == dict.fromkeys(
            client.scheduler_info()["workers"], 10**9
        )
        assert set(client.nthreads().values()) == {1}
        assert address.startswith("tls://")
        with pytest.raises(ValueError, match="asks for certificates"):
            parallel.connect(address)
        with pytest.raises(ConnectionError, match="does not answer"):
            parallel.connect(address.replace("tls", "tcp"), timeout=0.5)
    with pytest.raises(ConnectionError, match="does not answer"):
        parallel.connect(address.replace("tls", "tcp"), timeout=0.3)


def test_certificates_in_files_open_a_cluster_that_refuses_others(tmp_path):
    pytest.importorskip("cryptography")
    own, other = (distributed.Security.temporary() for _ in range(2))
    for name, security in (("own", own), ("other", other)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ca.pem").write_text(security.tls_ca_file)
        (tmp_path / name / "cert.pem").write_text(security.tls_client_cert)
        (tmp_path / name / "key.pem").write_text(security.tls_client_key)

    def connect(name):
        ca_file, cert, key = (tmp_path / name / f"{one}.pem" for one in ("ca", "cert", "key"))
        return parallel.connect(address, ca_file=ca_file, cert=cert, key=key, timeout=5)

    with distributed.LocalCluster(
        n_workers=1, processes=False, protocol="tls", security=own, dashboard_address=None, silence_logs=50
    ) as cluster:
        address = cluster.scheduler_address
        with connect("own") as client:
            assert client.submit(sum, [1, 2]).result(timeout=20) == 3
        with pytest.raises(ConnectionError, match="certificate"):
            connect("other")
        with parallel.connect(address, security=own) as client:
            assert client.submit(sum, [1, 2]).result(timeout=20) == 3


@pytest.mark.parametrize(
    "address, error, message",
    [
        ("somewhere", ValueError, r"'somewhere' is no address of a scheduler \(missing port"),
        ("http://x:1", ValueError, "unknown address scheme 'http'"),
        ("tcp://127.0.0.1:9", ConnectionError, r"tcp://127.0.0.1:9 does not answer \(Timed out"),
        ("tls://127.0.0.1:9", ValueError, "asks for certificates; pass the files"),
    ],
)
def test_scheduler_that_is_not_there_is_named_and_no_client_stays(address, error, message):
    with pytest.raises(error, match=message):
        parallel.connect(address, timeout=0.3)
    assert current_client() is None


def test_certificates_are_not_left_out_silently(monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(ImportError, match=r"semisvm\[dask\].*security=False"), parallel.local_client(1):
        pass
    with parallel.local_client(1, security=False) as client:
        assert client.scheduler.address.startswith("tcp://127.0.0.1")


def test_scheduler_without_workers_is_named():
    with (
        distributed.LocalCluster(n_workers=0, processes=False, protocol="tcp", dashboard_address=None) as cluster,
        pytest.raises(ConnectionError, match=r"has no workers; start some \(dask worker"),
    ):
        parallel.connect(cluster.scheduler_address, timeout=0.5)


def test_certificates_that_are_not_there_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"ca_file='.*nothing.pem' is not a file; TLS needs three"):
        parallel.connect("tls://127.0.0.1:9", ca_file=tmp_path / "nothing.pem")


def test_imports_bring_no_dask():
    code = (
        "import sys, semisvm, semisvm.parallel, semisvm.cli, semisvm.cli.app, semisvm.cli.cluster_labeling; "
        "print(*{name.partition('.')[0] for name in sys.modules} & {'dask', 'distributed', 'tornado'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
