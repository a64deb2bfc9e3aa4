"""What one does with messages: their menu, search, threads, mentions, and what is marked."""
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from conftest import wait
from test_page import imported, rows, show, write

HOSTILE = '\u202e\u202e\u2067needle \u202dgnp.\u202e <img src=x onerror="document.title=1"> <mark>needle</mark>'


def message(node, text, conversation='notes'):
    """A message as a node has it, by its text."""
    found = node.ask('messages', conversation=conversation, limit=200)['messages']
    return next((each for each in found if each.get('text') == text), None)


def rows_in(panel):
    """The messages of a part of the page."""
    return panel.get_by_role('listitem').filter(has=panel.page.locator('article'))


def row_of(page, text):
    return rows(page).filter(has_text=text).first


def choose(page, text, item):
    """What one chooses of a message's menu."""
    row = row_of(page, text)
    row.hover()
    row.get_by_role('button', name='More').click()
    page.get_by_role('menu').get_by_role('menuitem', name=item, exact=True).click()


def looks_well(page, width):
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate('document.documentElement.scrollWidth') <= width


def test_what_is_pressed_twice_opens_once(ann, visit):
    ann.ask('send', conversation='notes', texts=['one'])
    page = visit(ann)
    show(page, 'notes')
    row_of(page, 'one').hover()
    dialog = page.get_by_role('dialog', name='React')
    # Before what it needs has come, and then at once.
    for _ in range(2):
        row_of(page, 'one').get_by_role('button', name='React', exact=True).evaluate('button => (button.click(), button.click())')
        expect(dialog).to_be_visible()
        page.wait_for_timeout(300)
        expect(dialog).to_have_count(1)
        page.keyboard.press('Escape')
        expect(dialog).to_have_count(0)
    row_of(page, 'one').get_by_role('button', name='React', exact=True).click()
    page.get_by_role('button', name='React with 🎉').click()
    expect(row_of(page, 'one').get_by_role('button', name=re.compile('🎉, 1: ann'))).to_be_visible()


def test_an_emoji_is_put_where_one_writes(ann, visit):
    page = visit(ann)
    field = show(page, 'notes')
    field.fill('one two')
    field.evaluate('(field) => field.setSelectionRange(3, 3)')
    page.get_by_role('button', name='Insert an emoji').press('Enter')
    dialog = page.get_by_role('dialog', name='Insert an emoji')
    dialog.get_by_role('searchbox').fill('party')
    dialog.get_by_role('searchbox').press('Enter')
    expect(field).to_have_value('one🎉 two')
    expect(field).to_be_focused()
    field.press('Enter')
    expect(row_of(page, 'one🎉 two')).to_be_visible()


def test_the_menu_of_a_message(pair, visit):
    ann, ben = pair
    ann.ask('newConversation', name='notes', members=[])
    page = visit(ann, permissions=['clipboard-read', 'clipboard-write'])
    field = show(page, 'ben')
    write(page, field, 'the first')
    expect(rows(page).filter(has_text='the first')).to_have_count(1)
    choose(page, 'the first', 'Copy the text')
    wait('it was copied', lambda: page.evaluate('navigator.clipboard.readText()') == 'the first')
    choose(page, 'the first', 'Pin for everybody')
    expect(row_of(page, 'the first')).to_contain_text('pinned')
    wait('the other one sees the pin', lambda: [each['text'] for each in ben.ask('pins', conversation='ann')['messages']] == ['the first'])
    choose(page, 'the first', 'Star')
    expect(row_of(page, 'the first')).to_contain_text('pinned · starred')
    assert message(ben, 'the first', 'ann')['isStarred'] is False
    choose(page, 'the first', 'Unpin')
    choose(page, 'the first', 'Remove the star')
    expect(row_of(page, 'the first')).not_to_contain_text('starred')
    assert ann.ask('pins', conversation='ben')['messages'] == []
    # Forwarded, with whose words they are, and without.
    choose(page, 'the first', 'Forward')
    dialog = page.get_by_role('dialog')
    dialog.get_by_role('searchbox').fill('no')
    expect(dialog.get_by_role('button', name='ben')).to_have_count(0)
    dialog.get_by_role('button', name='notes').click()
    expect(dialog.get_by_role('status')).to_have_text('Forwarded to notes.')
    dialog.get_by_role('button', name='Done').click()
    assert message(ann, 'the first')['forwardedFrom'] == 'ann'
    # Edited, and what it was before.
    choose(page, 'the first', 'Edit')
    write(page, field, 'the second')
    expect(row_of(page, 'the second')).to_contain_text('edited')
    choose(page, 'the second', 'Earlier texts')
    expect(dialog.get_by_role('listitem')).to_have_text([re.compile('the first'), re.compile('the second')])
    dialog.get_by_role('button', name='Done').click()
    choose(page, 'the second', 'Delivery')
    expect(dialog).to_contain_text('ben')
    assert dialog.get_by_role('listitem').count() == len(ann.ask('why', subject=message(ann, 'the second', 'ben')['id'])['facts']) > 0
    dialog.get_by_role('button', name='Done').click()
    # What is asked first is not done where one thinks better of it.
    choose(page, 'the second', 'Delete for everyone')
    dialog.get_by_role('button', name='Cancel').click()
    assert message(ann, 'the second', 'ben')
    choose(page, 'the second', 'Delete for everyone')
    dialog.get_by_role('button', name='Delete').click()
    expect(row_of(page, 'Deleted')).to_be_visible()
    expect(row_of(page, 'Deleted').get_by_role('button', name='More')).to_have_count(0)


