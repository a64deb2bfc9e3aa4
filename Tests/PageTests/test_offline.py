"""A node that is away: what the page shows then, what it keeps and where, and a node that comes back as another."""
import json
import os
import re
import shutil
import signal

from playwright.sync_api import expect

from conftest import PARLEY, wait
from test_files import file
from test_messages import choose, looks_well, message, row_of
from test_page import rows, show, write

AWAY = 'The node is away. Try again when it is back.'
# What lies sealed in the browser: names of records, and how many bytes each has.
SEALED = """async () => {
    const open = indexedDB.open('parley', 1);
    await new Promise((resolve) => (open.onsuccess = open.onupgradeneeded = resolve));
    if (!open.result.objectStoreNames.contains('sealed')) return {};
    const store = open.result.transaction('sealed').objectStore('sealed'), found = {};
    for (const name of await new Promise((resolve) => (store.getAllKeys().onsuccess = ({ target }) => resolve(target.result)))) {
        const record = await new Promise((resolve) => (store.get(name).onsuccess = ({ target }) => resolve(target.result)));
        found[name.split(' ')[0]] = [record.sealed.byteLength, Object.keys(record).sort().join(), [...new Uint8Array(record.sealed)].map((each) => String.fromCharCode(each)).join('')];
    }
    open.result.close();
    return found;
}"""
# The worker's key, as the page gets it.
KEY = """async () => {
    const { active } = await navigator.serviceWorker.ready, { port1, port2 } = new MessageChannel();
    const answer = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
    active.postMessage({ kind: 'key' }, [port2]);
    const found = await answer;
    return found && [found.key.algorithm.name, found.key.extractable];
}"""
CACHED = """async () => Object.fromEntries(await Promise.all((await caches.keys()).map(
    async (name) => [name, (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)])))"""


# What the node answers to a message that is sent does not come.
LOST = """() => {
    const ask = window.fetch;
    window.fetch = async (path, options) => {
        const answer = await ask(path, options);
        if (!options?.body?.includes?.('"method":"send"')) return answer;
        window.wasAnswered = true;
        return new Promise(() => {});
    };
}"""


def kept(page):
    """Once the page can be shown without its node, and what is shown is kept."""
    page.evaluate('navigator.serviceWorker.ready.then(() => null)')
    wait('the page is kept', lambda: any('/' in paths for paths in page.evaluate(CACHED).values()))
    wait('a worker has it', lambda: page.evaluate('navigator.serviceWorker.controller !== null'))
    return wait('what is shown is kept', lambda: 'shown' in page.evaluate(SEALED))


def size(page, name):
    return page.evaluate(SEALED).get(name, [0])[0]


def say(page, field, text):
    """Writes a message, until it is kept with what is shown."""
    kept(page)
    before = size(page, 'shown')
    write(page, field, text)
    wait('the message is kept', lambda: size(page, 'shown') > before + 100)


def fill(page, field, text):
    """Types, until that is kept as well."""
    before = size(page, 'own')
    field.fill(text)
    wait('what is typed is kept', lambda: size(page, 'own') > before)


def texts(node):
    return [each['text'] for each in node.ask('messages', conversation='notes', limit=20)['messages']]


def version(page):
    return page.evaluate("document.querySelector('script[type=module]').src.split('/')[4]")


def test_without_its_node_the_page_is_there_and_goes_on_by_itself(ann, visit):
    page = visit(ann)
    field = show(page, 'notes')
    say(page, field, 'before')
    ann.stop(signal.SIGKILL)
    expect(page.get_by_text('The node is away.')).to_be_visible()
    expect(page.locator('.banner code')).to_have_text(f'parley run --page --home {ann.home}')
    before = size(page, 'own')
    write(page, field, 'meanwhile')
    wait('what is sent is kept', lambda: size(page, 'own') > before + 100)
    fill(page, field, 'half a sent')
    page.reload()
    expect(page.get_by_text('The node is away.')).to_be_visible()
    expect(page.get_by_text('You see what was here at')).to_be_visible()
    expect(rows(page).filter(has_text='before')).to_be_visible()
    expect(rows(page).filter(has_text='meanwhile').locator('.delivery')).to_contain_text('Sending')
    expect(field).to_have_value('half a sent')
    ann.start()
    expect(page.get_by_text('The node is away.')).to_be_hidden()
    expect(rows(page).filter(has_text='meanwhile').locator('.delivery')).not_to_contain_text('Sending')
    expect(field).to_have_value('half a sent')
    expect(rows(page)).to_have_count(2)
    page.reload()
    expect(rows(page)).to_have_count(2)
    expect(field).to_have_value('half a sent')
    assert texts(ann) == ['before', 'meanwhile']


