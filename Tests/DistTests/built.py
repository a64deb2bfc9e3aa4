#!/usr/bin/env python3
"""The program of an ordinary build, looked at in a second: whether what `make dist` makes of it can still be one
small file. That takes a build of its own and is tried by `make soak` alone (bare.py).

What it is linked with must be Swift's own, or of the packages libc6 and libgcc-s1, or what `make dist` links in:
those are named. Stripped, it must leave room for what `make dist` adds.

usage: built.py PROGRAM NAME…
"""
import json
import os
import re
import sys
import tempfile

from bare import BYTE_COUNT_MAX, libraries, output

# 50 MB of an ordinary build came to 56 MB of one file with Swift's libraries in it.
BYTE_COUNT_ADDED = 10_000_000


def linked_in(names):
    """How the files of the libraries begin that pkg-config knows by these names."""
    words = output('pkg-config', '--libs-only-l', *names).split()
    return ['lib' + word.removeprefix('-l') + '.so' for word in words] + ['libstdc++.so']


def of_swift():
    info = json.loads(output('swiftc', '-print-target-info'))
    folders = info['paths']['runtimeLibraryPaths']
    return {name for folder in folders if os.path.isdir(folder) for name in os.listdir(folder)}


def main():
    program, *names = sys.argv[1:]
    table = output('readelf', '--wide', '--dynamic', program)
    needed = re.findall(r'\(NEEDED\)[^[]*\[([^]]+)\]', table)
    assert needed, 'it needs nothing: this is no program of an ordinary build'
    known = of_swift() | {os.path.basename(path) for path in libraries()}
    begun = tuple(linked_in(names))
    strange = [name for name in needed if name not in known and not name.startswith(begun)]
    assert not strange, f'it needs {", ".join(strange)}, which `make dist` does not link in'
    with tempfile.TemporaryDirectory() as folder:
        output('strip', '-o', folder + '/parley', program)
        size = os.path.getsize(folder + '/parley')
    bound = BYTE_COUNT_MAX - BYTE_COUNT_ADDED
    assert size < bound, f'{size} bytes without symbols, not below {bound}'
    print(f'{size / 1e6:.1f} MB without symbols, needs {len(needed)} libraries, and no strange ones')


if __name__ == '__main__':
    main()