def test_what_one_deletes_for_oneself_is_gone_on_all_pages_and_others_keep_it(pair, visit):
    ann, ben = pair
    ben.ask('send', conversation='ann', texts=['the first', 'the second'])
    page, other = visit(ann), visit(ann)
    for each in (page, other):
        show(each, 'ben')
        expect(row_of(each, 'the second')).to_be_visible()
    dialog = page.get_by_role('dialog')
    choose(page, 'the first', 'Delete for me')
    expect(dialog).to_contain_text('Others keep it')
    dialog.get_by_role('button', name='Cancel').click()
    expect(row_of(page, 'the first')).to_be_visible()
    choose(page, 'the first', 'Delete for me')
    dialog.get_by_role('button', name='Delete').click()
    for each in (page, other):
        expect(row_of(each, 'the first')).to_have_count(0)
        expect(row_of(each, 'the second')).to_be_visible()
    page.reload()
    show(page, 'ben')
    expect(row_of(page, 'the second')).to_be_visible()
    expect(row_of(page, 'the first')).to_have_count(0)
    assert message(ben, 'the first', 'ann')['text'] == 'the first'


def test_a_message_is_reported_to_who_leads_the_group(nodes, pair, visit):
    ann, ben = pair
    cleo = nodes('cleo')
    cleo.say('accept', ann.say('invite'))
    wait('cleo is a contact', lambda: any(each['name'] == 'cleo' and each['state'] == 'accepted' for each in ann.ask('contacts')))
    trip = ann.ask('newConversation', name='trip', members=['ben', 'cleo'])['id']
    for node in (ben, cleo):
        wait('they are asked in', lambda: node.ask('invitations')['waiting'])
        node.ask('answerInvitation', conversation=trip, accepting=True)
    wait('ann hears of both', lambda: all(each['isSelf'] or not each.get('isInvited') for each in ann.ask('group', conversation='trip')['members']))
    cleo.ask('send', conversation='trip', texts=['of cleo'])
    page = visit(ben)
    show(page, 'trip')
    expect(row_of(page, 'of cleo')).to_be_visible()
    choose(page, 'of cleo', 'Report to the admins')
    dialog = page.get_by_role('dialog')
    dialog.get_by_label('What you say about it').fill('not nice')
    dialog.get_by_role('button', name='Report to the admins').click()
    expect(page.get_by_text('Reported to ann.')).to_be_visible()
    dialog.get_by_role('button', name='Done').click()
    # What ben wrote himself he reports to nobody.
    ben.ask('send', conversation='trip', texts=['of ben'])
    row_of(page, 'of ben').hover()
    row_of(page, 'of ben').get_by_role('button', name='More').click()
    expect(page.get_by_role('menuitem', name='Delete for me')).to_be_visible()
    expect(page.get_by_role('menuitem', name='Report to the admins')).to_have_count(0)
    admin = visit(ann)
    admin.goto(admin.url.split('#')[0] + f'#/g/{trip}')
    for text in ('Reported by ben', 'of cleo', 'not nice'):
        expect(admin.locator('.view').get_by_text(text)).to_be_visible()


