"""People and groups in the page: how one begins, who asks, who is who, who may do what."""
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from conftest import wait
from test_page import show, write


def at(page, view):
    """Goes where a link of the page leads."""
    page.goto(page.url.split('#')[0] + '#/' + view)
    return page


def person(node, name):
    """The identifier of somebody that a node knows."""
    return next(each['person'] for each in node.ask('contacts') if each['name'] == name)


def state(node, name):
    return next((each['state'] for each in node.ask('contacts') if each['name'] == name), None)


def press(page, name, within=None, **options):
    (within or page).get_by_role('button', name=name, exact=True, **options).click()


def waits_for(page, text):
    return page.get_by_role('navigation').get_by_role('link', name=text)


# The dark modules of a drawn code, row by row, as the node says them.
MODULES = """() => {
    const svg = document.querySelector('.code'), size = svg.viewBox.baseVal.width - 8;
    const rows = Array.from({ length: size }, () => Array(size).fill('0'));
    for (const [, x, y, count] of svg.querySelector('path').getAttribute('d').matchAll(/M(\\d+) (\\d+)h(\\d+)v1/g))
        rows[y - 4].fill('1', x - 4, x - 4 + Number(count));
    return rows.map((row) => row.join(''));
}"""

# A browser that reads codes: what its camera sees is said from outside.
CAMERA = """(() => {
    const canvas = document.createElement('canvas');
    window.stopped = 0;
    navigator.mediaDevices.getUserMedia = async () => {
        if (window.isRefused) throw new DOMException('no', 'NotAllowedError');
        canvas.getContext('2d').fillRect(0, 0, 9, 9);
        const stream = canvas.captureStream(20);
        const [track] = stream.getTracks(), stop = track.stop.bind(track);
        track.stop = () => (window.stopped++, stop());
        return stream;
    };
    window.BarcodeDetector = class {
        async detect() { return window.seen ? [{ rawValue: window.seen }] : []; }
    };
})()"""


def test_two_people_who_know_nobody_meet(nodes, visit):
    ann, ben = nodes('ann'), nodes('ben')
    ann_page, ben_page = visit(ann), visit(ben)
    expect(ann_page.get_by_role('heading', name='Begin')).to_be_visible()
    press(ann_page, 'Create an invite')
    expect(ann_page.get_by_role('img', name='The link as a QR code')).to_be_visible()
    link = ann_page.get_by_role('textbox', name='Link', exact=True).input_value()
    assert link == ann.ask('invites')[0]['link']
    assert ann_page.evaluate(MODULES) == ann.ask('drawCode', text=link)['rows']
    # What is no link is said to be none, and stays to be mended.
    field = ben_page.get_by_role('textbox', name='What you were given')
    field.fill('parley:1:nothing')
    press(ben_page, 'Use it')
    expect(ben_page.get_by_role('alert').filter(has_text='That is not an invite link')).to_be_visible()
    expect(field).to_have_value('parley:1:nothing')
    field.fill(link)
    press(ben_page, 'Use it')
    expect(ben_page.get_by_role('status').filter(has_text='You and ann can write')).to_be_visible()
    # Nothing goes away under the hands of the one who invited.
    expect(ann_page.get_by_role('link', name='ben')).to_be_visible()
    expect(ann_page.get_by_role('heading', name='Begin')).to_be_visible()
    expect(ann_page.get_by_text('That invite was used, or has expired.')).to_be_visible()
    write(ann_page, show(ann_page, 'ben'), 'hello')
    expect(ben_page.get_by_role('link', name=re.compile('ann.*1 unread'))).to_be_visible()


