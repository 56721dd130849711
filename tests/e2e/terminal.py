#!/usr/bin/env python3
"""What commands print fits a terminal of 80 columns, and one of 60: runs them on a pseudo-terminal.

    terminal.py MUSTER COMMAND...    each COMMAND is one line; its lines must not be wider than the terminal
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata


def shown(muster, words, width):
    """What the command writes to a terminal of that width."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    process = subprocess.Popen([muster, *words], stdout=terminal, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    os.close(terminal)
    text = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        text += block
    os.close(master)
    assert process.wait() == 0, (words, text.decode())
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", text.decode()).replace("\r\n", "\n")


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def main():
    muster, commands = sys.argv[1], sys.argv[2:]
    failures = 0
    for command in commands:
        for width in (80, 60):
            lines = shown(muster, command.split(), width).splitlines()
            assert lines, command
            for line in lines:
                # A word that is wider than the terminal cannot be broken: a path, a checksum, a command line.
                if columns(line) > width and max(map(columns, line.split())) < width - 30:
                    print(f"muster {command}: {columns(line)} columns on a terminal of {width}: {line}", file=sys.stderr)
                    failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
