"""Owns one name on a bus and answers every call to it, from a plan that is given as JSON in the first argument.

Plain Python 3 without any library of D-Bus, so that every image with Python can run it. One process, one thread, one
socket: nothing that a dump could not take. Wire format: D-Bus specification, "Message Format".
"""

import json
import os
import socket
import struct
import sys
import time

CALL, RETURN, ERROR = 1, 2, 3
NO_REPLY_EXPECTED = 1
PATH, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SENDER, SIGNATURE = range(1, 9)
BUS = "org.freedesktop.DBus"
FAILED = BUS + ".Error."
FORMATS = {"y": "B", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d", "b": "I"}
MAX_MESSAGE = 1 << 20


class Refused(Exception):
    """What a call is answered with when it has no value."""

    def __init__(self, name, text):
        super().__init__(text)
        self.name = name


def first_type(signature):
    """Splits the first complete type off a signature."""
    if signature[0] == "a":
        inner, rest = first_type(signature[1:])
        return "a" + inner, rest
    if signature[0] in "({":
        depth = 0
        for index, code in enumerate(signature):
            depth += (code in "({") - (code in ")}")
            if depth == 0:
                return signature[: index + 1], signature[index + 1 :]
    return signature[0], signature[1:]


def alignment(kind):
    if kind in FORMATS:
        return struct.calcsize(FORMATS[kind])
    return {"s": 4, "o": 4, "a": 4, "(": 8, "{": 8}.get(kind, 1)


class Writer:
    def __init__(self):
        self.data = bytearray()

    def align(self, to):
        self.data += bytes(-len(self.data) % to)

    def number(self, kind, value):
        self.align(alignment(kind))
        self.data += struct.pack("<" + FORMATS[kind], value)

    def values(self, signature, values):
        for value in values:
            kind, signature = first_type(signature)
            self.value(kind, value)

    def value(self, kind, value):
        if kind[0] in FORMATS:
            self.number(kind[0], int(value) if kind != "d" else value)
        elif kind[0] in "so":
            text = value.encode()
            self.number("u", len(text))
            self.data += text + b"\0"
        elif kind[0] == "g":
            self.data += bytes([len(value)]) + value.encode() + b"\0"
        elif kind[0] == "v":
            self.value("g", value[0])
            self.value(value[0], value[1])
        elif kind[0] == "a":
            self.array(kind[1:], value)
        else:
            self.align(8)
            self.values(kind[1:-1], value)

    def array(self, kind, items):
        self.number("u", 0)
        place = len(self.data) - 4
        self.align(alignment(kind[0]))
        start = len(self.data)
        for item in items:
            self.value(kind, item)
        struct.pack_into("<I", self.data, place, len(self.data) - start)


class Reader:
    def __init__(self, data, order):
        self.data, self.order, self.at = data, order, 0

    def number(self, kind):
        size = struct.calcsize(FORMATS[kind])
        self.at += -self.at % size
        (value,) = struct.unpack_from(self.order + FORMATS[kind], self.data, self.at)
        self.at += size
        return value

    def text(self, length):
        value = self.data[self.at : self.at + length].decode("utf-8", "replace")
        self.at += length + 1
        return value

    def basic(self, kind):
        if kind in "so":
            return self.text(self.number("u"))
        if kind == "g":
            return self.text(self.number("y"))
        return self.number(kind)

    def fields(self):
        """The header's array of (code, variant); every field of the specification is of a basic type."""
        end = self.number("u") + self.at
        fields = {}
        while self.at < end:
            self.at += -self.at % 8
            code = self.number("y")
            fields[code] = self.basic(self.text(self.number("y")))
        self.at = end + -end % 8
        return fields


def message(kind, serial, fields, signature="", values=()):
    body = Writer()
    body.values(signature, values)
    if signature:
        fields = {**fields, SIGNATURE: ("g", signature)}
    head = Writer()
    head.data += bytes([ord("l"), kind, 0, 1])
    head.number("u", len(body.data))
    head.number("u", serial)
    head.array("(yv)", [[code, list(variant)] for code, variant in fields.items()])
    head.align(8)
    return bytes(head.data + body.data)


class Bus:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.serial = 0
        uid = str(os.getuid()).encode().hex().encode()
        self.socket.sendall(b"\0AUTH EXTERNAL " + uid + b"\r\n")
        if not self.socket.recv(4096).startswith(b"OK "):
            raise SystemExit("the bus refused this user")
        self.socket.sendall(b"BEGIN\r\n")

    def send(self, kind, fields, signature="", values=()):
        self.serial += 1
        self.socket.sendall(message(kind, self.serial, fields, signature, values))
        return self.serial

    def take(self, length):
        data = b""
        while len(data) < length:
            chunk = self.socket.recv(length - len(data))
            if not chunk:
                raise SystemExit(0)  # the bus is gone
            data += chunk
        return data

    def receive(self):
        head = self.take(16)
        order = "<" if head[0] == ord("l") else ">"
        body, serial, fields = struct.unpack(order + "III", head[4:])
        length = fields + -fields % 8 + body
        if length > MAX_MESSAGE:
            raise SystemExit("a message is larger than a stub has to read")
        reader = Reader(head + self.take(length), order)
        reader.at = 12
        return head[1], head[2], serial, reader.fields(), reader

    def ask(self, member, signature="", values=()):
        """Calls the bus itself; what others say meanwhile is dropped, as nobody knows us yet."""
        fields = {PATH: ("o", "/org/freedesktop/DBus"), INTERFACE: ("s", BUS), MEMBER: ("s", member)}
        serial = self.send(CALL, {**fields, DESTINATION: ("s", BUS)}, signature, values)
        while True:
            kind, _, _, fields, reader = self.receive()
            if fields.get(REPLY_SERIAL) == serial:
                if kind == ERROR:
                    raise SystemExit("%s: %s" % (fields.get(ERROR_NAME), reader.basic("s")))
                return reader


class Stub:
    def __init__(self, plan):
        self.objects = plan["objects"]

    def answer(self, fields, reader):
        path, member = fields[PATH], fields[MEMBER]
        interface, signature = fields.get(INTERFACE), fields.get(SIGNATURE, "")
        if interface == BUS + ".Peer" and member == "Ping":
            return "", []
        if interface == BUS + ".Peer" and member == "GetMachineId":
            with open("/etc/machine-id") as file:
                return "s", [file.read().strip()]
        if interface == BUS + ".Introspectable" and member == "Introspect":
            return "s", [self.introspect(path)]
        if path not in self.objects:
            raise Refused(FAILED + "UnknownObject", "there is no object " + path)
        if interface == BUS + ".Properties":
            return self.properties(path, member, signature, reader)
        return self.method(path, interface, member, signature)

    def introspect(self, path):
        if path in self.objects:
            return self.objects[path]["xml"]
        below = path.rstrip("/") + "/"
        children = {known[len(below) :].split("/")[0] for known in self.objects if known.startswith(below)}
        return "<node>" + "".join('<node name="%s"/>' % child for child in sorted(children)) + "</node>"

    def method(self, path, interface, member, signature):
        interfaces = self.objects[path]["interfaces"]
        if interface is not None and interface not in interfaces:
            raise Refused(FAILED + "UnknownInterface", "there is no interface " + interface)
        for name, content in interfaces.items():
            method = content["methods"].get(member) if interface in (None, name) else None
            if method is None:
                continue
            if signature != method["in"]:
                raise Refused(FAILED + "InvalidArgs", "%s wants (%s)" % (member, method["in"]))
            if "error" in method:
                raise Refused(method["error"], method["text"])
            return method["out"], method["values"]
        raise Refused(FAILED + "UnknownMethod", "there is no method " + member)

    def properties(self, path, member, signature, reader):
        if (member, signature) not in (("Get", "ss"), ("GetAll", "s"), ("Set", "ssv")):
            raise Refused(FAILED + "UnknownMethod", "Properties has no %s(%s)" % (member, signature))
        interface = reader.basic("s")
        if interface not in self.objects[path]["interfaces"]:
            raise Refused(FAILED + "UnknownInterface", "there is no interface " + interface)
        known = self.objects[path]["interfaces"][interface]["properties"]
        if member == "GetAll":
            return "a{sv}", [[[name, current(value)] for name, value in known.items()]]
        name = reader.basic("s")
        if name not in known:
            raise Refused(FAILED + "UnknownProperty", "there is no property " + name)
        if member == "Set":
            raise Refused(FAILED + "PropertyReadOnly", name + " cannot be set here")
        return "v", [current(known[name])]


def current(variant):
    """A variant of the plan; the time is that of the moment it is asked for."""
    kind, value = variant
    return [kind, time.time_ns() // 1000 if value == "now" and kind == "t" else value]


def main():
    plan = json.loads(sys.argv[1])
    bus = Bus(plan["bus"])
    bus.ask("Hello")
    if bus.ask("RequestName", "su", [plan["name"], 4]).number("u") != 1:  # 4: do not queue
        raise SystemExit("%s has an owner already" % plan["name"])
    stub = Stub(plan)
    while True:
        kind, flags, serial, fields, reader = bus.receive()
        if kind != CALL:
            continue
        to = {REPLY_SERIAL: ("u", serial), DESTINATION: ("s", fields[SENDER])}
        try:
            reply = (RETURN, to, *stub.answer(fields, reader))
        except Refused as refused:
            reply = (ERROR, {**to, ERROR_NAME: ("s", refused.name)}, "s", [str(refused)])
        if not flags & NO_REPLY_EXPECTED:
            bus.send(*reply)


main()
