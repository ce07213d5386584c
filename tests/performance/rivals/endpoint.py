"""The simulated endpoint of `tests.performance.stub`; its optimizer gives numbered rules where it is asked so."""

import re

from tests.performance import stub

WANTED = re.compile(rb"numbered list of (\d+)")


def _numbered(body: bytes, role: stub.Role, number: int) -> bytes:
    found = WANTED.search(body) if role == "optimizer" else None
    if found is None:
        return _plain(body, role, number)
    labels = stub.labels_of(body)
    rules = (stub.rule(number + n, labels).partition(b"New rule: ")[2] for n in range(int(found[1])))
    text = b"\\n".join(b"%d. %b" % (n, rule.replace(b". ", b", ")) for n, rule in enumerate(rules, 1))
    whole = _plain(body, "optimizer", number).partition(b"\r\n\r\n")[2].replace(stub.rule(number, labels), text)
    return b"HTTP/1.1 200 Stub\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(whole), whole)


_plain, stub.reply = stub.reply, _numbered

if __name__ == "__main__":
    stub.main()