def test_the_camera_takes_an_invite(nodes, visit):
    ann, ben = nodes('ann'), nodes('ben')
    page = visit(ben)
    page.add_init_script(CAMERA)
    page.reload()
    page.evaluate('window.isRefused = true')
    press(page, 'Use the camera')
    expect(page.get_by_text('does not let this page use the camera')).to_be_visible()
    page.keyboard.press('Escape')
    expect(page.get_by_role('dialog')).to_have_count(0)
    page.evaluate('window.isRefused = false')
    press(page, 'Use the camera')
    expect(page.get_by_text('Hold the QR code in front of the camera.')).to_be_visible()
    page.evaluate('link => { window.seen = link; }', ann.ask('invite', hours=1)['link'])
    expect(page.get_by_role('status').filter(has_text='You and ann can write')).to_be_visible()
    assert page.evaluate('window.stopped') == 1
    # A safety number is compared by the device, whoever reads it.
    at(page, 'p/' + person(ben, 'ann'))
    wait('ann knows ben', lambda: ann.ask('contacts'))
    page.evaluate('code => { window.seen = code; }', ann.ask('safetyNumber', person='ben')['code'])
    press(page, 'Scan theirs')
    expect(page.get_by_text('You compared it with ann')).to_be_visible()
    assert ben.ask('safetyNumber', person='ann')['isVerified']


def test_somebody_asks(nodes, visit):
    ann = nodes('ann')
    page = visit(ann)
    card = ann.ask('card')['text']
    for name, answer, end in [('ben', 'Accept', 'accepted'), ('cleo', 'Decline', 'declined'), ('dora', 'Block', 'blocked')]:
        other = nodes(name)
        other.ask('requestContact', card=card)
        line = waits_for(page, f'{name} sent you a contact request')
        line.click()
        press(page, answer)
        if answer == 'Block':
            press(page, 'Block', page.get_by_role('dialog'))
        expect(line).to_be_hidden()
        expect(page.get_by_text('Nothing waits for your answer.')).to_be_visible()
        wait(f'{name} is {end}', lambda: state(ann, name) == end)
    page.get_by_role('link', name='People', exact=True).click()
    people = page.locator('.people')
    expect(page.get_by_role('heading', name='Blocked')).to_be_visible()
    expect(people.get_by_role('link', name='cleo you declined their contact request')).to_be_visible()
    expect(people.get_by_role('link', name='dora blocked')).to_be_visible()
    press(page, 'Unblock dora')
    expect(page.get_by_role('heading', name='Blocked')).to_have_count(0)
    assert state(ann, 'dora') != 'blocked'
    people.get_by_role('link', name='dora').click()
    press(page, 'Block')
    press(page, 'Block', page.get_by_role('dialog'))
    press(page, 'Unblock')
    wait('dora may ask again', lambda: state(ann, 'dora') != 'blocked')
    at(page, 'p/' + person(ann, 'cleo'))
    press(page, 'Accept')
    expect(waits_for(page, 'cleo')).to_be_visible()


def test_a_person_is_named_and_compared(pair, visit):
    ann, ben = pair
    page = visit(ann)
    at(page, 'p/' + person(ann, 'ben'))
    digits = ben.ask('safetyNumber', person='ann')['number'].split()
    expect(page.locator('.safety')).to_have_text(re.compile(r'\s*'.join(digits)))
    press(page, 'Paste their code')
    dialog = page.get_by_role('dialog')
    # A code of somebody else is not equal, and is not taken.
    own = ann.ask('safetyNumber', person='ben')['code']
    dialog.get_by_role('textbox').fill(own[:20] + ('B' if own[20] == 'A' else 'A') + own[21:])
    press(page, 'Compare', dialog)
    expect(dialog.get_by_role('alert')).not_to_be_empty()
    assert not ann.ask('safetyNumber', person='ben')['isVerified']
    dialog.get_by_role('textbox').fill(ben.ask('safetyNumber', person='ann')['code'])
    press(page, 'Compare', dialog)
    expect(page.get_by_text('You compared it with ben')).to_be_visible()
    press(page, 'Rename')
    dialog.get_by_role('textbox').fill('Ben from work')
    press(page, 'Save', dialog)
    expect(page.get_by_role('heading', name='Ben from work')).to_be_visible()
    expect(waits_for(page, 'Ben from work')).to_be_visible()
    assert page.title() == 'Ben from work – Parley'
    # What he says of himself comes by itself.
    ben_page = at(visit(ben), 'me')
    press(ben_page, 'Edit your profile')
    ben_page.get_by_role('textbox', name='What you do').fill('at the lake')
    ben_page.get_by_role('textbox', name='Time zone').fill('Europe/Berlin')
    press(ben_page, 'Save')
    expect(page.get_by_text('at the lake')).to_be_visible()
    expect(page.get_by_text(re.compile('[0-9]{2}.* there'))).to_be_visible()
    page.get_by_role('link', name='Write', exact=True).click()
    expect(page.get_by_role('textbox', name='Write to Ben from work')).to_be_visible()


