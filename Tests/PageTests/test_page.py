"""The page: who is let in, the list, the timeline, what one writes, and a node that goes and comes."""
import http.client
import re
import signal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from conftest import PATIENCE, wait


def show(page, name):
    # Its line begins with its name; the last words of another may hold that as well.
    line = re.compile(f'^{re.escape(name)}')
    page.get_by_role('navigation').get_by_role('link', name=line).click()
    field = page.get_by_role('textbox', name=f'Write to {name}')
    expect(field).to_be_visible()
    return field


def write(page, field, text):
    field.fill(text)
    field.press('Enter')


def rows(page):
    return page.get_by_role('listitem').filter(has=page.locator('article'))


def imported(node, count, folder):
    """So many messages with one command: a log of another program."""
    path = f'{folder}/2023-01-02.log'
    with open(path, 'w') as log:
        for number in range(count):
            text = f'line {number} ' + 'word ' * (number * 7 % 40)
            log.write(f'[{number // 180:02}:{number // 3 % 60:02}] <bob> {text}\n')
    node.say('import', 'irc', path, '--into', 'notes')


# What is in sight: numbers of lines, the largest hole between rows, and the height of the first one.
SIGHT = """() => {
    const list = document.querySelector('.scroller'), edge = list.getBoundingClientRect();
    const rows = [...list.querySelectorAll('.row')].map((row) => ({ row, box: row.getBoundingClientRect() }))
        .filter(({ box }) => box.bottom > edge.top + 1 && box.top < edge.bottom - 1);
    const numbers = rows.map(({ row }) => Number(row.textContent.match(/line (\\d+)/)?.[1] ?? -1));
    const gaps = rows.slice(1).map(({ box }, place) => Math.abs(box.top - rows[place].box.bottom));
    return { numbers, gap: Math.max(0, ...gaps), top: rows[0] ? rows[0].box.top - edge.top : null };
}"""
BELOW = "() => { const list = document.querySelector('.scroller'); return list.scrollHeight - list.clientHeight - list.scrollTop; }"


def settled(page):
    """What is in sight, once all of it has come and twice the same was seen."""
    page.wait_for_function("""() => {
        const list = document.querySelector('.scroller'), rows = list.querySelectorAll('.row');
        const now = [rows.length, list.scrollTop, list.scrollHeight].join();
        const isCalm = rows.length > 3 && !list.querySelector('.row.waiting') && window.before === now;
        window.before = now;
        return isCalm;
    }""", polling=80)
    return page.evaluate(SIGHT)


def test_a_link_lets_in_once_and_the_session_stays(ann, visit):
    link = ann.link()
    page = visit(ann)
    expect(page.get_by_role('link', name='notes')).to_be_visible()
    assert 'enter=' not in page.url
    assert page.evaluate('document.cookie') == ''
    page.reload()
    expect(page.get_by_role('link', name='notes')).to_be_visible()
    cookie, = page.context.cookies()
    assert cookie['httpOnly'] and cookie['sameSite'] == 'Strict' and cookie['expires'] == -1
    # The first link is good for another browser, and for no third one.
    second, third = page.context.browser.new_context(), page.context.browser.new_context()
    other, last = second.new_page(), third.new_page()
    other.goto(link)
    expect(other.get_by_role('link', name='notes')).to_be_visible()
    last.goto(link)
    expect(last.get_by_text('That link was used already')).to_be_visible()
    assert len(ann.ask('pageSessions')) == 2
    ann.say('page', 'end', ann.ask('pageSessions')[0]['name'])
    expect(page.get_by_text('This browser is not signed in.')).to_be_visible()
    expect(other.get_by_role('link', name='notes')).to_be_visible()
    other.get_by_role('button', name='Close this session').click()
    expect(other.get_by_text('This browser is not signed in.')).to_be_visible()
    assert ann.ask('pageSessions') == []
    second.close()
    third.close()


