"""Where there is no node yet: `parley open` has the page begin one."""
import os
import signal
import socket
import subprocess

import pytest
from playwright.sync_api import expect

from conftest import PARLEY, PATIENCE, Node, wait
from test_messages import looks_well, row_of
from test_page import show
from test_people import at, press


class Beginning(Node):
    """A node that is not there yet, with what begins it."""

    def __init__(self, folder, name):
        self.home = os.path.join(folder, name)
        self.name, self.process, self.log = name, None, os.path.join(folder, name + '.log')

    def start(self):
        log = open(self.log, 'w')
        self.process = subprocess.Popen(
            [PARLEY, 'open', '--print', '--home', self.home], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            env={**os.environ, 'USER': 'Ada', 'PARLEY_RUN_LISTEN': '127.0.0.1:0', 'PARLEY_RUN_LAN': 'false'})
        wait('the link is there', self.link)

    def link(self):
        lines = open(self.log).read().split('\n')
        return next((line for line in lines if '/#begin=' in line), None)


@pytest.fixture
def beginning(folder):
    made = []

    def make(name):
        made.append(Beginning(folder, name))
        made[-1].start()
        return made[-1]

    yield make
    for node in made:
        node.stop()


def code_on(page):
    return page.locator('.link').inner_text()


def test_a_person_begins_in_a_browser(beginning, visit):
    node = beginning('ada')
    page = visit(node)
    expect(page.get_by_role('heading', name='Parley')).to_be_visible()
    expect(page.get_by_text(node.home)).to_be_visible()
    name = page.get_by_label('Your name, as others see it')
    expect(name).to_have_value('Ada')
    name.fill('')
    press(page, 'Next')
    expect(page.get_by_role('alert').first).to_have_text('Enter a name.')
    name.fill('Ada <b>L.</b>')
    name.press('Enter')
    expect(page.get_by_role('heading', name='Your recovery code')).to_be_focused()
    code = code_on(page)
    # Loaded again it is the same one, and there is nothing on the disk.
    page.reload()
    press(page, 'Next')
    assert code_on(page) == code and not os.path.exists(node.home)
    press(page, 'Back')
    page.get_by_label('Your name, as others see it').fill('Ada <b>L.</b>')
    press(page, 'Next')
    last = page.get_by_label('Its last four characters')
    last.fill('nope')
    press(page, 'I have written it down')
    expect(page.get_by_role('alert')).to_contain_text('The recovery code ends otherwise.')
    assert not os.path.exists(node.home)
    old = page.url
    last.fill(code[-4:].lower())
    press(page, 'I have written it down')
    expect(page.get_by_role('heading', name='Begin')).to_be_visible()
    expect(page.get_by_text('Welcome, Ada <b>L.</b>.')).to_be_visible()
    assert node.ask('status')['name'] == 'Ada <b>L.</b>' and page.url.split('/#')[0] != old.split('/#')[0]
    # It is written down nowhere, and is the right one.
    for folder, _, names in os.walk(node.home):
        for each in names:
            path = os.path.join(folder, each)
            if os.path.isfile(path):
                assert code.encode() not in open(path, 'rb').read(), each
    assert code not in open(node.log).read()
    paper = node.home + '.paper'
    open(paper, 'w').write(code)
    node.say('recovery', 'check', '--code-file', paper)
    # The link of the beginning leads nowhere any more.
    port = int(old.split('/#')[0].rsplit(':', 1)[1])
    with socket.socket() as link:
        assert link.connect_ex(('127.0.0.1', port)) != 0
    node.ask('newConversation', name='notes', members=[])
    show(page, 'notes')


def test_a_further_device_is_linked_in_a_browser(ann, beginning, visit):
    ann.ask('send', conversation='notes', texts=['said before'])
    node = beginning('tablet')
    page = visit(node)
    text = page.get_by_label('Code', exact=True)
    text.fill('parley-device:1:nonsense')
    press(page, 'Link it')
    expect(page.get_by_role('alert').last).to_contain_text('or part of it is missing')
    assert not os.path.exists(node.home)
    text.fill(ann.ask('openLink')['text'])
    page.get_by_label('What this device is called').fill('tablet')
    press(page, 'Link it')
    show(page, 'notes')
    expect(row_of(page, 'said before')).to_be_visible()
    assert {each['name'] for each in ann.ask('devices')} >= {'tablet'}
    assert node.ask('status')['name'] == 'ann'


def test_what_is_ended_before_leaves_nothing(beginning, visit):
    node = beginning('ada')
    page = visit(node)
    press(page, 'Next')
    expect(page.get_by_role('heading', name='Your recovery code')).to_be_visible()
    node.process.send_signal(signal.SIGTERM)
    assert node.process.wait(PATIENCE) == 0
    assert not os.path.exists(node.home)
    page.get_by_label('Its last four characters').fill('0000')
    press(page, 'I have written it down')
    expect(page.get_by_role('alert')).to_have_text('parley open has ended. Run it again.')


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', [320, 1280])
def test_everybody_can_begin(beginning, visit, scheme, width):
    page = visit(beginning('x' * 60), color_scheme=scheme, viewport={'width': width, 'height': 700})
    expect(page.get_by_role('button', name='Next')).to_be_visible()
    looks_well(page, width)
    press(page, 'Next')
    expect(page.get_by_role('heading', name='Your recovery code')).to_be_visible()
    looks_well(page, width)
    assert page.evaluate("[...document.querySelectorAll('.parts')].every((each) => each.scrollWidth <= each.clientWidth)")