def test_what_was_imported_is_said_by_its_author(ann, visit, folder):
    imported(ann, 2, folder)
    page = visit(ann)
    field = show(page, 'notes')
    row = row_of(page, 'line 1')
    expect(row).to_contain_text('Imported by ann')
    expect(row_of(page, 'line 0').locator('.who')).to_have_text('bob')
    assert page.locator('.row.is-own').count() == 0
    # Nobody edits what somebody else has said: not by the keys, not by the menu, not by another program.
    field.press('ArrowUp')
    expect(field).to_have_value('')
    row.focus()
    page.keyboard.press('e')
    page.keyboard.press('m')
    menu = page.get_by_role('menu', name='What to do with the message')
    expect(menu.get_by_role('menuitem', name='Delete for everyone')).to_be_visible()
    expect(menu.get_by_role('menuitem', name='Edit')).to_have_count(0)
    page.keyboard.press('r')
    expect(page.locator('.about')).to_contain_text('Answer to bob')
    page.keyboard.press('Escape')
    with pytest.raises(AssertionError, match='it stays as it was said'):
        ann.ask('edit', message=ann.ask('messages', conversation='notes', limit=1)['messages'][0]['id'], text='another')
    page.get_by_role('searchbox').fill('line')
    expect(page.locator('.hit').first).to_contain_text('bob:')
    # What she says herself is hers.
    write(page, field, 'my own')
    expect(row_of(page, 'my own').locator('.who')).to_have_text('You')
    expect(row_of(page, 'my own').locator('.delivery')).to_contain_text('Saved here')
    field.press('ArrowUp')
    expect(field).to_have_value('my own')


def test_a_menu_by_keyboard(ann, visit):
    ann.ask('send', conversation='notes', texts=['one', 'two'])
    page = visit(ann)
    show(page, 'notes')
    expect(rows(page)).to_have_count(2)
    page.locator('.scroller').focus()
    page.keyboard.press('ArrowUp')
    page.keyboard.press('Enter')
    menu = page.get_by_role('menu', name='What to do with the message')
    expect(menu.get_by_role('menuitem', name='Reply')).to_be_focused()
    page.keyboard.press('ArrowUp')
    expect(menu.get_by_role('menuitem', name='Delete for everyone')).to_be_focused()
    page.keyboard.press('Home')
    expect(menu.get_by_role('menuitem', name='Reply')).to_be_focused()
    page.keyboard.press('Escape')
    expect(menu).to_have_count(0)
    expect(row_of(page, 'two')).to_be_focused()
    # The key that stands beside a choice chooses it.
    page.keyboard.press('m')
    page.keyboard.press('s')
    wait('it is starred', lambda: message(ann, 'two')['isStarred'])
    expect(row_of(page, 'two')).to_be_focused()
    # What changes the message meanwhile makes its row anew, and the keyboard goes back to that one.
    page.keyboard.press('+')
    expect(page.get_by_role('dialog', name='React').locator('input')).to_be_focused()
    ann.ask('star', message=message(ann, 'two')['id'], on=False)
    expect(row_of(page, 'two')).not_to_contain_text('starred')
    page.keyboard.press('Escape')
    expect(row_of(page, 'two')).to_be_focused()
    # A reaction by the name of an emoji, and one that is in no list.
    page.keyboard.press('+')
    expect(page.get_by_role('dialog', name='React').locator('input')).to_be_focused()
    page.keyboard.type('rock')
    page.keyboard.press('Enter')
    expect(row_of(page, 'two').get_by_role('button', name='🚀, 1: ann')).to_be_visible()
    expect(row_of(page, 'two')).to_be_focused()
    page.keyboard.press('+')
    expect(page.get_by_role('dialog', name='React').locator('input')).to_be_focused()
    page.keyboard.type('🦑')
    page.keyboard.press('Enter')
    expect(row_of(page, 'two').get_by_role('button', name='🦑, 1: ann')).to_be_visible()
    # What is none is refused in the node's words.
    page.keyboard.press('+')
    expect(page.get_by_role('dialog', name='React').locator('input')).to_be_focused()
    page.keyboard.type('ж')
    page.keyboard.press('Enter')
    expect(page.get_by_role('alert').filter(has_text='That did not work')).to_be_visible()


