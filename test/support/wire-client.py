"""A client of the wire protocol, written from docs/reference/wire-protocol.md with Python's standard library alone.

Usage: wire-client.py HOST PORT PATH LEVELS   (LEVELS: weakest first, separated by commas)
Reads one operation a line from stdin, as JSON [name, access, args]; prints each row about it, then the next.
"""
import base64, json, os, socket, struct, sys

class Connection:
    def __init__(self, host, port, path):
        self.stream = socket.create_connection((host, port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.stream.sendall((
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: correctables.v1+json\r\n\r\n").encode())
        self.file = self.stream.makefile("rb")
        status = self.file.readline().decode()
        if " 101 " not in status:
            raise SystemExit(f"refused: {status.strip()}")
        while self.file.readline() not in (b"\r\n", b""):
            pass
        self.rows = []

    def send(self, *rows):
        self.send_frame(0x1, json.dumps(rows).encode())

    def send_frame(self, opcode, payload):
        size = len(payload)
        head = bytes([0x80 | opcode])
        head += bytes([0x80 | size]) if size < 126 else bytes([0x80 | 126]) + struct.pack(">H", size)
        mask = os.urandom(4)
        self.stream.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def receive(self):
        """The next row; answers pings of both layers."""
        while not self.rows:
            head = self.file.read(2)
            if len(head) < 2:
                raise SystemExit("the connection ended")
            opcode, size = head[0] & 0x0F, head[1] & 0x7F
            if size > 125:
                size = struct.unpack(">H" if size == 126 else ">Q", self.file.read(2 if size == 126 else 8))[0]
            payload = self.file.read(size)
            if opcode == 0x8:
                raise SystemExit(f"closed: {struct.unpack('>H', payload[:2])[0]} {payload[2:].decode()}")
            if opcode == 0x9:
                self.send_frame(0xA, payload)
            if opcode == 0x1:
                self.rows += json.loads(payload)
        row = self.rows.pop(0)
        if row[1] == "ping":
            self.send([row[0], "pong"])
            return self.receive()
        return row

host, port, path, levels = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4].split(",")
connection = Connection(host, port, path)
connection.send([0, "hello", {"version": 6, "client": os.urandom(16).hex(), "attempt": 1, "levels": levels}])
print(json.dumps(connection.receive()), flush=True)
for number, line in enumerate(sys.stdin, 1):
    name, access, args = json.loads(line)
    connection.send([number, "submit", name, access, (1 << len(levels)) - 1, args])
    while True:
        row = connection.receive()
        print(json.dumps(row), flush=True)
        if row[1] == "fail" and (len(row) < 5 or row[4] is None) or row[1] in ("view", "confirm") and row[2] == len(levels) - 1:
            break
    connection.send([number, "ack"])
