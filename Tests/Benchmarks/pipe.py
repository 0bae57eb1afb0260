"""A file through one connection, as simply as it goes: what a wire, TLS 1.3 and a disk allow.

    pipe.py receive FILE|- ADDRESS PORT [CERTIFICATE KEY]     says `ready` on standard error, takes one connection,
                                                              and syncs the file at the end
    pipe.py send FILE|- ADDRESS PORT [tls]                    ends once the receiver has said that it has all

Without a certificate it is plain TCP, and the sender leaves the copying to the kernel (sendfile).
"""
import os
import socket
import ssl
import sys

PART = 256 << 10


def receive(name, address, port, certificate=None, key=None):
    with socket.create_server((address, port)) as server:
        print("ready", file=sys.stderr, flush=True)
        connection, _ = server.accept()
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(certificate, key)
        connection = context.wrap_socket(connection, server_side=True)
    buffer = memoryview(bytearray(PART))
    missing = int.from_bytes(exactly(connection, 8), "big")
    with os.fdopen(1, "wb", buffering=0) if name == "-" else open(name, "wb", buffering=0) as file:
        while missing > 0:
            count = connection.recv_into(buffer[:min(PART, missing)])
            if count == 0:
                break
            whole = buffer[:count]
            while whole:
                whole = whole[file.write(whole):]
            missing -= count
        if name != "-":
            os.fsync(file.fileno())
    if missing > 0:
        raise ConnectionError(f"{missing} bytes did not come")
    connection.sendall(b"k")


def exactly(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError("the other side is gone")
        data += part
    return data


def send(name, address, port, tls):
    connection = socket.create_connection((address, port))
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # Both sides are ours, and who they are is not what is measured.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = context.wrap_socket(connection)
    if name == "-":
        # Ten mebibytes of small files: all of it first, since its length goes ahead.
        data = sys.stdin.buffer.read()
        connection.sendall(len(data).to_bytes(8, "big"))
        connection.sendall(data)
    else:
        with open(name, "rb", buffering=0) as file:
            connection.sendall(os.fstat(file.fileno()).st_size.to_bytes(8, "big"))
            if tls:
                buffer = memoryview(bytearray(PART))
                while count := file.readinto(buffer):
                    connection.sendall(buffer[:count])
            else:
                connection.sendfile(file)
    exactly(connection, 1)


if __name__ == "__main__":
    verb, name, address, port = sys.argv[1:5]
    if verb == "receive":
        receive(name, address, int(port), *sys.argv[5:7])
    else:
        send(name, address, int(port), sys.argv[5:6] == ["tls"])