def test_a_message_is_found_and_shown_in_its_place(ann, visit, folder):
    imported(ann, 1200, folder)
    ann.ask('newConversation', name='other "room"', members=[])
    ann.ask('send', conversation='other "room"', texts=['the needle is elsewhere'])
    notes = next(each['id'] for each in ann.ask('conversations') if each['name'] == 'notes')
    page = visit(ann)
    show(page, 'notes')
    page.keyboard.press('Control+k')
    field = page.get_by_role('searchbox', name='Search', exact=True)
    expect(field).to_be_focused()
    field.fill('"line 77"')
    listed = page.get_by_role('navigation')
    expect(listed.get_by_role('status')).to_have_text('1 found')
    hit = listed.get_by_role('link', name=re.compile('line 77'))
    expect(hit.locator('mark')).to_have_text(['line 77'])
    # By keyboard: the first that was found, and the message has the keyboard then.
    field.press('Enter')
    expect(row_of(page, 'line 77 ')).to_be_focused()
    assert page.url.endswith(f'#/c/{notes}')
    expect(rows(page).filter(has_text='line 78 ')).to_be_visible()
    page.get_by_role('button', name='Jump to the newest').click()
    expect(page.get_by_role('button', name='Jump to the newest')).to_be_hidden()
    # The same one again, from where one is.
    hit.click()
    expect(row_of(page, 'line 77 ')).to_be_focused()
    # Another conversation; conditions as in the command line, and what is wrong in the node's words.
    field.fill('needle')
    listed.get_by_role('link', name=re.compile('elsewhere')).click()
    expect(row_of(page, 'the needle is elsewhere')).to_be_focused()
    field.fill('needle before:nonsense')
    expect(listed.get_by_role('status')).to_have_text(re.compile('“nonsense” is not a day. Write it like 2026-01-31'))
    field.fill('')
    page.get_by_role('button', name='Search here').click()
    expect(field).to_have_value(re.compile('^in:[0-9a-f]{12} $'))
    field.press_sequentially('line')
    expect(listed.get_by_role('status')).to_have_text('0 found')
    field.fill('nee')
    listed.get_by_role('button', name='has:link').click()
    expect(field).to_have_value('nee has:link ')
    expect(listed.get_by_role('status')).to_have_text('0 found')
    field.press('Escape')
    expect(listed.get_by_role('status')).to_have_count(0)
    expect(listed.get_by_role('link', name='notes')).to_be_visible()
    # What grows while more is asked for.
    field.fill('line')
    expect(listed.get_by_role('status')).to_have_text('20+ found')
    listed.get_by_role('button', name='Show more').click()
    expect(listed.get_by_role('status')).to_have_text('40+ found')


def test_what_is_found_is_text(ann, visit):
    ann.ask('send', conversation='notes', texts=[HOSTILE, 'needle ' + 'x' * 20_000 + '\n' * 500])
    page = visit(ann)
    field = page.get_by_role('searchbox', name='Search', exact=True)
    field.fill('needle')
    listed = page.get_by_role('navigation')
    expect(listed.get_by_role('status')).to_have_text('2 found')
    expect(listed.locator('mark')).to_have_text(['needle', 'needle', 'needle'])
    assert listed.locator('img, mark *').count() == 0
    assert max(listed.locator('.hit').evaluate_all('all => all.map((each) => each.offsetHeight)')) < 160
    # Who wrote it and when stand where they belong, whatever direction a text has.
    for query in ('<img src=x onerror=alert(1)> needle', '\u202eneedle', 'from:\u202e<b> needle', 'in:"<img onerror=1>"', '"' * 40, '-' * 40):
        field.fill(query)
        field.press('End')
    field.fill('needle from:ann')
    expect(listed.get_by_role('status')).to_have_text('2 found')
    listed.get_by_role('link', name=re.compile('onerror')).click()
    expect(row_of(page, 'onerror')).to_be_visible()
    row = row_of(page, 'onerror')
    row.hover()
    row.get_by_role('button', name='More').click()
    page.get_by_role('menuitem', name='What is known about it').or_(page.get_by_role('menuitem', name='Delivery')).click()
    expect(page.get_by_role('dialog')).to_be_visible()
    assert page.locator('.row img, dialog img').count() == 0
    assert page.title().endswith('Parley')


