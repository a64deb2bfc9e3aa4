"""Calls between two pages over two nodes: what they ring, show and sound like, and how they end."""
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from conftest import wait
from test_page import rows, show, write

# The mean colour of a video, as three numbers; nothing where it shows none.
COLOUR = """(selector) => {
    const video = document.querySelector(selector);
    if (!video || video.videoWidth < 2 || getComputedStyle(video).visibility !== 'visible') return null;
    const canvas = Object.assign(document.createElement('canvas'), { width: 16, height: 16 });
    const pen = canvas.getContext('2d');
    pen.drawImage(video, 0, 0, 16, 16);
    const { data } = pen.getImageData(0, 0, 16, 16);
    return [0, 1, 2].map((at) => data.filter((_, place) => place % 4 === at).reduce((sum, each) => sum + each, 0) / 256);
}"""
# How loud it became at most while a picture of it was taken so many times.
LOUDEST = """async ([selector, times]) => {
    let most = 0;
    for (let time = 0; time < times; time++) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        most = Math.max(most, document.querySelector(selector)?.value ?? 0);
    }
    return most;
}"""
# A microphone that hears a tone. The beep of the browser's own is one and the same for both, and either side's
# echo canceller rightly takes away what the other one plays.
TONE = """(pitch) => {
    const devices = navigator.mediaDevices, camera = devices.getUserMedia.bind(devices);
    devices.getUserMedia = async (asked) => {
        if (!asked.audio) return camera(asked);
        const context = new AudioContext(), note = context.createOscillator();
        await context.resume();
        note.frequency.value = pitch;
        const microphone = note.connect(context.createMediaStreamDestination());
        note.start();
        return microphone.stream;
    };
}"""
OWN, OTHER = '.tile.is-own', '.tile:not(.is-own)'


def call(page, name, kind='Call'):
    page.get_by_role('button', name=kind, exact=True).click()
    lobby = page.get_by_role('dialog', name=f'Call {name}')
    lobby.get_by_role('button', name='Call', exact=True).click()
    expect(lobby).to_have_count(0)


def ring(page, name):
    return page.get_by_role('alertdialog', name=f'{name} calls')


def panel(page, name):
    return page.get_by_role('region', name=f'Call with {name}')


def colour(page, tile):
    return wait('a picture is there', lambda: page.evaluate(COLOUR, f'{tile} video'))


def heard(page, tile=OTHER):
    return page.evaluate(LOUDEST, [f'{tile} meter', 4]) > 0.01


@pytest.fixture
def pages(pair, visit):
    ann, ben = pair
    found = visit(ann), visit(ben)
    for page, name, pitch in [(found[0], 'ben', 440), (found[1], 'ann', 660)]:
        show(page, name)
        page.evaluate(TONE, pitch)
    return found