LOADED = """() => performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
    .filter(({ initiatorType }) => initiatorType !== 'fetch')
    .map(({ name, decodedBodySize }) => [new URL(name).pathname.replace(/^\\/v\\/[0-9a-f]+/, ''), decodedBodySize])"""


def test_the_first_view_costs_little_and_what_is_opened_later_comes_then(ann, visit):
    ann.ask('send', conversation='notes', texts=['one'])
    page = visit(ann)
    show(page, 'notes')
    expect(rows(page)).to_have_count(1)
    loaded = dict(page.evaluate(LOADED))
    assert {'/', '/app.js', '/style.css', '/timeline.js', '/words.js'} <= set(loaded), loaded
    assert 100_000 < sum(loaded.values()) <= 200_000, loaded
    assert '/settings.js' not in loaded
    page.goto(page.url.split('#')[0] + '#/settings')
    expect(page.get_by_role('heading', name='Settings')).to_be_visible()
    assert '/settings.js' in dict(page.evaluate(LOADED))


def test_two_people_talk(pair, visit):
    ann, ben = pair
    ann_page, ben_page = visit(ann), visit(ben)
    ann_field = show(ann_page, 'ben')
    write(ann_page, ann_field, 'dinner **at eight**?')
    expect(ben_page.get_by_role('link', name=re.compile('ann.*1 unread'))).to_be_visible()
    ben_field = show(ben_page, 'ann')
    expect(ben_page.get_by_role('strong').filter(has_text='at eight')).to_be_visible()
    # What was shown is read, and its author hears of it.
    expect(ann_page.get_by_text('Read', exact=True)).to_have_count(1)
    expect(ben_page.get_by_role('link', name='unread')).to_have_count(0)
    # An answer, a reaction, an edit, and one taken back.
    row = rows(ben_page).filter(has_text='at eight').first
    row.hover()
    row.get_by_role('button', name='Reply').click()
    write(ben_page, ben_field, 'yes')
    expect(rows(ann_page).filter(has_text='yes').locator('.quote')).to_contain_text('at eight')
    row.hover()
    row.get_by_role('button', name='React', exact=True).click()
    ben_page.get_by_role('button', name='React with 🎉').click()
    reaction = rows(ann_page).get_by_role('button', name=re.compile('🎉, 1: ben'))
    expect(reaction).to_be_visible()
    ann_field.press('ArrowUp')
    expect(ann_field).to_have_value('dinner **at eight**?')
    write(ann_page, ann_field, 'dinner at nine?')
    edited = rows(ben_page).filter(has_text='at nine')
    expect(edited.first).to_contain_text('edited')
    own = rows(ann_page).filter(has_text='at nine').first
    own.hover()
    own.get_by_role('button', name='More').click()
    ann_page.get_by_role('menuitem', name='Delete for everyone').click()
    ann_page.get_by_role('dialog').get_by_role('button', name='Delete').click()
    expect(rows(ben_page).filter(has_text='Deleted').first).to_be_visible()
    expect(rows(ben_page)).to_have_count(2)


def test_the_head_of_a_conversation_says_no_more_than_it_means(pair, visit):
    page = visit(pair[0])
    show(page, 'ben')
    expect(page.locator('.pane > header')).to_have_text('benTogether')


def test_a_node_that_goes_and_comes_loses_nothing(ann, visit):
    page = visit(ann)
    field = show(page, 'notes')
    write(page, field, 'before')
    expect(rows(page)).to_have_count(1)
    ann.stop(signal.SIGKILL)
    expect(page.get_by_text('The node is away.')).to_be_visible()
    write(page, field, 'meanwhile')
    field.fill('half a sent')
    expect(rows(page).filter(has_text='meanwhile').locator('.delivery')).to_contain_text('Sending')
    ann.start()
    expect(page.get_by_text('The node is away.')).to_be_hidden()
    expect(rows(page).filter(has_text='meanwhile').locator('.delivery')).not_to_contain_text('Sending')
    expect(field).to_have_value('half a sent')
    texts = [each['text'] for each in ann.ask('messages', conversation='notes', limit=10)['messages']]
    assert texts == ['before', 'meanwhile']
    ann.ask('send', conversation='notes', texts=['afterwards'])
    expect(rows(page).filter(has_text='afterwards')).to_be_visible()


