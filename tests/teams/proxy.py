"""A TLS server that stands for every host, and a CONNECT proxy that leads to it, on loopback."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.teams.conftest import QuietServer


def certificate(host: str, folder: Path) -> Path:
    """A file with a key and a certificate for the host, which vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path = folder / "host.pem"
    path.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return path


@dataclass
class Proxy:
    """What passed through the proxy: whom it was asked to reach, and every byte it saw."""

    url: str
    targets: list[str] = field(default_factory=list)
    seen: bytearray = field(default_factory=bytearray)


@contextmanager
def connect_proxy(backend: int) -> Iterator[Proxy]:
    """A proxy that leads every CONNECT to a port of this machine, whichever host is asked for."""

    class Tunnel(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            proxy.targets.append(self.path)
            proxy.seen += self.requestline.encode() + str(self.headers).encode()
            with socket.create_connection(("127.0.0.1", backend)) as onward:
                self.send_response(200)
                self.end_headers()
                back = threading.Thread(target=pump, args=(onward, self.connection))
                back.start()
                pump(self.connection, onward, proxy.seen)
                back.join()
            self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with QuietServer(("127.0.0.1", 0), Tunnel) as server:
        proxy = Proxy(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield proxy
        server.shutdown()
        thread.join()


def pump(source: socket.socket, sink: socket.socket, seen: bytearray | None = None) -> None:
    """Passes on what comes, until no more comes."""
    try:
        while data := source.recv(65536):
            if seen is not None:
                seen += data
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one side hung up


def server_context(path: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context