def test_a_thread_is_read_and_written(pair, visit):
    ann, ben = pair
    root = ann.ask('send', conversation='ben', texts=['who brings the tent?', 'and something else'])[0]['id']
    wait('it came', lambda: message(ben, 'and something else', 'ann'))
    ben.ask('send', conversation='ann', texts=['I do'], thread=root)
    page = visit(ann, viewport={'width': 1280, 'height': 720})
    show(page, 'ben')
    row_of(page, 'who brings').get_by_role('button', name='1 answer').click()
    panel = page.get_by_role('complementary', name='Thread')
    field = panel.get_by_role('textbox', name='Answer in the thread')
    expect(field).to_be_focused()
    expect(rows_in(panel)).to_have_count(2)
    # What is read there is read.
    wait('it is read', lambda: ann.ask('thread', message=root, limit=9)['unreadCount'] == 0)
    field.fill('thank you')
    field.press('Enter')
    expect(rows_in(panel)).to_have_count(3)
    expect(field).to_have_value('')
    expect(rows_in(page.get_by_role('region', name='Messages in ben')).filter(has_text='who brings').get_by_role('button', name='2 answers')).to_be_visible()
    # Over the conversation where there is no room beside it, from any of its answers.
    other = visit(ben, viewport={'width': 320, 'height': 700})
    show(other, 'ann')
    choose(other, 'thank you', 'Open the thread')
    over = other.get_by_role('complementary', name='Thread')
    expect(rows_in(over)).to_have_count(3)
    expect(other.get_by_role('textbox', name='Write to ann')).to_be_hidden()
    over.get_by_role('textbox').fill('half a sen')
    other.keyboard.press('Escape')
    expect(over).to_have_count(0)
    expect(row_of(other, 'who brings')).to_be_focused()
    other.keyboard.press('t')
    expect(over.get_by_role('textbox')).to_have_value('half a sen')
    # While the node is away, what was typed stays, and is written once.
    ben.stop()
    expect(other.get_by_text('The node is away. What')).to_be_visible()
    over.get_by_role('textbox').fill('I hope it is dry')
    over.get_by_role('button', name='Send').click()
    expect(over.get_by_role('alert')).to_contain_text('The node is away')
    expect(over.get_by_role('textbox')).to_have_value('I hope it is dry')
    ben.start()
    expect(other.get_by_text('The node is away. What')).to_be_hidden()
    over.get_by_role('button', name='Send').click()
    expect(rows_in(over)).to_have_count(4)
    assert [each['text'] for each in ben.ask('thread', message=root, limit=9)['answers']] == ['I do', 'thank you', 'I hope it is dry']
    expect(rows_in(panel)).to_have_count(4)
    # The list of threads leads to each.
    page.get_by_role('button', name='More of this conversation').click()
    page.get_by_role('menuitem', name='Threads').click()
    page.get_by_role('link', name=re.compile('who brings the tent.*3 answers')).click()
    expect(rows_in(panel)).to_have_count(4)