def test_a_draft_is_kept(ann, visit):
    page = visit(ann)
    show(page, 'notes').fill('see you at')
    wait('the draft is kept', lambda: ann.ask('conversations')[0].get('draft') == 'see you at')
    other = visit(ann)
    expect(show(other, 'notes')).to_have_value('see you at')


def test_a_long_timeline_shows_the_whole(ann, visit, folder):
    imported(ann, 3000, folder)
    page = visit(ann)
    show(page, 'notes')
    sight = settled(page)
    assert sight['numbers'][-1] in (2999, 0) or 0 in sight['numbers'], sight
    # Anywhere along the scrollbar stands what belongs there, without a hole.
    for share in (0.5, 0.1, 0):
        page.evaluate("share => { const list = document.querySelector('.scroller'); list.scrollTop = list.scrollHeight * share; }", share)
        sight = settled(page)
        first = sight['numbers'][0]
        assert sight['numbers'] == list(range(first, first + len(sight['numbers']))), sight
        assert sight['gap'] < 1 and abs(first - 3000 * share) < 150, (share, sight)
    assert page.locator('.row').count() < 60
    # What comes does not move what is read, and the newest is one step away.
    page.mouse.move(700, 300)
    page.mouse.wheel(0, 700)
    page.wait_for_function("() => document.querySelector('.scroller').scrollTop > 600")
    before = settled(page)
    ann.ask('send', conversation='notes', texts=['line 9999', 'line 10000'])
    expect(page.get_by_role('button', name='Jump to the newest')).to_be_visible()
    wait('it came', lambda: page.evaluate("document.querySelector('.row').ariaSetSize") == '3002')
    after = settled(page)
    assert after['numbers'] == before['numbers'] and abs(after['top'] - before['top']) < 1.5
    page.get_by_role('button', name='Jump to the newest').click()
    sight = settled(page)
    assert sight['numbers'][-2:] == [9999, 10000] and page.evaluate(BELOW) < 2
    # At the end it stays at the end.
    ann.ask('send', conversation='notes', texts=['line 10001'])
    expect(rows(page).filter(has_text='line 10001')).to_be_visible()
    assert settled(page)['numbers'][-1] == 10001 and page.evaluate(BELOW) < 2


HOSTILE = [
    '<img src=x onerror="document.title=1">', '<script>document.title = 1</script>',
    '[x](javascript:document.title=1) javascript:alert(1)', '\u202edesrever\u202c <b>bold</b>',
    'https://\u0430pple.example/', 'data:text/html,<script>1</script>', '<svg onload=alert(1)>',
    '`<b>`', '***' * 300, '> ' * 200, 'x' * 32_000, '{"a":1}', '&lt;b&gt;',
]


def test_hostile_content_is_text(ann, visit):
    ann.ask('newConversation', name='<img src=x onerror=alert(1)>', members=[])
    ann.ask('send', conversation='notes', texts=HOSTILE)
    page = visit(ann)
    expect(page.get_by_text('<img src=x onerror=alert(1)>')).to_be_visible()
    show(page, 'notes')
    expect(rows(page).last).to_contain_text('&lt;b&gt;')
    page.keyboard.press('Shift+Tab')
    page.locator('.scroller').focus()
    page.keyboard.press('Home')
    expect(rows(page).filter(has_text='<img src=x onerror="document')).to_be_visible()
    assert page.locator('.row img, .row script, .row b, .row iframe').count() == 0
    assert page.title().endswith('Parley')
    links = page.locator('.row a').evaluate_all('links => links.map((link) => [link.href, link.textContent])')
    assert links == [['https://xn--pple-43d.example/', 'https://xn--pple-43d.example/']]
    assert page.evaluate("document.querySelector('.scroller').scrollWidth <= document.querySelector('.scroller').clientWidth")