def test_two_people_see_and_hear_each_other(pages):
    ann_page, ben_page = pages
    call(ann_page, 'ben', 'Video call')
    expect(panel(ann_page, 'ben').get_by_role('status')).to_contain_text('It rings: ben')
    ring(ben_page, 'ann').get_by_role('button', name='With video').click()
    for page, name in [(ann_page, 'ben'), (ben_page, 'ann')]:
        expect(page.locator(OTHER)).to_contain_text(name)
        wait('the other one is heard', lambda: heard(page))
        # Between two pictures of one camera that moves there is a little.
        wait('the camera of the other one is seen', lambda: all(
            abs(own - other) < 24 for own, other in zip(colour(page, OWN), colour(page, OTHER))))
    assert max(colour(ann_page, OTHER)) > 40
    # Muted: that is said, and nothing is heard any more.
    panel(ann_page, 'ben').get_by_role('button', name='Microphone').click()
    expect(ben_page.locator(OTHER)).to_contain_text('muted')
    wait('nothing is heard', lambda: ben_page.evaluate(LOUDEST, [f'{OTHER} meter', 30]) < 0.01)
    panel(ann_page, 'ben').get_by_role('button', name='Microphone').click()
    expect(ben_page.locator(OTHER)).not_to_contain_text('muted')
    wait('it is heard again', lambda: heard(ben_page))
    panel(ann_page, 'ben').get_by_role('button', name='Camera').click()
    expect(ben_page.locator(f'{OTHER}.has-picture')).to_have_count(0)
    # The screen stands in the camera's place, and takes no other connection.
    panel(ann_page, 'ben').get_by_role('button', name='Share the screen').click()
    expect(ben_page.locator(OTHER)).to_contain_text('shares a screen')
    wait('the screen is seen', lambda: all(
        abs(own - other) < 24 for own, other in zip(colour(ann_page, OWN), colour(ben_page, OTHER))))
    panel(ben_page, 'ann').get_by_role('button', name='Hang up').click()
    for page, name in [(ann_page, 'ben'), (ben_page, 'ann')]:
        expect(panel(page, name)).to_have_count(0)
    expect(ann_page.get_by_text('The call is over: ben hung up.')).to_be_visible()
    expect(ben_page.get_by_text('The call is over: you hung up.')).to_be_visible()
    # It goes once its person does something else, and not before it could be read.
    over = ben_page.locator('.call-over')
    ben_page.keyboard.press('Shift')
    expect(over).to_be_visible()
    ben_page.wait_for_timeout(2100)
    ben_page.get_by_role('textbox', name='Write to ann').click()
    expect(over).to_have_count(0)
    # What became of it stands in the conversation, above what is said later.
    expect(ann_page.locator('.called')).to_contain_text(re.compile(r'You called ben · 0:\d\d'))
    expect(ben_page.locator('.called')).to_contain_text(re.compile(r'ann called you · 0:\d\d'))
    write(ann_page, ann_page.get_by_role('textbox', name='Write to ben'), 'that was nice')
    expect(rows(ben_page)).to_have_count(1)
    expect(rows(ben_page).locator('.called')).to_have_count(1)
    expect(ben_page.locator('.called')).to_have_count(1)


def test_a_ring_is_refused(pages):
    ann_page, ben_page = pages
    call(ann_page, 'ben')
    expect(ring(ben_page, 'ann')).to_be_visible()
    expect(ben_page).to_have_title(re.compile('^ann calls'))
    assert ben_page.locator('link[rel=icon]').get_attribute('href').endswith('/ringing.svg')
    # Who writes goes on writing, and a key leads to it.
    field = ben_page.get_by_role('textbox', name='Write to ann')
    expect(field).to_be_focused()
    ben_page.keyboard.press('F8')
    expect(ring(ben_page, 'ann').get_by_role('button', name='Answer')).to_be_focused()
    for _ in range(2):
        ben_page.keyboard.press('Tab')
    ben_page.keyboard.press('Enter')
    expect(field).to_be_focused()
    expect(ring(ben_page, 'ann')).to_have_count(0)
    expect(ben_page).not_to_have_title(re.compile('calls'))
    expect(panel(ann_page, 'ben')).to_have_count(0)
    expect(ann_page.get_by_text('The call is over: ben declined.')).to_be_visible()
    expect(ann_page.locator('.called')).to_contain_text('You called, and ben declined')
    # One that is given up was missed.
    call(ann_page, 'ben')
    expect(ring(ben_page, 'ann')).to_be_visible()
    panel(ann_page, 'ben').get_by_role('button', name='Hang up').click()
    expect(ring(ben_page, 'ann')).to_have_count(0)
    expect(ben_page.get_by_text('Missed call from ann')).to_be_visible()