def test_a_long_thread_comes_in_pages(ann, visit):
    root = ann.ask('send', conversation='notes', texts=['the root'])[0]['id']
    for start in (0, 50, 100):
        ann.ask('send', conversation='notes', texts=[f'answer {number}' for number in range(start, start + 50)], thread=root)
    page = visit(ann)
    show(page, 'notes')
    choose(page, 'answer 149', 'Open the thread')
    panel = page.get_by_role('complementary', name='Thread')
    expect(rows_in(panel)).to_have_count(61)
    expect(panel.get_by_role('status')).to_have_text('150 answers')
    panel.get_by_role('button', name='Earlier answers').click()
    panel.get_by_role('button', name='Earlier answers').click()
    expect(rows_in(panel)).to_have_count(151)
    expect(panel.get_by_role('button', name='Earlier answers')).to_be_hidden()
    ann.ask('send', conversation='notes', texts=['answer 150'], thread=root)
    expect(rows_in(panel)).to_have_count(152)
    texts = rows_in(panel).evaluate_all("all => all.map((each) => each.querySelector('.text').textContent)")
    assert texts == ['the root'] + [f'answer {number}' for number in range(151)]


def test_people_are_mentioned(nodes, visit):
    ann, ben = nodes('ann'), nodes('ben')
    ben.say('accept', ann.say('invite'))
    wait('they know each other', lambda: any(each['name'] == 'ben' for each in ann.ask('contacts')) and ben.ask('contacts'))
    person = next(each['person'] for each in ann.ask('contacts') if each['name'] == 'ben')
    ben.ask('renameSelf', name='Ben <b> Ünal')
    trip = ann.ask('newConversation', name='trip', members=[person])['id']
    wait('ben is invited', lambda: ben.ask('invitations'))
    ben.ask('answerInvitation', conversation=trip, accepting=True)
    wait('ben is in it', lambda: any(each['id'] == trip for each in ben.ask('conversations')))
    wait('his name came', lambda: any('Ünal' in each['name'] for each in ann.ask('group', conversation=trip)['members']))
    page, other = visit(ann), visit(ben)
    field = show(page, 'trip')
    field.press_sequentially('mail@ben ')
    expect(page.get_by_role('listbox')).to_have_count(0)
    field.fill('')
    field.press_sequentially('**hey** @ün')
    choice = page.get_by_role('listbox', name='Choose whom to mention')
    expect(choice.get_by_role('option')).to_have_text(['Ben <b> Ünal'])
    expect(field).to_be_focused()
    assert field.get_attribute('aria-activedescendant') == choice.get_by_role('option').get_attribute('id')
    page.keyboard.press('Enter')
    expect(field).to_have_value('**hey** @Ben <b> Ünal ')
    page.keyboard.type('and @every')
    expect(choice.get_by_role('option')).to_have_text(['everyone everybody in this conversation'])
    page.keyboard.press('Escape')
    expect(choice).to_be_hidden()
    page.keyboard.press('Enter')
    sent = wait('it is sent', lambda: ann.ask('messages', conversation=trip, limit=1)['messages'])[0]
    assert [each['name'] for each in sent['mentions']] == ['Ben <b> Ünal'] and not sent['mentionsEveryone']
    expect(row_of(page, 'hey').locator('.mention')).to_have_text('@Ben <b> Ünal')
    expect(other.get_by_role('navigation').get_by_role('link', name=re.compile('trip.*1 unread, you are mentioned'))).to_be_visible()
    field.press_sequentially('@')
    page.keyboard.press('ArrowUp')
    page.keyboard.press('Tab')
    expect(field).to_have_value('@everyone ')
    page.keyboard.type('listen')
    page.keyboard.press('Enter')
    badge = other.get_by_role('navigation').get_by_role('link', name=re.compile('trip.*2 unread, you are mentioned 2 times'))
    expect(badge).to_contain_text('@2')
    # All of them in one list, which leads to each.
    other.get_by_role('navigation').get_by_role('link', name='Mentions').click()
    expect(other.get_by_role('main').locator('.messages').get_by_role('link')).to_have_text([re.compile('trip.*@everyone listen.*New'), re.compile('trip.*hey.*@Ben')])
    other.locator('.messages').get_by_role('link').last.click()
    row = row_of(other, 'hey')
    expect(row).to_be_focused()
    expect(row.locator('.mention.of-me')).to_have_text('@Ben <b> Ünal')
    assert other.locator('.row b').count() == 0
    # What only looks like one to the page is none.
    ann.ask('send', conversation=trip, texts=['\ufdd2forged\ufdd1 **\ufdd0forged\ufdd1**'])
    expect(row_of(other, 'forged')).to_be_visible()
    assert row_of(other, 'forged').locator('.mention').count() == 0
    expect(other.get_by_role('navigation').get_by_role('link', name=re.compile('mentioned'))).to_have_count(0)


