#!/usr/bin/env python3
"""The program that `make dist` makes, where nothing is but what every Debian has.

First what it wants of others: shared libraries of the packages libc6 and libgcc-s1 alone, which libc
itself needs, and no folder of the machine that built it. Then two nodes talk in a root of their own:
those libraries, the program, /proc (where a Swift program reads its arguments), /dev/null, /dev/urandom
and an empty /tmp. No shell, no /etc, no time zones.

usage: bare.py PROGRAM
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

BYTE_COUNT_MAX = 80_000_000
PATIENCE = 60
PACKAGES = ['libc6', 'libgcc-s1']


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def libraries():
    """The paths of the shared libraries of the packages; what libc reads by itself is none."""
    found = []
    for package in PACKAGES:
        for path in output('dpkg', '-L', package).split('\n'):
            folders, name = os.path.split(path)
            if '.so' in name and re.fullmatch(r'(/usr)?/lib(64)?(/[^/]+-linux-[^/]+)?', folders):
                found.append(path)
    assert found, f'{PACKAGES} hold no libraries'
    return found


def look_at(program):
    """What the file says of itself."""
    table = output('readelf', '--wide', '--dynamic', program)
    needed = re.findall(r'\(NEEDED\)[^[]*\[([^]]+)\]', table)
    known = {os.path.basename(path) for path in libraries()}
    strange = [name for name in needed if name not in known]
    assert not strange, f'it needs {", ".join(strange)}, which not every Debian has'
    paths = re.findall(r'\((?:RPATH|RUNPATH)\)[^[]*\[([^]]+)\]', table)
    assert not paths, f'it looks for libraries in {", ".join(paths)}'
    assert '.symtab' not in output('readelf', '--wide', '--sections', program), 'not stripped'
    size = os.path.getsize(program)
    assert size < BYTE_COUNT_MAX, f'{size} bytes, not below {BYTE_COUNT_MAX}'
    print(f'{size / 1e6:.1f} MB, needs {" ".join(needed)}')


class Root:
    """A root file system that goes with the namespace of this process."""

    def __init__(self, folder, program):
        self.folder, self.processes = folder, []
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'mode=755', 'none', folder], check=True)
        for path in libraries():
            target = folder + path
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(path, target)
        for path in ['/dev/null', '/dev/urandom']:
            os.makedirs(folder + '/dev', exist_ok=True)
            open(folder + path, 'w').close()
            subprocess.run(['mount', '--bind', path, folder + path], check=True)
        os.mkdir(folder + '/proc')
        subprocess.run(['mount', '--rbind', '/proc', folder + '/proc'], check=True)
        os.mkdir(folder + '/tmp', 0o1777)
        shutil.copy(program, folder + '/parley')

    def start(self, *words, **streams):
        # `chroot` is no program of the bare root: this process goes in and becomes the program.
        return subprocess.Popen(
            ['/parley', *words], preexec_fn=self.enter, stdin=subprocess.DEVNULL, text=True,
            env={'HOME': '/tmp'}, **streams)

    def enter(self):
        os.chroot(self.folder)
        os.chdir('/')

    def run(self, *words):
        process = self.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        told, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, f'parley {words}: {process.returncode} {said}{told}'
        return told

    def node(self, name):
        home = f'/tmp/{name}'
        self.run('init', '--home', home, '--name', name)
        log = f'{self.folder}{home}.log'
        with open(log, 'w') as file:
            process = self.start(
                'run', '--home', home, '--no-lan', '--listen', '127.0.0.1:0', stdout=file,
                stderr=file)
        self.processes.append(process)
        wait(f'{name} runs', lambda: 'Ctrl-C' in open(log).read())
        return home

    def end(self):
        """Every node ends as it should."""
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            assert process.wait(PATIENCE) == 0, f'a node ended with {process.returncode}'


def wait(what, condition):
    """Asks again until it is so: the programs tell files, not us."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f'{what}: not within {PATIENCE} s')


def talk(root):
    assert re.fullmatch(r'parley \d[\d.]*\n', root.run('--version')), 'it says no version'
    ada, ben = root.node('ada'), root.node('ben')
    root.run('accept', root.run('invite', '--home', ada).strip(), '--home', ben)
    wait('they meet', lambda: '  linked' in root.run('contacts', '--home', ada))
    text = 'dinner at eight in Zürich? 🎉'
    root.run('send', 'ben', text, '--home', ada)

    def found():
        hits = json.loads(root.run('search', 'DINNER zurich', '--home', ben, '--json'))['hits']
        return [hit['message']['text'] for hit in hits]

    wait('ben finds it by its words', lambda: found() == [text])
    assert text in root.run('read', 'ada', '--home', ben)
    wait('ada sees that it was read', lambda: '✓✓ read' in root.run('read', 'ben', '--home', ada))
    digests = [root.run('digest', '--home', home).split()[-1] for home in [ada, ben]]
    assert digests[0] == digests[1], f'digests differ: {digests}'
    root.end()
    for home in [ada, ben]:
        sound = root.run('doctor', '--home', home)
        assert '✓' in sound and '✗' not in sound, sound
    print('two nodes met, talked, searched and were found sound')


def main():
    program = os.path.abspath(sys.argv[1])
    if len(sys.argv) > 2:
        return talk(Root(sys.argv[2], program))
    look_at(program)
    folder = tempfile.mkdtemp(prefix='parley-bare-')
    # Who is not root is so in a world of their own; mounts go with it.
    own = [] if os.geteuid() == 0 else ['--user', '--map-root-user']
    try:
        done = subprocess.run(
            ['unshare', *own, '--mount', sys.executable, os.path.abspath(__file__), program, folder])
    finally:
        os.rmdir(folder)
    sys.exit(done.returncode)


if __name__ == '__main__':
    main()
