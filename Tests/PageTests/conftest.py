"""Real nodes, real browsers: the page is used as its person does, by roles and names.

Whatever a browser says is wrong fails the test in which it said so: errors of scripts, and what the
page's Content-Security-Policy had to stop.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import pytest
from playwright.sync_api import expect, sync_playwright

PARLEY = os.environ['PARLEY']
PATIENCE = 30
# A machine that does other work as well takes longer; what is so is seen at once in any case.
expect.set_options(timeout=PATIENCE * 1000)


def wait(what, condition, seconds=PATIENCE):
    """Asks again until it is so."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f'{what}: not within {seconds} s')


class Node:
    """A node of one person, with its page."""

    def __init__(self, folder, name):
        self.home = os.path.join(folder, name)
        self.name, self.process, self.rpc_number = name, None, 0
        self.program = PARLEY
        self.say('init', '--name', name)

    def say(self, *words, input=None):
        done = subprocess.run(
            [PARLEY, *words, '--home', self.home], input=input, capture_output=True, text=True,
            timeout=PATIENCE)
        assert done.returncode == 0, f'parley {words[0]}: {done.stderr}'
        return done.stdout.strip()

    def start(self):
        log = open(self.home + '.log', 'a')
        self.process = subprocess.Popen(
            [self.program, 'run', '--page', '--no-lan', '--listen', '127.0.0.1:0', '--home', self.home],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        wait(f'{self.name} runs', lambda: os.path.exists(self.home + '/http'))
        wait(f'{self.name} answers', self.answers)

    def answers(self):
        try:
            self.ask('status')
            return True
        except OSError:
            return False

    def ask(self, method, **params):
        """Asks over the node's socket, as a command does."""
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(PATIENCE)
            # The path of a socket is short; a folder's descriptor makes it so anywhere.
            folder = os.open(self.home, os.O_RDONLY)
            try:
                link.connect(f'/proc/self/fd/{folder}/socket')
            finally:
                os.close(folder)
            request = {'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}
            link.sendall(json.dumps(request).encode() + b'\n')
            answer = json.loads(link.makefile().readline())
        assert 'error' not in answer, answer
        return answer['result']

    def stop(self, how=signal.SIGTERM):
        if self.process:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)
        self.process = None

    def link(self):
        return self.say('open', '--print')


@pytest.fixture(scope='session')
def player():
    with sync_playwright() as player:
        yield player


@pytest.fixture(scope='session')
def browser(player):
    program = shutil.which('chromium-headless-shell') or shutil.which('chromium')
    # A microphone in which something beeps, and a person who lets the page listen.
    browser = player.chromium.launch(executable_path=program, args=[
        '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'])
    yield browser
    browser.close()


@pytest.fixture(scope='session')
def telling_browser(player):
    """A browser that shows notifications: the smallest ones have none, and there the page's calls are noted."""
    program = shutil.which('chromium')
    browser = player.chromium.launch(executable_path=program or shutil.which('chromium-headless-shell'))
    browser.has_notices = program is not None
    yield browser
    browser.close()


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory() as folder:
        yield folder


@pytest.fixture
def nodes(folder):
    """Makes nodes by their names, and ends them."""
    made = []

    def make(name):
        node = Node(folder, name)
        made.append(node)
        node.start()
        return node

    yield make
    for node in made:
        node.stop()


@pytest.fixture
def ann(nodes):
    """One person with a conversation of her own, in which nothing was said."""
    ann = nodes('ann')
    ann.ask('newConversation', name='notes', members=[])
    return ann


@pytest.fixture
def pair(nodes):
    """Two persons who know each other."""
    ann, ben = nodes('ann'), nodes('ben')
    ben.say('accept', ann.say('invite'))
    wait('they know each other', lambda: ann.ask('contacts') and ben.ask('contacts'))
    wait('they can write', lambda: ann.ask('conversations') and ben.ask('conversations'))
    return ann, ben


@pytest.fixture
def visit(browser):
    """Opens a node's page in a browser of its own; what that finds wrong fails the test."""
    contexts, faults = [], []

    def open_page(node, within=browser, **options):
        context = within.new_context(**{'viewport': {'width': 1100, 'height': 720}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on('pageerror', lambda error: faults.append(f'{error}'))
        page.on('console', lambda line: line.type == 'error' and note(line))
        page.goto(node.link())
        # A page that loads its words is there before it has taken the link.
        page.wait_for_function("() => !location.hash.startsWith('#enter=')")
        return page

    def note(line):
        # A browser writes each answer that it did not get here, also where the page knows what to do.
        if 'Failed to load resource' not in line.text:
            faults.append(line.text)

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []
