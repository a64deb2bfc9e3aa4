"""Devices, relays, settings, status, polls and items in the page."""
import base64
import os
import re
import signal
import subprocess

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from conftest import PARLEY, PATIENCE, Node, wait
from test_messages import choose, looks_well, row_of
from test_page import show, write
from test_people import HOSTILE, at, press


def test_a_device_is_named_and_a_new_one_waited_for(ann, visit):
    page = at(visit(ann), 'devices')
    page.get_by_role('button', name='Rename').click()
    page.get_by_role('textbox', name='Name').fill('desk')
    press(page, 'Save')
    expect(page.locator('.card').get_by_text('desk')).to_be_visible()
    assert ann.ask('devices')[0]['name'] == 'desk'
    press(page, 'Link a new device')
    # Attack 339: a device is for good, so the person says so where the page is not.
    command = page.get_by_role('dialog').get_by_text('parley device confirm')
    expect(command).to_be_visible()
    expect(page.get_by_role('dialog').locator('textarea')).to_have_count(0)
    ann.say('device', 'confirm', re.search(r'confirm (\d{6})', command.text_content()).group(1))
    expect(page.get_by_role('img', name='The code as a QR code')).to_be_visible()
    expect(page.get_by_role('textbox', name='Code')).to_have_value(re.compile('^parley-device:1:'))
    press(page, 'Stop')
    expect(page.get_by_role('dialog')).to_have_count(0)


def linked(ann, name):
    """Another device of a person."""
    phone = Node.__new__(Node)
    phone.home, phone.name, phone.process, phone.program = f'{ann.home}-{name}', name, None, PARLEY
    phone.say('device', 'accept-link', ann.ask('openLink')['text'], '--name', name)
    return phone


def test_a_revoked_device_says_so(pair, visit):
    ann, ben = pair
    phone = linked(ann, 'phone')
    phone.start()
    try:
        page = visit(phone)
        field = show(page, 'ben')
        wait('it may write', lambda: phone.ask('status')['links'])
        write(page, field, 'while all are there')
        # One sign is one thing here and in a terminal.
        expect(row_of(page, 'while all are there').locator('.delivery')).to_contain_text('✓✓')
        ben.stop()
        write(page, field, 'before')
        edited = row_of(page, 'while all are there')
        phone.ask('edit', message=edited.get_attribute('data-id'), text='while all were there')
        edited = row_of(page, 'while all were there')
        expect(edited).to_contain_text('edited, nobody else has that yet')
        mark = row_of(page, 'before').locator('.delivery')
        expect(mark).to_have_text('✓Saved here, nobody else has it yet')
        ann.ask('revokeDevice', device='phone')
        expect(page.locator('.banner')).to_contain_text('Another device of yours has revoked this one')
        expect(page.get_by_text('Nothing can be sent from this device any more.')).to_be_visible()
        expect(field).to_be_hidden()
        expect(page.get_by_role('button', name='Call')).to_have_count(0)
        expect(row_of(page, 'before')).to_contain_text('Not known whether it arrived')
        expect(edited).to_contain_text('edited, not known whether that arrived')
        # What it cannot do it does not offer.
        row_of(page, 'before').hover()
        expect(row_of(page, 'before').get_by_role('button', name='React')).to_have_count(0)
        row_of(page, 'before').get_by_role('button', name='More').click()
        items = page.get_by_role('menuitem')
        expect(items.filter(has_text='Copy')).to_have_count(1)
        for word in ['React', 'Pin', 'Delete for everyone', 'Edit', 'Reply', 'Star']:
            expect(items.filter(has_text=word)).to_have_count(0)
        page.keyboard.press('Escape')
        expect(mark).to_have_text('✓')
        at(page, 'status')
        expect(page.locator('.card').filter(has_text='ben')).to_contain_text('2 may have arrived or not.')
        expect(page.get_by_text('Nothing waits.')).to_have_count(0)
        page.reload()
        expect(page.locator('.banner')).to_contain_text('revoked this one')
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
    finally:
        phone.stop()


