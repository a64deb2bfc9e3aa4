"""Files in the page: what goes along, what came, what is hostile, and what was spoken."""
import http.server
import os
import random
import re
import shutil
import signal
import struct
import threading
import zlib

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from conftest import wait
from test_page import rows, show, write

HAS_FFMPEG = shutil.which('ffmpeg') is not None


def png(width, height, pixel=lambda x, y: (x % 256, y % 256, 128)):
    """A picture that needs no program to be made."""
    def chunk(kind, body):
        return struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
    lines = b''.join(b'\0' + bytes(part for x in range(width) for part in pixel(x, y)) for y in range(height))
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0))
            + chunk(b'IDAT', zlib.compress(lines)) + chunk(b'IEND', b''))


def noise(x, y, numbers=random.Random(1)):
    return tuple(numbers.randbytes(3))


def file(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, 'wb') as target:
        target.write(content)
    return path


def group(page, name):
    return page.get_by_role('group', name=name, exact=True)


def saved(page, name):
    """What a person has on their disk after they saved it, and what it is called there."""
    with page.expect_download() as waiting:
        page.get_by_role('link', name=f'Save {name}').last.click()
    download = waiting.value
    with open(download.path(), 'rb') as content:
        return download.suggested_filename, content.read()


DROP = """async ([name, text, kind]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name, { type: 'text/plain' }));
    const field = document.querySelector('textarea');
    if (kind === 'paste') {
        field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
        return;
    }
    for (const each of ['dragenter', 'dragover']) field.dispatchEvent(new DragEvent(each, { dataTransfer: data, bubbles: true, cancelable: true }));
    window.wasShown = !document.querySelector('.drop-target').hidden;
    field.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def test_files_go_and_come(pair, visit, folder):
    ann, ben = pair
    picture = png(400, 300, noise)
    film = file(folder, 'hut on the hill.png', picture)
    small = file(folder, 'dot.png', png(40, 30))
    page, other = visit(ann), visit(ben, accept_downloads=True)
    field = show(page, 'ben')
    # By the button, by a drop and from the clipboard; one is taken out again.
    page.set_input_files('input[type=file]', [film, small])
    page.evaluate(DROP, ['dropped.txt', 'dropped', 'drop'])
    assert page.evaluate('window.wasShown') is True
    page.evaluate(DROP, ['pasted.txt', 'pasted', 'paste'])
    attached = page.get_by_role('list', name='Attached files')
    expect(attached.get_by_role('listitem')).to_have_count(4)
    expect(attached.get_by_role('progressbar')).to_have_count(0)
    page.get_by_role('button', name='Remove dropped.txt').click()
    expect(attached.get_by_role('listitem')).to_have_count(3)
    write(page, field, 'look')
    expect(attached.get_by_role('listitem')).to_have_count(0)
    expect(page.get_by_role('list', name='Attached files')).to_be_hidden()
    # The other one sees and opens them, and has what was sent.
    show(other, 'ann')
    for name in ('hut on the hill.png', 'dot.png', 'pasted.txt'):
        expect(group(other, name)).to_be_visible()
    expect(group(other, 'dropped.txt')).to_have_count(0)
    shown = group(other, 'dot.png').locator('img')
    expect(shown).to_have_js_property('naturalWidth', 40)
    other.get_by_role('button', name='Open hut on the hill.png').click()
    large = other.get_by_role('dialog').get_by_role('img', name='hut on the hill.png')
    expect(large).to_have_js_property('naturalWidth', 400)
    other.keyboard.press('Escape')
    expect(other.get_by_role('dialog')).to_have_count(0)
    assert saved(other, 'hut on the hill.png') == ('hut on the hill.png', picture)
    assert saved(other, 'pasted.txt') == ('pasted.txt', b'pasted')
    # Who sent it is told who has it.
    expect(group(page, 'hut on the hill.png')).to_contain_text('ben')
    message, = [each for each in ben.ask('messages', conversation='ann', limit=10)['messages'] if each['text'] == 'look']
    assert [each['name'] for each in message['files']] == ['hut on the hill.png', 'dot.png', 'pasted.txt']


def test_what_is_attached_stays_with_its_conversation(ann, visit, folder):
    ann.ask('newConversation', name='other', members=[])
    page = visit(ann)
    show(page, 'notes')
    many = [file(folder, f'{number}.txt', b'x' * number) for number in range(18)]
    page.set_input_files('input[type=file]', many)
    attached = page.get_by_role('list', name='Attached files')
    expect(attached.get_by_text('A message can have at most 16 files.')).to_be_visible()
    show(page, 'other')
    expect(attached).to_be_hidden()
    field = show(page, 'notes')
    expect(attached.get_by_role('listitem')).to_have_count(16)
    expect(attached.get_by_role('progressbar')).to_have_count(0)
    # A long text leaves less room for each: they are made ready again.
    write(page, field, 'word ' * 6000)
    expect(rows(page)).to_have_count(1)
    wait('it is sent', lambda: ann.ask('messages', conversation='notes', limit=1)['messages'])
    message, = ann.ask('messages', conversation='notes', limit=1)['messages']
    assert [each['size'] for each in message['files']] == list(range(16))
    # What cannot be sent is told, and what was written is there again.
    broken = file(folder, 'broken.png', b'\x89PNG\r\n\x1a\n' + b'x' * 500)
    page.set_input_files('input[type=file]', [broken])
    expect(attached.get_by_role('alert')).to_contain_text('its metadata, such as place and camera')
    write(page, field, 'see')
    expect(page.get_by_text(re.compile('That did not work: “broken.png”'))).to_be_visible()
    expect(field).to_have_value('see')
    attached.get_by_role('button', name='Send as it is').click()
    expect(attached.get_by_role('alert')).to_be_empty()
    field.press('Enter')
    expect(rows(page)).to_have_count(2)
    expect(group(page, 'broken.png')).to_contain_text('This cannot be shown.')


def test_a_node_that_goes_while_a_file_is_on_its_way(ann, visit, folder):
    content = os.urandom(20 << 20)
    large = file(folder, 'large.bin', content)
    page = visit(ann, accept_downloads=True)
    field = show(page, 'notes')
    # The third piece is on its way when the node is killed.
    held = []
    page.route(re.compile('/upload\\?id=.*offset=8388608'), lambda route: held.append(route), times=1)
    page.set_input_files('input[type=file]', [large])
    write(page, field, 'first')
    expect(group(page, 'large.bin')).to_contain_text('40%')
    wait('the third piece', lambda: page.evaluate('1') and held)
    ann.stop(signal.SIGKILL)
    held[0].continue_()
    expect(page.get_by_text('The node is away.')).to_be_visible()
    write(page, field, 'second')
    ann.start()
    expect(page.get_by_role('link', name='Save large.bin')).to_be_visible(timeout=30_000)
    expect(rows(page).filter(has_text='second').locator('.delivery')).not_to_contain_text('Sending')
    texts = [each['text'] for each in ann.ask('messages', conversation='notes', limit=10)['messages']]
    assert texts == ['first', 'second']
    assert saved(page, 'large.bin') == ('large.bin', content)
    # One that waits to be sent in a node that was started again is made ready again.
    page.set_input_files('input[type=file]', [file(folder, 'a.txt', b'a')])
    expect(page.get_by_role('list', name='Attached files').get_by_role('progressbar')).to_have_count(0)
    ann.stop()
    ann.start()
    expect(page.get_by_text('The node is away.')).to_be_hidden()
    write(page, field, 'third')
    expect(group(page, 'a.txt').get_by_role('link', name='Save a.txt')).to_be_visible()


def test_a_piece_that_is_lost_is_sent_again(ann, visit, folder):
    content = os.urandom(10 << 20)
    page = visit(ann, accept_downloads=True)
    field = show(page, 'notes')
    asked = []
    page.on('request', lambda request: '/upload' in request.url and asked.append((request.method, request.url.split('?')[1])))
    page.route(re.compile('/upload\\?id=.*offset=4194304'), lambda route: route.abort(), times=1)
    page.set_input_files('input[type=file]', [file(folder, 'large.bin', content)])
    write(page, field, 'once')
    expect(page.get_by_role('link', name='Save large.bin')).to_be_visible()
    assert saved(page, 'large.bin') == ('large.bin', content)
    assert len([query for method, query in asked if query.startswith('name=')]) == 1, asked
    assert [method for method, _ in asked].count('GET') == 1, asked


def test_a_file_is_fetched_and_waited_for(pair, visit, folder):
    ann, ben = pair
    content = os.urandom(17 << 20)
    large = file(folder, 'large.bin', content)
    page = visit(ben, accept_downloads=True)
    show(page, 'ann')
    ann.say('send', 'ben', 'large', '--file', large)
    there = group(page, 'large.bin')
    expect(there).to_contain_text('17.8 MB · not on this device')
    ann.stop()
    page.get_by_role('button', name='Fetch large.bin').click()
    expect(there).to_contain_text('17.8 MB · waiting')
    expect(there).to_contain_text('Sent by ann, who cannot be reached now.')
    ann.start()
    expect(page.get_by_role('link', name='Save large.bin')).to_be_visible(timeout=30_000)
    assert saved(page, 'large.bin') == ('large.bin', content)


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', [320, 1280])
def test_all_files_of_a_conversation_are_listed(ann, visit, folder, scheme, width):
    for number in range(50):
        ann.ask('send', conversation='notes', texts=[f'line {number}'])
    names = ['dot.png', 'a ' * 100 + '.txt', 'שלום.pdf']
    paths = [file(folder, name, content) for name, content in zip(names, [png(40, 30), b'text', b'%PDF'])]
    ann.say('send', 'notes', 'the first', *[word for path in paths for word in ('--file', path)])
    for number in range(60):
        ann.ask('send', conversation='notes', texts=[f'more {number}'])
    page = visit(ann, color_scheme=scheme, viewport={'width': width, 'height': 700})
    show(page, 'notes')
    page.get_by_role('button', name='More of this conversation').click()
    page.get_by_role('menuitem', name='Files and pictures').click()
    listed = page.locator('.gallery').get_by_role('listitem')
    expect(listed).to_have_count(3)
    expect(listed.first).to_contain_text(re.compile(r'dot\.png.*Picture · .*You · '))
    expect(listed.first.locator('img')).to_have_js_property('naturalWidth', 40)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("[...document.querySelectorAll('.parts')].every((each) => each.scrollWidth <= each.clientWidth)")
    # Those of one kind alone; the picture over all of the window; the message in its place.
    page.get_by_role('combobox', name='Which files').select_option('File')
    expect(listed.filter(visible=True)).to_have_count(2)
    page.get_by_role('combobox', name='Which files').select_option('Picture')
    expect(listed.filter(visible=True)).to_have_count(1)
    button = page.get_by_role('button', name='Open dot.png')
    button.focus()
    page.keyboard.press('Enter')
    expect(page.get_by_role('dialog', name='dot.png')).to_be_visible()
    page.keyboard.press('Escape')
    expect(button).to_be_focused()
    page.keyboard.press('Tab')
    page.keyboard.press('Enter')
    row = rows(page).filter(has_text='the first')
    expect(row).to_be_focused()
    expect(page.get_by_role('textbox', name='Write to notes')).to_be_visible()
    ann.ask('delete', message=ann.ask('files', conversation='notes')['entries'][0]['message']['id'])
    page.get_by_role('button', name='More of this conversation').click()
    page.get_by_role('menuitem', name='Files and pictures').click()
    expect(page.get_by_text('There are no files in this conversation.')).to_be_visible()


HTML = b'<!doctype html><script>document.title = "run"; alert(1)</script>'
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HOSTILE = [
    ('<img src=x onerror=alert(1)>.png', png(30, 30), 'image/png'),
    ('holiday\u202egnp.exe', b'MZ' + b'\0' * 100, 'image/png'),
    ('drawing.svg', SVG, 'image/svg+xml'), ('page.png', HTML, 'image/png'), ('page.html', HTML, 'text/html'),
    ('wrong.png', b'\x89PNG\r\n\x1a\n' + b'\0' * 3000, 'image/png'), ('film.mp4', b'\0\0\0\x18ftypmp42' + b'x' * 9000, 'video/mp4'),
    ('x' * 240 + '.txt', b'x', 'text/plain'), ('sound.ogg', b'OggS' + b'\0' * 9000, 'audio/ogg'), ('empty', b'', ''),
]


def test_hostile_files_are_bytes(ann, visit, folder):
    tickets = []
    for number, (name, content, kind) in enumerate(HOSTILE):
        path = file(folder, f'{number}', content)
        staged = ann.ask('stageFile', path=path, name=name, type=kind, keepsMetadata=True)
        wait(name, lambda: ann.ask('stagedFile', ticket=staged['ticket'])['isReady'])
        tickets.append(staged['ticket'])
    ann.ask('send', conversation='notes', texts=['hostile'], files=tickets)
    message, = ann.ask('messages', conversation='notes', limit=1)['messages']
    page = visit(ann, accept_downloads=True)
    show(page, 'notes')
    expect(group(page, '_img src=x onerror=alert(1)_.png')).to_be_visible()
    expect(group(page, 'holiday_gnp.exe')).to_be_visible()
    # What is no picture is none, whatever it says; what says that it is one and breaks says so.
    expect(group(page, 'page.png')).to_contain_text('This cannot be shown.')
    expect(group(page, 'wrong.png')).to_contain_text('This cannot be shown.')
    expect(group(page, 'drawing.svg').locator('img')).to_have_count(0)
    page.get_by_role('button', name='Play film.mp4').click()
    expect(page.get_by_role('dialog')).to_contain_text('This cannot be shown.')
    page.get_by_role('button', name='Close', exact=True).click()
    group(page, 'sound.ogg').get_by_role('button', name='Play').click()
    expect(group(page, 'sound.ogg')).to_contain_text('This cannot be shown.')
    for number, (name, content, _) in enumerate(HOSTILE):
        shown = message['files'][number]['name']
        assert '\u202e' not in shown and '<' not in shown
        assert saved(page, shown) == (shown, content), name
    # With a window of its own nothing of it is a page, and none of it is a script, a style or a frame.
    own = page.url.split('#')[0]
    for number in range(1, len(HOSTILE) + 1):
        address = f'{own}file?message={message["id"]}&number={number}'
        with page.expect_download():
            page.evaluate('address => { location.href = address; }', address)
    assert page.title().endswith('Parley')


def test_no_file_is_a_script_a_style_or_a_frame(ann, browser, folder):
    for name, content in [('page.html', HTML), ('drawing.svg', SVG), ('style.css', b'* { color: red }')]:
        ann.say('send', 'notes', name, '--file', file(folder, name, content))
    ids = [each['id'] for each in ann.ask('messages', conversation='notes', limit=3)['messages']]
    context = browser.new_context()
    page = context.new_page()
    page.goto(ann.link())
    show(page, 'notes')
    own = page.url.split('#')[0]
    tried = page.evaluate("""async (addresses) => {
        const found = [];
        // The control: a style that the page has itself is taken.
        for (const [name, key, address] of [['link', 'href', document.querySelector('link[rel=stylesheet]').href], ...addresses.flatMap((each) =>
            [['script', 'src', each], ['iframe', 'src', each], ['link', 'href', each], ['embed', 'src', each]])]) {
            const element = document.createElement(name);
            if (name === 'link') element.rel = 'stylesheet';
            found.push(name + ' ' + await new Promise((resolve) => {
                element.onload = () => resolve(name === 'link' ? 'taken' : 'loaded');
                element.onerror = () => resolve('refused');
                setTimeout(() => resolve('nothing'), 500);
                try { element[key] = address; document.head.append(element); } catch { resolve('refused'); }
            }));
            element.remove();
        }
        return found;
    }""", [f'{own}file?message={each}' for each in ids])
    assert tried.pop(0) == 'link taken'
    assert 'link taken' not in tried and 'script loaded' not in tried, tried
    assert page.title().endswith('Parley')
    context.close()


def test_attack_276_a_page_of_another_origin_gets_no_file(ann, visit, folder):
    ticket = ann.ask('stageFile', path=file(folder, 'dot.png', png(40, 30)))['ticket']
    wait('it is ready', lambda: ann.ask('stagedFile', ticket=ticket)['isReady'])
    ann.ask('send', conversation='notes', texts=['dot'], files=[ticket])
    message, = ann.ask('messages', conversation='notes', limit=1)['messages']
    page = visit(ann)
    show(page, 'notes')
    expect(group(page, 'dot.png').locator('img')).to_have_js_property('naturalWidth', 40)
    address = f'{page.url.split("#")[0]}file?message={message["id"]}'
    look = """async (address) => {
        const shown = await new Promise((resolve) => {
            const picture = new Image();
            picture.onload = () => resolve('loaded');
            picture.onerror = () => resolve('refused');
            picture.src = address;
        });
        const asked = await fetch(address, { mode: 'no-cors', credentials: 'include' }).then((answer) => answer.type, () => 'refused');
        return [shown, asked];
    }"""
    # The control: the page itself is shown it.
    assert page.evaluate(look, address)[0] == 'loaded'

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header('Content-Type', 'text/html')
            self.end_headers()
            self.wfile.write(b'<!doctype html><title>other</title>')

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Other)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        host = page.url.split('/')[2].split(':')[0]
        # Of another site, and of the very same host with another port, which is sent the cookie.
        for name in ('localhost', host):
            other = page.context.new_page()
            other.goto(f'http://{name}:{server.server_port}/')
            assert other.evaluate(look, address)[0] == 'refused', name
            other.close()
    finally:
        server.shutdown()
        server.server_close()


def test_what_is_spoken_is_sent_and_played(pair, visit):
    ann, ben = pair
    page, other = visit(ann), visit(ben)
    show(page, 'ben')
    show(other, 'ann')

    def record(button):
        page.get_by_role('button', name='Record a voice message').click()
        expect(page.get_by_role('timer')).to_have_text('0:02')
        page.wait_for_function("() => document.querySelector('.recording meter').value > 0")
        page.get_by_role('button', name=button).click()
        expect(page.get_by_role('timer')).to_be_hidden()

    record('Drop the recording')
    expect(page.get_by_role('list', name='Attached files')).to_be_hidden()
    record('Stop, and attach it')
    attached = page.get_by_role('list', name='Attached files')
    expect(attached).to_contain_text('Voice message')
    if not HAS_FFMPEG:
        # The control: without a program that makes it one it is told what is missing.
        expect(attached.get_by_role('alert')).to_contain_text('Without ffmpeg, no voice note can be made.')
        return
    expect(attached.get_by_role('progressbar')).to_have_count(0)
    page.get_by_role('button', name='Remove Voice message').click()
    record('Stop, and send it')
    heard = group(other, 'Voice message')
    expect(heard).to_be_visible()
    message, = ben.ask('messages', conversation='ann', limit=1)['messages']
    voice, = message['files']
    assert voice['isVoice'] and 1500 < voice['duration'] < 4000 and max(voice['waveform']) == 255
    place = other.get_by_role('slider', name='Place in the voice message')
    other.get_by_role('button', name='Play the voice message').click()
    expect(other.get_by_role('button', name='Pause')).to_be_visible()
    wait('it goes on', lambda: 0 < int(place.input_value()))
    # What comes meanwhile does not stop it, and at its end it can be played again, faster.
    ben.ask('react', message=message['id'], emoji='👍', on=True)
    expect(rows(other).get_by_role('button', name=re.compile('👍, 1'))).to_be_visible()
    expect(other.get_by_role('button', name='Play the voice message')).to_be_visible()
    other.get_by_role('button', name='Speed').click()
    expect(other.get_by_role('button', name='Speed')).to_have_text('1.5×')
    place.focus()
    other.keyboard.press('Home')
    other.keyboard.press('Space')
    place.evaluate("place => { place.value = 500; place.dispatchEvent(new Event('input')); }")
    expect(place).to_have_attribute('aria-valuetext', re.compile('0:0[12]'))


def test_without_a_microphone_it_is_said(ann, visit):
    page = visit(ann)
    show(page, 'notes')
    page.evaluate("() => { navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', 'NotAllowedError'); }; }")
    page.get_by_role('button', name='Record a voice message').click()
    expect(page.get_by_role('alert').filter(has_text='does not let this page use the microphone')).to_be_visible()


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', [320, 1100])
def test_everybody_can_use_files(ann, visit, folder, scheme, width):
    names = ['dot.png', 'a ' * 100 + '.txt', 'שלום.pdf', 'noise.png']
    contents = [png(40, 30), b'text', b'%PDF', png(300, 300, noise)]
    files = [file(folder, name, content) for name, content in zip(names, contents)]
    ann.say('send', 'notes', 'files', *[word for path in files for word in ('--file', path)])
    page = visit(ann, color_scheme=scheme, viewport={'width': width, 'height': 700})
    show(page, 'notes')
    expect(group(page, 'dot.png').locator('img')).to_have_js_property('naturalWidth', 40)
    page.set_input_files('input[type=file]', files)
    expect(page.get_by_role('list', name='Attached files').get_by_role('progressbar')).to_have_count(0)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate('document.documentElement.scrollWidth') <= width
    assert page.evaluate("document.querySelector('.scroller').scrollWidth <= document.querySelector('.scroller').clientWidth")
    # By keyboard alone: to the picture, over all of the window, and back.
    button = page.get_by_role('button', name='Open dot.png')
    button.focus()
    page.keyboard.press('Enter')
    expect(page.get_by_role('dialog', name='dot.png')).to_be_visible()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.keyboard.press('Escape')
    expect(page.get_by_role('dialog')).to_have_count(0)
    expect(button).to_be_focused()