def test_attack_342_what_is_gone_is_not_kept(ann, visit):
    page = visit(ann)
    ann.ask('newConversation', name='diary', members=[])
    ann.ask('send', conversation='notes', texts=['a secret', 'the rest'])
    show(page, 'notes')
    expect(rows(page).filter(has_text='a secret')).to_be_visible()
    show(page, 'diary')
    said = ann.ask('messages', conversation='notes', limit=20)['messages']
    ann.ask('delete', message=next(each['id'] for each in said if each['text'] == 'a secret'))
    ann.ask('send', conversation='diary', texts=['after that'])
    expect(rows(page).filter(has_text='after that')).to_be_visible()
    ann.stop(signal.SIGKILL)
    expect(page.get_by_text('The node is away.')).to_be_visible()
    show(page, 'notes')
    expect(rows(page).filter(has_text='the rest')).to_be_visible()
    expect(page.get_by_text('a secret')).to_have_count(0)


def test_a_file_that_waited_is_asked_for_again_and_its_text_is_kept(ann, visit, folder):
    page = visit(ann)
    field = show(page, 'notes')
    say(page, field, 'before')
    ann.stop(signal.SIGKILL)
    expect(page.locator('.banner')).to_be_visible()
    hut = file(folder, 'hut.txt', b'hut')
    before = size(page, 'own')
    for text in ('look at this', 'and at that'):
        page.set_input_files('input[type=file]', [hut])
        write(page, field, text)
    field.fill('half a sent')
    page.set_input_files('input[type=file]', [file(folder, 'map.txt', b'map')])
    wait('it is kept', lambda: size(page, 'own') > before + 50)
    page.wait_for_timeout(300)
    page.reload()
    expect(field).to_have_value('look at this\nand at that\nhalf a sent')
    attached = page.get_by_role('list', name='Attached files')
    expect(attached.get_by_role('listitem')).to_have_text([re.compile('map.txt.*Not sent: attach it again'), re.compile('hut.txt.*Not sent: attach it again')])
    looks_well(page, 1100)
    # One is attached again, and the other is not to go.
    page.set_input_files('input[type=file]', [hut])
    page.get_by_role('button', name='Remove map.txt').click()
    expect(attached.get_by_text('attach it again')).to_have_count(0)
    ann.start()
    expect(page.locator('.banner')).to_be_hidden()
    field.press('Enter')
    wait('it is sent', lambda: texts(ann) == ['before', 'look at this\nand at that\nhalf a sent'])
    sent = ann.ask('messages', conversation='notes', limit=1)['messages'][0]
    assert [each['name'] for each in sent['files']] == ['hut.txt']
    page.reload()
    expect(rows(page)).to_have_count(2)
    expect(field).to_have_value('')
    expect(attached).to_be_hidden()


def test_a_file_of_which_the_answer_did_not_come_is_sent_once(ann, visit, folder):
    page = visit(ann)
    field = show(page, 'notes')
    say(page, field, 'before')
    page.evaluate(LOST)
    page.set_input_files('input[type=file]', [file(folder, 'hut.txt', b'hut')])
    expect(page.get_by_role('list', name='Attached files').get_by_role('progressbar')).to_have_count(0)
    write(page, field, 'look')
    wait('it was asked', lambda: page.evaluate('window.wasAnswered'))
    page.reload()
    expect(rows(page)).to_have_count(2)
    expect(rows(page).last.locator('.delivery')).not_to_contain_text('Sending')
    expect(field).to_have_value('')
    expect(page.get_by_text('attach it again')).to_have_count(0)
    assert texts(ann) == ['before', 'look']


def test_what_a_closed_window_had_to_send_goes_with_another_one(ann, visit):
    first = visit(ann)
    show(first, 'notes')
    kept(first)
    second = first.context.new_page()
    second.goto(first.url)
    expect(second.get_by_role('textbox', name='Write to notes')).to_be_visible()
    ann.stop(signal.SIGKILL)
    for page, text in ((first, 'of the first'), (second, 'of the second')):
        expect(page.get_by_text('The node is away.')).to_be_visible()
        before = page.evaluate(SEALED)
        write(page, page.get_by_role('textbox', name='Write to notes'), text)
        wait('it is kept', lambda: page.evaluate(SEALED) != before)
    first.close()
    second.reload()
    expect(rows(second)).to_have_count(2)
    ann.start()
    expect(second.locator('.delivery').get_by_text('Sending')).to_have_count(0)
    wait('both came', lambda: len(texts(ann)) == 2)
    assert set(texts(ann)) == {'of the first', 'of the second'}
    expect(rows(second)).to_have_count(2)