def test_a_violated_policy_is_heard_of(ann, browser):
    """The control: what every test asserts to be absent is seen where it is there."""
    context = browser.new_context()
    page = context.new_page()
    lines = []
    page.on('console', lambda line: lines.append(line.text))
    page.goto(ann.link())
    expect(page.get_by_role('link', name='notes')).to_be_visible()
    page.evaluate("""() => {
        document.head.append(Object.assign(document.createElement('style'), { textContent: 'a{}' }));
        try { document.createElement('p').innerHTML = '<b>'; } catch (error) { console.error(error.message); }
    }""")
    assert any('Content Security Policy' in line for line in lines), lines
    assert any('TrustedHTML' in line for line in lines), lines
    context.close()


def test_attack_270_a_session_is_of_no_use_from_another_origin(ann, visit, nodes):
    page = visit(ann)
    expect(page.get_by_role('link', name='notes')).to_be_visible()
    own = page.url.split('#')[0].rstrip('/')
    port = own.rsplit(':', 1)[1]
    other = nodes('mallory')
    other_page = page.context.new_page()
    other_page.goto(other.link())
    expect(other_page.get_by_text('No conversation yet.')).to_be_visible()
    # With the cookie in the same browser, and everything a script of a page may try.
    tried = other_page.evaluate("""async (targets) => {
        const body = '{"jsonrpc":"2.0","id":1,"method":"conversations"}', found = [];
        for (const target of targets) {
            for (const options of [
                { method: 'POST', body, credentials: 'include' },
                { method: 'POST', body, credentials: 'include', mode: 'no-cors' },
                { method: 'POST', body, credentials: 'include', headers: { 'Parley-Page': '1' } },
            ]) {
                try { found.push(await (await fetch(target + '/rpc', options)).text()); }
                catch (error) { found.push('refused'); }
            }
        }
        return found;
    }""", [own, f'http://127.0.0.1:{port}', f'http://localhost:{port}'])
    assert len(tried) == 9 and all('notes' not in text for text in tried), tried
    # And what other programs send who know the cookie but are not the page.
    secret = page.context.cookies(own)[0]['value']
    body = '{"jsonrpc":"2.0","id":1,"method":"conversations"}'
    for headers, status in [
        ({'Parley-Page': '1', 'Origin': own}, 200), ({'Parley-Page': '1', 'Origin': 'http://evil.example'}, 403),
        ({'Origin': own}, 403), ({'Parley-Page': '1', 'Origin': own, 'Sec-Fetch-Site': 'cross-site'}, 403),
    ]:
        link = http.client.HTTPConnection('127.0.0.1', int(port), timeout=PATIENCE)
        host = own.removeprefix('http://')
        link.request('POST', '/rpc', body, {**headers, 'Host': host, 'Cookie': f'parley-session={secret}'})
        answer = link.getresponse()
        assert answer.status == status, (headers, answer.status, answer.read())
        link.close()


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', [320, 1100])
def test_everybody_can_use_it(ann, visit, scheme, width):
    ann.ask('send', conversation='notes', texts=['one', 'two *three* `four`', '> five', 'https://example.org/'])
    page = visit(ann, color_scheme=scheme, viewport={'width': width, 'height': 700})
    expect(page.get_by_role('link', name='notes')).to_be_visible()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    show(page, 'notes')
    expect(rows(page)).to_have_count(4)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate('document.documentElement.scrollWidth') <= width
    # By keyboard alone: to a message, and an answer to it.
    page.locator('.scroller').focus()
    page.keyboard.press('ArrowUp')
    page.keyboard.press('r')
    page.keyboard.type('six')
    page.keyboard.press('Enter')
    expect(rows(page).filter(has_text='six').locator('.quote')).to_be_visible()