PICTURE = """() => new Promise((resolve) => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [900, 700];
    const surface = canvas.getContext('2d');
    surface.fillStyle = '#c02020';
    surface.fillRect(0, 0, 900, 700);
    canvas.toBlob(async (blob) => resolve([...new Uint8Array(await blob.arrayBuffer())]), 'image/png');
})"""
COLOUR = """async () => {
    const image = document.querySelector('.portrait img');
    await image.decode();
    const surface = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d');
    surface.drawImage(image, 0, 0, 1, 1);
    return [...surface.getImageData(0, 0, 1, 1).data];
}"""


def test_a_group_lives(nodes, visit):
    ann, ben, cleo = nodes('ann'), nodes('ben'), nodes('cleo')
    for other in (ben, cleo):
        other.say('accept', ann.say('invite'))
    wait('all know each other', lambda: len(ann.ask('conversations')) == 2)
    page, ben_page, cleo_page = visit(ann), visit(ben), visit(cleo)
    at(page, 'group')
    page.get_by_role('textbox', name='Name').fill('trip')
    page.get_by_role('checkbox', name='ben').check()
    press(page, 'Create the group')
    expect(page.get_by_role('textbox', name='Write to trip')).to_be_visible()
    page.locator('.pane').get_by_role('link', name='trip').click()
    expect(page.get_by_role('link', name='ben member · invited')).to_be_visible()
    waits_for(ben_page, 'ann invites you to trip').click()
    expect(ben_page.get_by_text('2 people')).to_be_visible()
    press(ben_page, 'Join')
    expect(waits_for(ben_page, re.compile('^trip'))).to_be_visible()
    expect(page.get_by_role('link', name=re.compile('ben member( · connected)?$'))).to_be_visible()
    # What it is called, what it is for, and its picture.
    dialog = page.get_by_role('dialog')
    for button, text in [('Rename', 'our trip'), ('Describe', 'who brings what')]:
        press(page, button)
        dialog.get_by_role('textbox').fill(text)
        press(page, 'Save', dialog)
        expect(page.locator('.view').get_by_text(text).first).to_be_visible()
    page.locator('input[type=file]').set_input_files(
        {'name': 'a.png', 'mimeType': 'image/png', 'buffer': bytes(page.evaluate(PICTURE))})
    expect(page.get_by_role('img', name='Picture')).to_be_visible()
    red, green, blue, _ = page.evaluate(COLOUR)
    assert red > 170 and green < 60 and blue < 60, (red, green, blue)
    wait('ben sees it', lambda: ben.ask('groupPicture', conversation='our trip')['type'] == 'image/jpeg')
    page.locator('input[type=file]').set_input_files({'name': 'a.png', 'mimeType': 'image/png', 'buffer': b'<svg/>'})
    expect(page.get_by_role('alert').filter(has_text='This browser cannot read that as a picture')).to_be_visible()
    # A link, by which somebody comes.
    press(page, 'Create a link')
    press(page, 'Create a link', dialog)
    expect(dialog.get_by_role('img', name='The link as a QR code')).to_be_visible()
    link = dialog.get_by_role('textbox', name='Link').input_value()
    assert page.evaluate(MODULES) == ann.ask('drawCode', text=link)['rows']
    press(page, 'Done', dialog)
    at(cleo_page, 'meet')
    cleo_page.get_by_role('textbox', name='What you were given').fill(link)
    press(cleo_page, 'Use it')
    expect(waits_for(cleo_page, re.compile('^our trip'))).to_be_visible()
    expect(page.get_by_role('link', name=re.compile('cleo member'))).to_be_visible()
    # Who may do what.
    press(page, 'Change what ben may do')
    press(page, 'Make admin', dialog)
    expect(page.get_by_role('link', name=re.compile('ben admin'))).to_be_visible()
    at(ben_page, 'g/' + ann.ask('conversation', conversation='our trip')['id'])
    expect(ben_page.get_by_role('button', name='Change what cleo may do')).to_be_visible()
    expect(ben_page.get_by_role('button', name='Change what ann may do')).to_have_count(0)
    expect(ben_page.get_by_role('button', name='Change the rules')).to_have_count(0)
    press(page, 'Change the rules')
    dialog.get_by_role('combobox').select_option('the last 7 days')
    press(page, 'Save', dialog)
    expect(page.get_by_text('Newcomers see messages of the last 7 days.').first).to_be_visible()
    press(page, 'Who may do what')
    dialog.get_by_role('combobox', name='Write').select_option('owners and admins')
    press(page, 'Save', dialog)
    expect(page.get_by_text('Write: owners and admins').first).to_be_visible()
    assert ann.ask('group', conversation='our trip')['rules']['write'] == 'admins'
    press(ben_page, 'Change what cleo may do')
    press(ben_page, 'Remove')
    press(ben_page, 'Remove', ben_page.get_by_role('dialog'))
    expect(page.get_by_role('link', name=re.compile('cleo member'))).to_have_count(0)
    expect(cleo_page.get_by_role('link', name=re.compile('^our trip'))).to_be_visible()
    page.get_by_text('What changed').click()
    said = ['ann created the group', 'ann opened a link to join', 'ann changed the rules. Write: owners and admins.']
    for line in [*said, 'cleo joined with a link of ann', 'ann made ben admin', 'ben removed cleo']:
        expect(page.get_by_text(line).first).to_be_visible()
    # The last owner is told what leaving means, and may.
    press(page, 'Leave the group')
    press(page, 'Leave the group', dialog)
    expect(dialog.filter(has_text='The group would have no owner')).to_be_visible()
    press(page, 'Leave anyway')
    expect(page.get_by_text('You are no longer in it.').first).to_be_visible()
    wait('ben hears of it', lambda: len(ben.ask('group', conversation='our trip')['members']) == 1)
    press(page, 'Delete here')
    press(page, 'Delete here', dialog)
    expect(page.get_by_role('link', name='our trip')).to_have_count(0)
    expect(page.get_by_text('Choose a conversation.')).to_be_visible()