def test_an_edit_that_the_node_did_not_take_is_said_and_stays(ann, visit):
    page = visit(ann)
    field = show(page, 'notes')
    write(page, field, 'before')
    expect(rows(page).locator('.delivery')).to_contain_text('Saved here')
    ann.stop(signal.SIGKILL)
    expect(page.locator('.banner')).to_be_visible()
    field.press('ArrowUp')
    expect(field).to_have_value('before')
    write(page, field, 'after')
    expect(page.get_by_role('alert')).to_have_text(AWAY)
    expect(field).to_have_value('after')
    ann.start()
    expect(page.locator('.banner')).to_be_hidden()
    expect(page.get_by_role('alert')).to_have_count(0)
    expect(field).to_have_value('after')
    field.press('Enter')
    wait('it is edited', lambda: texts(ann) == ['after'])
    expect(field).to_have_value('')


def test_what_a_node_that_is_away_does_not_do_is_said(ann, visit):
    ann.ask('send', conversation='notes', texts=['one'])
    page = visit(ann)
    field = show(page, 'notes')
    expect(rows(page)).to_have_count(1)
    kept(page)
    ann.stop(signal.SIGKILL)
    expect(page.locator('.banner')).to_be_visible()
    alert = page.get_by_role('alert')
    for item in ('Star', 'Pin for everybody', 'Delivery', 'React'):
        choose(page, 'one', item)
        if item == 'React':
            page.get_by_role('button', name='React with 🎉').click()
        expect(alert).to_have_text(AWAY)
        # It was read: what is typed takes its place.
        field.fill('half')
        field.fill('')
        expect(alert).to_have_count(0)
    for item in ('Archive', 'Mark as unread'):
        page.get_by_role('button', name='More of this conversation').click()
        page.get_by_role('menuitem', name=item, exact=True).click()
        expect(page.get_by_role('dialog', name=AWAY)).to_be_visible()
        page.keyboard.press('Escape')
        expect(page.get_by_role('dialog')).to_have_count(0)
    choose(page, 'one', 'Star')
    expect(alert).to_have_text(AWAY)
    ann.start()
    expect(page.locator('.banner')).to_be_hidden()
    expect(alert).to_have_count(0)
    assert message(ann, 'one')['isStarred'] is False
    choose(page, 'one', 'Star')
    expect(row_of(page, 'one')).to_contain_text('starred')


def test_what_is_typed_in_a_thread_is_kept(ann, visit):
    root = ann.ask('send', conversation='notes', texts=['who brings the tent?'])[0]['id']
    ann.ask('send', conversation='notes', texts=['I do'], thread=root)
    page = visit(ann)
    show(page, 'notes')
    kept(page)
    field = page.get_by_role('textbox', name='Answer in the thread')
    choose(page, 'who brings', 'Open the thread')
    expect(page.get_by_text('1 answer').last).to_be_visible()
    fill(page, field, 'half a sent')
    # It is that of the thread, whichever answer one comes by.
    for text in ('who brings', 'I do'):
        page.reload()
        expect(field).to_have_count(0)
        choose(page, text, 'Open the thread')
        expect(field).to_have_value('half a sent')
    before = size(page, 'own')
    field.press('Enter')
    expect(field).to_have_value('')
    wait('what was sent is kept no longer', lambda: size(page, 'own') < before)
    page.reload()
    choose(page, 'who brings', 'Open the thread')
    expect(page.get_by_text('2 answers').last).to_be_visible()
    expect(field).to_have_value('')