def test_a_ring_ends_in_one_tab_when_it_is_answered_in_another_and_the_call_with_its_page(pair, pages):
    (_, ben), (ann_page, ben_page) = pair, pages
    other = ben_page.context.new_page()
    other.goto(ben_page.url.split('#')[0])
    expect(other.get_by_role('link', name='ann')).to_be_visible()
    other.evaluate(TONE, 880)
    call(ann_page, 'ben')
    expect(ring(ben_page, 'ann')).to_be_visible()
    ring(other, 'ann').get_by_role('button', name='Answer', exact=True).click()
    expect(ring(ben_page, 'ann')).to_have_count(0)
    wait('the other one is heard', lambda: heard(ann_page))
    expect(panel(ben_page, 'ann')).to_have_count(0)
    # A page that is closed ends it, for both.
    other.close()
    expect(panel(ann_page, 'ben')).to_have_count(0)
    wait('the node is in no call', lambda: not [each for each in ben.ask('calls') if each['state'] == 'talking'])


# Notes the connections of a page, and by how much each scales the picture down that it sends.
KEEP_PEERS = """() => {
    const Peer = RTCPeerConnection;
    globalThis.peers = [];
    globalThis.RTCPeerConnection = class extends Peer {
        constructor(...values) {
            super(...values);
            peers.push(this);
        }
    };
}"""
SHAPES = """() => peers.filter((each) => each.connectionState === 'connected').map((each) =>
    each.getSenders().find(({ track }) => track?.kind === 'video')?.getParameters().encodings[0].scaleResolutionDownBy)"""


def test_three_people_see_and_hear_each_other_and_a_node_that_goes_ends_it(pair, nodes, visit):
    ann, ben = pair
    cleo = nodes('cleo')
    cleo.say('accept', ann.say('invite'))
    wait('they know each other', lambda: len(ann.ask('contacts')) == 2 and cleo.ask('contacts'))
    ann.ask('newConversation', name='trip', members=['ben', 'cleo'])
    for node in (ben, cleo):
        wait('an invitation is there', lambda: node.ask('invitations')['waiting'] or any(
            each['name'] == 'trip' for each in node.ask('conversations')))
        for each in node.ask('invitations')['waiting']:
            node.ask('answerInvitation', conversation=each['id'], accepting=True)
    pages = []
    for node, pitch in ((ann, 440), (ben, 660), (cleo, 880)):
        page = visit(node)
        show(page, 'trip')
        page.evaluate(TONE, pitch)
        page.evaluate(KEEP_PEERS)
        pages.append(page)
    wait('all are in', lambda: all(len(each['members']) == 3 for node in (ann, ben, cleo)
                                   for each in node.ask('conversations') if each['name'] == 'trip'))
    call(pages[0], 'trip', 'Video call')
    for page in pages[1:]:
        expect(ring(page, 'ann')).to_contain_text('In trip')
        ring(page, 'ann').get_by_role('button', name='With video').click()
    for page in pages:
        expect(page.locator(f'{OTHER}.has-picture')).to_have_count(2)
        for tile in page.locator(OTHER).all():
            device = f'.tile[data-device="{tile.get_attribute("data-device")}"]'
            wait('each is seen', lambda: colour(page, device))
            wait('each is heard', lambda: heard(page, device))
        # To two others a smaller picture is sent than to one.
        wait('it is small', lambda: page.evaluate(SHAPES) == [2, 2])
    cleo.stop()
    expect(pages[2].get_by_text('The call is over: the node went away.')).to_be_visible()
    expect(pages[0].locator(OTHER)).to_have_count(1)
    wait('it is large again', lambda: pages[0].evaluate(SHAPES) == [1])
    pages[0].get_by_role('button', name='Hang up').click()
    expect(panel(pages[1], 'trip')).to_have_count(0)


OVER = """async (words) => {
    const { load } = await import(new URL('api.js', document.querySelector('script[type=module]').src));
    (await load('./callover.js')).showOver(...words);
}"""