def test_what_one_does_with_a_conversation(ann, visit):
    page = visit(ann)

    def choose(*words):
        # By keyboard: the row, then what a browser makes of the menu key.
        page.get_by_role('navigation').get_by_role('link', name='notes').focus()
        page.locator('.conversations a').filter(has_text='notes').dispatch_event('contextmenu')
        for word in words:
            press(page, word, page.get_by_role('dialog'))

    def row():
        return ann.ask('conversations')[0]

    expect(waits_for(page, 'notes')).to_be_visible()
    choose('Archive')
    expect(page.get_by_role('heading', name='Archive')).to_be_visible()
    choose('Take out of the archive')
    expect(page.get_by_role('heading', name='Archive')).to_be_hidden()
    choose('Mute', '8 hours')
    expect(page.get_by_role('navigation').get_by_text('muted')).to_be_visible()
    assert row()['mutedUntil'] > 0
    choose('Unmute')
    expect(page.get_by_role('navigation').get_by_text('muted')).to_be_hidden()
    choose('Mark as unread')
    expect(waits_for(page, 'notes marked as unread')).to_be_visible()
    assert row()['isMarkedUnread']
    choose('Remove the unread mark')
    expect(waits_for(page, 'marked as unread')).to_have_count(0)
    assert not row()['isMarkedUnread']


def test_what_is_typed_and_held_stays(pair, visit):
    ann, ben = pair
    page = visit(ann)
    at(page, 'p/' + person(ann, 'ben'))
    button = page.get_by_role('button', name='Block', exact=True)
    button.focus()
    # What is drawn anew leaves the keyboard where it was.
    page.evaluate('window.held = document.activeElement')
    ben.ask('changeProfile', status='away for a week')
    expect(page.get_by_text('away for a week')).to_be_visible()
    assert page.evaluate('document.activeElement !== window.held && document.activeElement.textContent') == 'Block'
    press(page, 'Rename')
    page.get_by_role('dialog').get_by_role('textbox').fill('half a na')
    ben.ask('changeProfile', status='back')
    expect(page.get_by_text('back', exact=True)).to_be_attached()
    expect(page.get_by_role('dialog').get_by_role('textbox')).to_have_value('half a na')
    # A node that is away says so, and what was typed is still there.
    ann.stop()
    press(page, 'Save')
    expect(page.get_by_role('dialog').get_by_role('alert')).to_contain_text('The node is away')
    ann.start()
    expect(page.get_by_text('The node is away. What you')).to_be_hidden()
    page.get_by_role('dialog').get_by_role('textbox').fill('half a name')
    press(page, 'Save')
    expect(page.get_by_role('heading', name='half a name')).to_be_visible()