def test_what_is_being_written_as_a_device_is_revoked_stays(pair, visit):
    ann, ben = pair
    phone = linked(ann, 'phone')
    phone.start()
    try:
        page = visit(phone, permissions=['clipboard-read', 'clipboard-write'])
        field = show(page, 'ben')
        wait('it may write', lambda: phone.ask('status')['links'])
        write(page, field, 'it was sent')
        root = wait('it is there', lambda: phone.ask('messages', conversation='ben', limit=1)['messages'])[0]['id']
        choose(page, 'it was sent', 'Open the thread')
        answer = page.get_by_role('textbox', name='Answer in the thread')
        answer.fill('half an answer')
        page.get_by_role('button', name='Close', exact=True).click()
        field.fill('half a sentence')
        # Someone else writes, which is read only once nothing can be told of that any more.
        at(page, 'devices')
        ben.ask('send', conversation='ann', texts=['are you there?'])
        wait('it came', lambda: len(phone.ask('messages', conversation='ben', limit=9)['messages']) == 2)
        show(page, 'ben')
        page.keyboard.press('Home')
        choose(page, 'it was sent', 'Edit')
        field.fill('it was changed')
        ann.ask('revokeDevice', device='phone')
        expect(page.get_by_text('Nothing can be sent from this device any more.')).to_be_visible()
        left = page.get_by_role('textbox', name='What you wrote and did not send')
        expect(left).to_have_value('half a sentence\nit was changed')
        expect(left).not_to_be_editable()
        for name in ('Send', 'Save', 'Attach files', 'Record a voice message'):
            expect(page.get_by_role('button', name=name)).to_have_count(0)
        left.press('Enter')
        page.get_by_role('button', name='Copy the text').click()
        wait('it was copied', lambda: page.evaluate('navigator.clipboard.readText()') == 'half a sentence\nit was changed')
        choose(page, 'it was sent', 'Open the thread')
        thread = page.get_by_role('complementary', name='Thread')
        expect(thread.get_by_role('textbox')).to_have_value('half an answer')
        expect(thread.get_by_role('textbox')).not_to_be_editable()
        looks_well(page, 1100)
        page.reload()
        expect(left).to_have_value('half a sentence\nit was changed')
        assert len(phone.ask('messages', conversation='ben', limit=9)['messages']) == 2 and phone.ask('thread', message=root, limit=9)['answers'] == []
    finally:
        phone.stop()


ROWS = """async (messages) => {
    const { messageRow } = await import(new URL('message.js', document.querySelector('script[type=module]').src));
    return messages.map((each) => messageRow({ number: 1, id: '0', author: 'ann', isOwn: true, text: 'x', mentions: [], files: [],
        reactions: [], editCount: 0, time: 0, ...each }, {})).map((row) =>
        [row.querySelector('.notes')?.textContent ?? '', row.querySelector('.delivery')?.textContent ?? '']);
}"""


def test_each_state_has_its_words(ann, visit):
    states = ['saved', 'relayed', 'delivered', 'read', 'uninvited', 'unaccepted', 'earlier', 'returned', 'unknown', 'untold', 'waiting for 2 earlier operations']
    shown = visit(ann).evaluate(ROWS, [{'state': each} for each in states] + [{'state': 'saved', 'isStranded': True}, {}])
    assert shown == [
        ['', '✓Saved here, nobody else has it yet'], ['', '✓∘On a relay'], ['', '✓✓Delivered'], ['', '✓✓Read'],
        ['Saved here, waits for another invite from them', '✓'],
        ['Saved here, waits until somebody accepts the invitation', '✓'], ['From before anybody else joined', '✓'],
        ['From before the others joined or came back', '✓'],
        ['Not known whether it arrived', '✓'], ['Not known whether it arrived: you were no longer a member by then', '✓'],
        ['waiting for 2 earlier operations', ''], ['Never leaves this device', '✓'], ['', ''],
    ]
    states = ['saved', 'relayed', 'unknown', 'stranded', 'removed', 'earlier']
    edits = visit(ann).evaluate(ROWS, [
        {'editCount': 1, 'waiting': [{'change': 'edit', 'state': each}]} for each in states] + [{'editCount': 1, 'waiting': []}])
    assert [each[0] for each in edits] == [
        'edited, nobody else has that yet', 'edited, on a relay', 'edited, not known whether that arrived',
        'edited, nobody else gets that', 'edited, nobody else gets that', 'edited', 'edited',
    ]


def test_where_nobody_else_is_that_is_said(ann, visit):
    page = visit(ann)
    write(page, show(page, 'notes'), 'to myself')
    expect(row_of(page, 'to myself').locator('.delivery')).to_have_text('✓Saved here, nobody else is in this conversation')


def test_settings_are_those_of_the_node(ann, visit):
    page = at(visit(ann), 'settings')
    was = ann.ask('linkSettings')['isOn']
    press(page, f'Turn link previews {"off" if was else "on"}')
    expect(page.get_by_role('button', name=f'Turn link previews {"on" if was else "off"}')).to_be_visible()
    assert ann.ask('linkSettings')['isOn'] != was
    press(page, 'Change what others see')
    page.get_by_role('dialog').get_by_role('combobox').select_option('nothing')
    press(page, 'Save')
    expect(page.get_by_role('dialog')).to_have_count(0)
    assert ann.ask('presences')['told'] == 'nothing'
    press(page, 'After a week')
    expect(page.get_by_role('button', name='After a week', pressed=True)).to_be_visible()
    assert ann.ask('usualLifetime')['seconds'] == 7 * 86_400
    press(page, 'Turn read receipts off')
    expect(page.get_by_text('Others do not see what you have read')).to_be_visible()
    assert not ann.ask('disclosures')['receipts']
    press(page, 'Change the space')
    page.get_by_role('spinbutton', name='Space in gigabytes').fill('2')
    press(page, 'Save')
    expect(page.get_by_text('of 2 GB')).to_be_visible()
    assert ann.ask('fileRoom')['roomByteCount'] == 2_000_000_000
    press(page, 'Go offline')
    expect(page.get_by_text('Your node is offline')).to_be_visible()
    assert ann.ask('status')['isOffline']


