"""Certificates for tests, made by openssl, and a proxy that speaks TLS and asks for the client's."""
import pathlib
import socket
import ssl
import subprocess
import threading


class Authority:
    """One that may vouch, in a folder of its own: ca.pem."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.file = self.folder / "ca.pem"
        self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority",
                      "-keyout", "ca-key.pem", "-out", "ca.pem")

    def issue(self, name, subject):
        """NAME-cert.pem and NAME-key.pem for a subject such as `IP:127.0.0.1`, and both of them in NAME.pem."""
        self._openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}-key.pem",
                      "-out", f"{name}.csr")
        (self.folder / f"{name}.ext").write_text(f"subjectAltName={subject}\n")
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial",
                      "-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}-cert.pem")
        key, certificate = self.folder / f"{name}-key.pem", self.folder / f"{name}-cert.pem"
        (self.folder / f"{name}.pem").write_text(key.read_text() + certificate.read_text())
        return certificate, key

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True, timeout=60)


class TlsProxy:
    """Terminates TLS for clients with a certificate of the authority, and passes bytes on to a plain server."""

    def __init__(self, authority, certificate, key, target):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.context.load_verify_locations(authority.file)
        self.context.verify_mode = ssl.CERT_REQUIRED
        self.context.set_alpn_protocols(["h2"])
        self.target = target
        self.passed = 0  # connections whose client was let in
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            with self.context.wrap_socket(client, server_side=True) as secure, \
                    socket.create_connection(self.target) as server:
                self.passed += 1
                up = threading.Thread(target=self._pump, args=(secure, server), daemon=True)
                up.start()
                self._pump(server, secure)
                up.join(5)
        except OSError:  # ssl.SSLError is one: the client was not let in, or went
            client.close()

    @staticmethod
    def _pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for each in (source, sink):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