def test_what_is_marked_and_a_day(ann, visit, folder):
    imported(ann, 900, folder)
    sent = ann.ask('send', conversation='notes', texts=['new one', HOSTILE])
    for each in sent:
        ann.ask('pin', message=each['id'], on=True)
        ann.ask('star', message=each['id'], on=True)
    page = visit(ann, viewport={'width': 320, 'height': 700})
    page.get_by_role('link', name='Starred').click()
    listed = page.locator('.messages')
    expect(listed.get_by_role('listitem')).to_have_count(2)
    assert listed.locator('img').count() == 0
    listed.get_by_role('listitem').filter(has_text='new one').get_by_role('button', name='Remove the star').click()
    expect(listed.get_by_role('listitem')).to_have_count(1)
    page.get_by_role('link', name='Back').click()
    show(page, 'notes')
    more = page.get_by_role('button', name='More of this conversation')
    more.click()
    page.get_by_role('menuitem', name='Pinned').click()
    listed.get_by_role('listitem').filter(has_text='needle').get_by_role('button', name='Unpin').click()
    expect(listed.get_by_role('listitem')).to_have_count(1)
    listed.get_by_role('link', name=re.compile('new one')).click()
    expect(row_of(page, 'new one')).to_be_focused()
    # A day: what was said first then, and what comes next where nothing was.
    for day in ('2023-01-02', '2022-05-01'):
        more.click()
        page.get_by_role('menuitem', name='Go to a day').click()
        page.get_by_role('dialog').get_by_label('Day').fill(day)
        page.get_by_role('dialog').get_by_role('button', name='Go').click()
        expect(row_of(page, 'line 0 ')).to_be_focused()
        page.get_by_role('button', name='Jump to the newest').click()
        expect(rows(page).filter(has_text='new one')).to_be_visible()
    more.click()
    page.get_by_role('menuitem', name='Go to a day').click()
    page.get_by_role('dialog').get_by_label('Day').fill('2024-01-01')
    page.get_by_role('dialog').get_by_role('button', name='Go').click()
    expect(row_of(page, 'new one')).to_be_focused()


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', [320, 1280])
def test_everybody_can_use_what_is_done_with_messages(ann, visit, scheme, width):
    ann.ask('send', conversation='notes', texts=['one', 'two needle', HOSTILE])
    page = visit(ann, color_scheme=scheme, viewport={'width': width, 'height': 700})
    field = page.get_by_role('searchbox', name='Search', exact=True)
    field.fill('needle')
    expect(page.get_by_role('navigation').get_by_role('status')).to_have_text('2 found')
    looks_well(page, width)
    page.get_by_role('link', name=re.compile('two needle')).click()
    row = row_of(page, 'two needle')
    expect(row).to_be_focused()
    looks_well(page, width)
    page.keyboard.press('m')
    expect(page.get_by_role('menu')).to_be_visible()
    looks_well(page, width)
    page.keyboard.press('Escape')
    page.keyboard.press('+')
    expect(page.get_by_role('dialog', name='React')).to_be_visible()
    looks_well(page, width)
    page.keyboard.press('Escape')
    page.get_by_role('textbox', name='Write to notes').press_sequentially('@')
    expect(page.get_by_role('listbox')).to_be_visible()
    looks_well(page, width)
    page.keyboard.press('Escape')
    ann.ask('send', conversation='notes', texts=['an answer', HOSTILE], thread=message(ann, 'one')['id'])
    choose(page, 'an answer', 'Open the thread')
    expect(rows_in(page.get_by_role('complementary'))).to_have_count(3)
    looks_well(page, width)
    ann.ask('star', message=message(ann, HOSTILE)['id'], on=True)
    page.goto(page.url.split('#')[0] + '#/stars')
    expect(page.locator('.messages').get_by_role('listitem')).to_have_count(1)
    looks_well(page, width)