def test_servers_for_calls_are_added_and_removed(ann, visit):
    page = at(visit(ann), 'relays')
    press(page, 'Add a server')
    dialog = page.get_by_role('dialog')
    dialog.get_by_label('Address').fill('nothing')
    press(page, 'Add', dialog)
    expect(dialog.get_by_role('alert')).to_contain_text('is not the address of a server')
    dialog.get_by_label('Address').fill('turn:turn.example:3478')
    dialog.get_by_label('User name').fill('<b>ada</b>')
    dialog.get_by_label('Password').fill('secret')
    press(page, 'Add', dialog)
    card = page.locator('.card').filter(has_text='turn:turn.example:3478')
    expect(card).to_contain_text('<b>ada</b>')
    assert [each['access'] for each in ann.ask('callSettings')['servers']] == ['name']
    # What lets in there is not shown again.
    assert 'secret' not in page.locator('.view').inner_text()
    card.get_by_role('button', name='Remove turn:turn.example:3478').press('Enter')
    expect(card).to_have_count(0)
    assert ann.ask('callSettings')['servers'] == []


def test_a_relay_that_is_none_is_refused(ann, visit):
    page = at(visit(ann), 'relays')
    press(page, 'Add a relay')
    page.get_by_role('textbox', name='What the relay printed').fill('nothing')
    press(page, 'Add', within=page.get_by_role('dialog'))
    expect(page.get_by_role('alert').filter(has_text='nothing').or_(page.get_by_role('alert').filter(has_text='relay'))).to_be_visible()
    assert ann.ask('relays') == []