def test_that_a_call_is_over_is_said_for_a_while(ann, visit):
    page = visit(ann)
    page.clock.install()
    over = page.locator('.call-over')
    page.evaluate(OVER, ['\u05d0\u05dc\u05d9 1 hung up', ['\u05d0\u05dc\u05d9', '\u05d0\u05dc\u05d9 1', 'ann']])
    expect(over).to_have_text('The call is over: \u05d0\u05dc\u05d9 1 hung up.')
    expect(over.locator('bdi[dir=auto]')).to_have_text('\u05d0\u05dc\u05d9 1')
    # Who points at it reads it.
    over.hover()
    page.clock.run_for(16_000)
    expect(over).to_be_visible()
    page.mouse.move(5, 400)
    page.clock.run_for(500)
    expect(over).to_have_count(0)
    page.evaluate(OVER, [None, []])
    page.clock.run_for(14_000)
    expect(over).to_have_text('The call is over.')
    page.clock.run_for(2000)
    expect(over).to_have_count(0)


CALLED = """async (calls) => {
    const { messageRow } = await import(new URL('message.js', document.querySelector('script[type=module]').src));
    const row = messageRow({ number: 1, id: '0', author: 'ann', isOwn: true, text: 'x', mentions: [], files: [], editCount: 0, time: 0,
        forwardedFrom: '\u05d0\u05dc\u05d9', reactions: [{ emoji: '🎉', count: 2, names: ['\u05d0\u05dc\u05d9', 'ann'] }] },
        { own: 'ann', calls: calls.map((each) => ({ caller: 'ben', isOwn: true, others: [], time: 0, milliseconds: 0, ...each })) });
    return { called: [...row.querySelectorAll('.called > span')].map((each) => [each.textContent, [...each.querySelectorAll('bdi')].map((name) => name.textContent)]),
        notes: row.querySelector('.notes').textContent, from: row.querySelector('.notes bdi').textContent, reaction: row.querySelector('.reactions button').title };
}"""


def test_what_became_of_a_call_is_said_as_commands_say_it(pair, visit):
    ann, ben = pair
    rtl = '\u05d0\u05dc\u05d9'
    ann.ask('setAlias', person='ben', alias=rtl)
    page = visit(ann)
    expect(page.get_by_role('link', name=rtl)).to_be_visible()
    found = page.evaluate(CALLED, [
        {'outcome': 'talked', 'milliseconds': 119_999, 'others': [rtl, 'cleo']}, {'outcome': 'declined'},
        {'outcome': 'declined', 'declinedBy': rtl}, {'outcome': 'unanswered', 'isMissed': True, 'isOwn': False, 'caller': rtl}])
    # Of a second that is not over nothing counts, and names keep their own direction.
    assert found['called'] == [
        [f'You called {rtl}, cleo · 1:59', [rtl, 'cleo']], ['You called, and everybody declined', []],
        [f'You called, and {rtl} declined', [rtl]], [f'Missed call from {rtl}', [rtl]]]
    assert (found['notes'], found['from']) == (f'Forwarded from {rtl}', rtl)
    assert found['reaction'] == f'\u2068{rtl}\u2069, \u2068ann\u2069'


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', [320, 1280])
def test_everybody_can_use_calls(pair, visit, scheme, width):
    ann, ben = pair
    options = {'color_scheme': scheme, 'viewport': {'width': width, 'height': 700}}
    ann_page, ben_page = visit(ann, **options), visit(ben, **options)

    def looks_well(page):
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate('document.documentElement.scrollWidth') <= width

    show(ann_page, 'ben')
    ann_page.get_by_role('button', name='Call', exact=True).click()
    lobby = ann_page.get_by_role('dialog', name='Call ben')
    lobby.get_by_role('checkbox', name='Camera').check()
    wait('one sees oneself', lambda: ann_page.evaluate(COLOUR, '.preview video'))
    looks_well(ann_page)
    lobby.get_by_role('button', name='Call', exact=True).click()
    expect(ring(ben_page, 'ann')).to_be_visible()
    looks_well(ben_page)
    ring(ben_page, 'ann').get_by_role('button', name='With video').click()
    colour(ann_page, OTHER)
    looks_well(ann_page)
    ann_page.get_by_role('button', name='Hang up').click()
    expect(ann_page.get_by_text('The call is over')).to_be_visible()
    looks_well(ann_page)