def test_attack_282_nothing_but_the_page_becomes_a_worker(ann, browser, nodes):
    # What the browser says of what is tried here is no fault of the page.
    context = browser.new_context()
    page = context.new_page()
    page.goto(ann.link())
    kept(page)
    tried = page.evaluate("""async () => {
        const say = (error) => error.message ?? 'done', found = [];
        for (const each of ['/sw.js', '/file?message=1', document.querySelector('script[type=module]').src])
            found.push(await navigator.serviceWorker.register(each).then(say, say));
        for (const name of ['parley-worker', 'default', 'other']) {
            try { found.push(say(trustedTypes.createPolicy(name, { createScriptURL: (text) => text }))); } catch (error) { found.push(say(error)); }
        }
        return found;
    }""")
    assert all('TrustedScriptURL' in text for text in tried[:3]) and all('policy' in text.lower() for text in tried[3:]), tried
    own = page.url.split('#')[0]
    other = nodes('mallory')
    foreign = page.context.new_page()
    foreign.goto(other.link())
    expect(foreign.get_by_text('No conversation yet.')).to_be_visible()
    assert foreign.evaluate("(address) => fetch(address + 'sw.js').then(() => 'read', () => 'refused')", own) == 'refused'
    # What it gives out, and nothing else, is the page: the API passes it by.
    field = show(page, 'notes')
    write(page, field, 'one')
    expect(rows(page)).to_have_count(1)
    (name, paths), = page.evaluate(CACHED).items()
    assert name == 'page-' + version(page) and len(paths) > 40
    assert {path for path in paths if not path.startswith(f'/v/{version(page)}/')} == {'/'}
    context.close()


def test_attack_283_what_lies_in_the_browser_is_sealed_and_ends_with_the_session(ann, browser, folder):
    profile = folder + '/profile'
    context = browser.browser_type.launch_persistent_context(profile, executable_path=shutil.which('chromium-headless-shell') or shutil.which('chromium'))
    page = context.new_page()
    page.goto(ann.link())
    field = show(page, 'notes')
    say(page, field, 'a needle that was sent')
    fill(page, field, 'a needle that was typed')
    # The control: what is not sealed is found where this looks.
    page.evaluate("localStorage.setItem('control', 'a needle in the open')")
    found = page.evaluate(SEALED)
    assert set(found) == {'own', 'shown'} and all(fields == 'id,iv,sealed' for _, fields, _ in found.values())
    assert all(word not in sealed for _, _, sealed in found.values() for word in ('needle', 'notes', 'texts'))
    assert page.evaluate(KEY) == ['AES-GCM', False]
    context.close()
    lies = [open(os.path.join(path, name), 'rb').read() for path, _, names in os.walk(profile) for name in names]
    lies += [each.replace(b'\0', b'') for each in lies]
    assert any(b'needle in the open' in each for each in lies)
    assert not any(b'needle that was' in each for each in lies)
    # A browser that was started again reads nothing of it.
    context = browser.browser_type.launch_persistent_context(profile, executable_path=shutil.which('chromium-headless-shell') or shutil.which('chromium'))
    page = context.new_page()
    ann.stop(signal.SIGKILL)
    page.goto(f'http://{ann_host(ann)}/')
    expect(page.get_by_text('The node is away.')).to_be_visible()
    expect(page.get_by_text('Your conversations are in your node.')).to_be_visible()
    wait('what nobody can read is gone', lambda: 'own' not in page.evaluate(SEALED))
    ann.start()
    # One that is let in keeps it again, and nothing once it leaves.
    page.goto(ann.link())
    field = show(page, 'notes')
    kept(page)
    page.get_by_role('button', name='Close this session').click()
    expect(page.get_by_text('This browser is not signed in.')).to_be_visible()
    wait('nothing is left', lambda: page.evaluate(SEALED) == {} and page.evaluate(KEY) is None)
    context.close()


def ann_host(node):
    """Where the page was, as the node's home remembers."""
    said = json.load(open(node.home + '/page'))
    return f"{said['label']}.localhost:{said['port']}"


def test_attack_284_an_old_page_makes_room_for_that_of_the_node(ann, visit, folder):
    # The same program with another page: a sentence in it is another.
    other, said = folder + '/other', b'"Choose a conversation."'
    program = open(PARLEY, 'rb').read()
    assert program.count(said) == 1
    with open(other, 'wb') as file:
        file.write(program.replace(said, b'"Choose a conversation!"'))
    os.chmod(other, 0o700)
    page = visit(ann)
    field = show(page, 'notes')
    kept(page)
    fill(page, field, 'half a sent')
    old = version(page)
    ann.stop()
    expect(page.get_by_text('The node is away.')).to_be_visible()
    ann.program = other
    ann.start()
    expect(page.locator('script[type=module]')).not_to_have_attribute('src', re.compile(old))
    new = version(page)
    expect(field).to_have_value('half a sent')
    expect(page.get_by_text('The node is away.')).to_be_hidden()
    wait('so is the one that is kept', lambda: list(page.evaluate(CACHED)) == ['page-' + new])
    ann.stop(signal.SIGKILL)
    page.reload()
    expect(page.get_by_text('The node is away.')).to_be_visible()
    assert version(page) == new
    expect(field).to_have_value('half a sent')