def test_advice_for_a_terminal_is_not_given_here(pair, visit):
    ann, _ = pair
    page = visit(ann)
    field = show(page, 'ben')
    ann.ask('decide', person=person(ann, 'ben'), decision='block')
    write(page, field, 'hello')
    expect(page.get_by_role('alert')).to_have_text('That did not work: You have blocked that person.')
    expect(field).to_have_value('hello')


HOSTILE = ['<img src=x onerror="document.title=1">', 'x' * 250, '\u202eresrever nna', 'ann', '‮', '🧑‍🚀' * 20]


@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_everybody_can_use_every_view(pair, visit, scheme):
    ann, ben = pair
    ben.ask('changeProfile', status=HOSTILE[0])
    for name in HOSTILE[:2] + HOSTILE[5:]:
        ann.ask('newConversation', name=name, members=[person(ann, 'ben')])
    odd = ben.ask('newConversation', name=HOSTILE[1], members=[person(ben, 'ann')])['id']
    ben.ask('describeGroup', conversation=odd, text='y' * 2000)
    wait('it waits', lambda: ann.ask('invitations')['waiting'])
    # Names that look like others are quoted by the node, and shown with that.
    ann.ask('setAlias', person='ben', alias=HOSTILE[0])
    group = next(each['id'] for each in ann.ask('conversations') if each['kind'] == 'group')
    ben_id = ann.ask('contacts')[0]['person']
    page = visit(ann, color_scheme=scheme, viewport={'width': 320, 'height': 640})
    expect(page.get_by_role('navigation').get_by_role('link', name='invites you').first).to_be_visible()
    for view, heading in [('', 'Parley'), ('waiting', 'Waiting'), ('people', 'People'), (f'p/{ben_id}', '<img'), ('me', 'You'), ('meet', 'Meet'), ('group', 'New group'), (f'g/{group}', re.compile('.'))]:
        at(page, view)
        expect(page.get_by_role('heading', level=1, name=heading).first).to_be_visible()
        expect(page.locator('[aria-busy]')).to_have_count(0)
        found = Axe().run(page)
        assert found.violations_count == 0, f'{view}: {found.generate_report()}'
        assert page.evaluate('document.documentElement.scrollWidth') <= 320, view
        assert page.evaluate("[...document.querySelectorAll('.parts')].every((each) => each.scrollWidth <= each.clientWidth)"), view
        assert page.locator('.view img:not(.portrait img), .view script, .view b').count() == 0
    assert page.title().endswith('Parley')
    # Dialogs as well, by keyboard alone.
    page.get_by_role('button', name='Add people').focus()
    page.keyboard.press('Enter')
    expect(page.get_by_role('dialog')).to_be_visible()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.keyboard.press('Escape')
    expect(page.get_by_role('dialog')).to_have_count(0)


def test_conversations_of_like_names_are_told_apart(ann, visit):
    # The last letter of the second one is Cyrillic.
    for name in ['trip', 'tri\u0440', 'hut']:
        ann.ask('newConversation', name=name, members=[])
    start = {each['name']: each['id'][:8] for each in ann.ask('conversations')}
    page = visit(ann)
    rows = page.locator('.conversations > li')
    for name in ['trip', 'tri\u0440']:
        expect(rows.filter(has_text=start[name])).to_contain_text(name)
    expect(rows.filter(has_text='hut')).not_to_contain_text(start['hut'])
    show(page, 'trip')
    head = page.locator('h1:has(a[href^="#/g/"])').locator('..')
    expect(head.locator('.warning')).to_contain_text(f'tri\u0440 ({start["tri" + chr(0x440)]})')
    expect(head.locator('h1')).to_contain_text(start['trip'])
    show(page, 'hut')
    expect(head.locator('.warning')).to_have_count(0)
