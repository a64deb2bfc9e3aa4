#!/usr/bin/env python3
"""Makes the tables of ICU small: Foundation brings 34 MB of them along, for every language and charset.

Kept is what a program needs that speaks English: all that is of no language, the root of each tree, and
English. What is asked for in another language falls back to the root, as where it never was. Left out
are old charsets as well, dictionaries that part words where no spaces are, and transliterations.

Written is an object file with the tables as __wrap_NAME; NAME, as the library calls them, is printed: a
linker that is told --wrap=NAME takes these, and leaves the others in their archive.

usage: icu.py ARCHIVE FOLDER
"""
import os
import re
import struct
import subprocess
import sys

MEMBER = 'icu_packaged_data.cpp.o'
LANGUAGES = {'root', 'en', 'en_001', 'en_GB', 'en_US', 'en_US_POSIX'}
# A name of a table that is one of a language: "de", "zh_Hant_TW".
LANGUAGE = re.compile(r'[a-z]{2,3}(_[A-Za-z0-9]+)*')


def is_kept(name):
    tree, _, file = name.rpartition('/')
    base, _, kind = file.rpartition('.')
    if kind in ('cnv', 'dict') or tree.endswith('/translit'):
        return False
    return kind != 'res' or base in LANGUAGES or not LANGUAGE.fullmatch(base)


def items(data, start):
    """The tables with their names. Source: ICU's ucmndata.h, "UDataOffsetTOC"."""
    count, = struct.unpack_from('<I', data, start)
    places = [struct.unpack_from('<II', data, start + 4 + 8 * i) for i in range(count)]
    ends = [place for _, place in places[1:]] + [len(data) - start]
    for (name, place), end in zip(places, ends):
        text = data[start + name:data.index(b'\0', start + name)]
        yield text.decode(), data[start + place:start + end]


def packed(kept):
    """The same format again: count, offsets, names, and each table on a multiple of 16 bytes."""
    names, offset = b'', 4 + 8 * len(kept)
    places = []
    for name, _ in kept:
        places.append(offset + len(names))
        names += name.encode() + b'\0'
    tables, toc = b'', b''
    begin = -(-(offset + len(names)) // 16) * 16
    for place, (_, table) in zip(places, kept):
        toc += struct.pack('<II', place, begin + len(tables))
        tables += table + bytes(-len(table) % 16)
    return (struct.pack('<I', len(kept)) + toc + names).ljust(begin, b'\0') + tables


def main(archive, folder):
    subprocess.run(['ar', 'x', '--output', folder, archive, MEMBER], check=True)
    member, raw = os.path.join(folder, MEMBER), os.path.join(folder, 'icu.dat')
    told = subprocess.run(['nm', member], check=True, capture_output=True, text=True).stdout
    place, kind, name = told.split()
    assert kind == 'R' and int(place, 16) == 0, f'{MEMBER} holds other things as well: {told}'
    subprocess.run(['objcopy', '-O', 'binary', '-j', '.rodata', member, raw], check=True)
    with open(raw, 'rb') as file:
        data = file.read()
    start, magic = struct.unpack_from('<HH', data)
    assert magic == 0x27DA and data[12:16] == b'CmnD' and start % 16 == 0, 'no tables of ICU'
    kept = [item for item in items(data, start) if is_kept(item[0])]
    with open(raw, 'wb') as file:
        file.write(data[:start] + packed(kept))
    assembly = f'''
        .section .rodata
        .balign 16
        .globl __wrap_{name}
        .type __wrap_{name}, @object
    __wrap_{name}:
        .incbin "{raw}"
        .size __wrap_{name}, . - __wrap_{name}
        .section .note.GNU-stack, "", @progbits
    '''
    subprocess.run(
        ['clang', '-c', '-x', 'assembler', '-', '-o', os.path.join(folder, 'icu.o')],
        check=True, input=assembly, text=True)
    print(name)


main(*sys.argv[1:])