@pytest.fixture
def relay(folder):
    """A relay that keeps little for each, and what adds it."""
    log = open(folder + '/relay.log', 'w+')
    process = subprocess.Popen(
        [PARLEY, 'relay', 'run', '--home', folder + '/relay', '--listen', '127.0.0.1:0', '--mailbox', '1'],
        stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    yield wait('it runs', lambda: re.search('^parley-relay:.*', open(log.name).read(), re.M))[0]
    process.terminate()
    process.wait(PATIENCE)


def test_a_relay_takes_the_place_of_another(ann, relay, visit):
    ann.ask('addRelay', text=relay, tickets=[])
    page = at(visit(ann), 'relays')
    name = page.locator('.card .name').first.text_content()
    # One that nobody runs: it is read as soon as somebody does.
    other = 'parley-relay:1:' + base64.urlsafe_b64encode(b'\x09' * 32 + b'\x01\x0e127.0.0.1:7999').decode().rstrip('=')
    page.get_by_role('button', name=f'Replace {name}').click()
    page.get_by_role('textbox', name='What the relay printed').fill('nothing')
    press(page, 'Replace')
    expect(page.get_by_role('dialog').get_by_role('alert')).to_be_visible()
    assert len(ann.ask('relays')) == 1
    page.get_by_role('textbox', name='What the relay printed').fill(other)
    press(page, 'Replace')
    expect(page.get_by_role('dialog')).to_have_count(0)
    expect(page.locator('.card').filter(has_text='127.0.0.1:7999')).to_be_visible()
    expect(page.locator('.card').filter(has_text=name)).to_contain_text('still read until')
    wait('both are known', lambda: len(ann.ask('relays')) == 2)


def test_browsers_are_signed_out(ann, visit):
    other, page = visit(ann), at(visit(ann), 'devices')
    sessions = page.locator('.card').filter(has=page.get_by_role('button', name='Sign out'))
    expect(sessions).to_have_count(2)
    name = ann.ask('pageSessions')[0]['name']
    page.get_by_role('button', name=f'Sign out {name}', exact=True).click()
    expect(sessions).to_have_count(1)
    assert [each['name'] for each in ann.ask('pageSessions')] != [name]
    # Its stream ended with it, and it says what to do.
    expect(other.get_by_text('parley open')).to_be_visible()


def test_one_says_who_may_add_one_to_groups(ann, visit):
    page = at(visit(ann), 'settings')
    nobody, contacts = (page.get_by_role('button', name=name) for name in ('Nobody without asking', 'Your contacts'))
    expect(contacts.or_(nobody).and_(page.locator('[aria-pressed=true]'))).to_have_count(1)
    for button, policy in ((nobody, 'nobody'), (contacts, 'contacts')):
        button.click()
        expect(button).to_have_attribute('aria-pressed', 'true')
        assert ann.ask('invitations')['policy'] == policy


def test_a_relay_that_has_no_more_room_is_named(pair, relay, visit):
    ann, ben = pair
    for node in pair:
        node.ask('addRelay', text=relay, tickets=[])
    for node in pair:
        wait('it is used', lambda: node.ask('relays')[0]['state'] == 'connected')
    ben.stop()
    ann.ask('send', conversation='ben', texts=['hello'])
    wait('it is there', lambda: ann.ask('outbox')[0]['relayedCount'] == 1)
    for _ in range(60):
        ann.ask('send', conversation='ben', texts=[base64.b64encode(os.urandom(24_000)).decode()])
    key, = wait('it is full', lambda: ann.ask('outbox')[0].get('fullRelays'))
    page = at(visit(ann), 'status')
    card = page.locator('.card').filter(has_text='no more room')
    expect(card).to_contain_text(f'The relay {ann.ask("relays")[0]["addresses"][0]} ({key[:8]}) has no more room for it.')
    expect(card.get_by_role('link', name='ben')).to_be_visible()
    expect(page.get_by_text('Nothing waits.')).to_have_count(0)


def test_two_people_poll_and_do(pair, visit):
    ann, ben = pair
    talk = ann.ask('conversations')[0]['id']
    page, other = at(visit(ann), 'together/' + talk), at(visit(ben), 'together/' + talk)
    press(page, 'New poll')
    page.get_by_role('textbox', name='Question').fill(HOSTILE[0])
    page.get_by_role('textbox', name='Answers').fill('Friday\nSaturday')
    press(page, 'Ask')
    other.get_by_role('radio', name='Saturday').check()
    expect(page.get_by_text('1 vote')).to_be_visible()
    assert [each['count'] for each in ann.ask('polls', conversation=talk)[0]['options']] == [0, 1]
    press(page, 'Close')
    expect(other.get_by_role('radio', name='Saturday')).to_be_disabled()
    press(page, 'New item')
    page.get_by_role('textbox', name='What is to be done').fill('book the hut')
    press(page, 'Add it')
    other.get_by_role('checkbox', name='book the hut').check()
    expect(page.get_by_text('done by ben')).to_be_visible()
    assert ann.ask('items', conversation=talk)[0]['doneBy'] == 'ben'


def test_a_choice_that_was_not_saved_does_not_stand(ann, visit):
    talk = ann.ask('conversations')[0]['id']
    ann.ask('askPoll', conversation=talk, question='When?', options=['Friday', 'Saturday'])
    ann.ask('createItem', conversation=talk, title='book the hut', assignees=[])
    page = at(visit(ann), 'together/' + talk)
    friday, saturday = (page.get_by_role('radio', name=name) for name in ('Friday', 'Saturday'))
    done, alert = page.get_by_role('checkbox', name='book the hut'), page.get_by_role('alert')
    saturday.check()
    expect(page.get_by_text('1 vote')).to_be_visible()
    ann.stop(signal.SIGKILL)
    expect(page.locator('.banner')).to_be_visible()
    for box in (friday, done):
        box.click()
        expect(alert).to_have_text('The node is away. Try again when it is back.')
        expect(box).not_to_be_checked()
        expect(saturday).to_be_checked()
    ann.start()
    expect(page.locator('.banner')).to_be_hidden()
    expect(alert).to_have_count(0)
    expect(saturday).to_be_checked()
    friday.check()
    wait('it is saved', lambda: [each['count'] for each in ann.ask('polls', conversation=talk)[0]['options']] == [1, 0])
    done.check()
    expect(page.get_by_text('done by ann')).to_be_visible()


@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_everybody_can_use_these_views(ann, visit, scheme):
    talk = ann.ask('conversations')[0]['id']
    ann.ask('askPoll', conversation=talk, question=HOSTILE[1], options=[HOSTILE[0], HOSTILE[2]])
    ann.ask('createItem', conversation=talk, title=HOSTILE[1], assignees=[])
    page = visit(ann, color_scheme=scheme, viewport={'width': 320, 'height': 640})
    for view in ['devices', 'relays', 'settings', 'status', 'together/' + talk]:
        at(page, view)
        expect(page.locator('.view section').first).to_be_visible()
        expect(page.locator('[aria-busy]')).to_have_count(0)
        found = Axe().run(page)
        assert found.violations_count == 0, f'{view}: {found.generate_report()}'
        assert page.evaluate("[...document.querySelectorAll('.parts')].every((each) => each.scrollWidth <= each.clientWidth)"), view
        assert page.locator('.view img, .view script').count() == 0
