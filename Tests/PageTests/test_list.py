"""The list of conversations: what it says of each."""
from playwright.sync_api import expect

from conftest import wait
from test_files import file, png
from test_messages import looks_well, message
from test_page import show
from test_people import HOSTILE


def line(page, name):
    return page.locator('.conversations li').filter(has=page.locator(f'.name:text-is("{name}")')).locator('.under')


def test_each_conversation_shows_its_last_words(pair, visit, folder):
    ann, ben = pair
    ann.ask('newConversation', name='notes', members=[])
    page = visit(ann)
    expect(line(page, 'ben')).to_have_text('')
    ann.ask('send', conversation='ben', texts=['one'])
    expect(line(page, 'ben')).to_have_text('You: one')
    ben.ask('send', conversation='ann', texts=[HOSTILE[0]])
    expect(line(page, 'ben')).to_have_text(f'ben: {HOSTILE[0]}')
    # Files are named by their kinds, with the words that go along.
    picture, other = file(folder, 'a.png', png(8, 8)), file(folder, 'b.zip', b'PK\3\4' + b'x' * 99)
    ben.say('send', 'ann', '--file', picture)
    expect(line(page, 'ben')).to_have_text('ben: Picture')
    ben.say('send', 'ann', '--file', picture, '--file', picture)
    expect(line(page, 'ben')).to_have_text('ben: 2 pictures')
    ben.say('send', 'ann', 'both', '--file', picture, '--file', other)
    expect(line(page, 'ben')).to_have_text('ben: 2 files · both')
    assert 'ben: both' in ann.say('conversations')
    ben.ask('delete', message=message(ben, 'both', 'ann')['id'])
    expect(line(page, 'ben')).to_have_text('ben: Deleted')
    # A draft is what one was about to say.
    show(page, 'ben').fill('I was')
    wait('the draft is kept', lambda: any(each.get('draft') == 'I was' for each in ann.ask('conversations')))
    expect(line(page, 'ben')).to_have_text('Draft: I was')
    expect(line(page, 'notes')).to_have_text('')


def test_what_did_not_change_is_not_drawn_again(pair, visit):
    ann, ben = pair
    ann.ask('newConversation', name='notes', members=[])
    page = visit(ann)
    expect(line(page, 'notes')).to_have_count(1)
    page.evaluate("document.querySelectorAll('.conversations li').forEach((each) => (each.isKept = true))")
    ben.ask('send', conversation='ann', texts=['one'])
    expect(line(page, 'ben')).to_have_text('ben: one')
    kept = page.evaluate("[...document.querySelectorAll('.conversations li')].map((each) => [each.querySelector('.name').textContent, Boolean(each.isKept)])")
    assert kept == [['ben', False], ['notes', True]], kept
    looks_well(page, 1100)


def test_the_last_words_of_a_file_are_named_on_the_command_line(ann, folder):
    ann.say('send', 'notes', '--file', file(folder, 'a.png', png(8, 8)))
    assert '(picture)' in ann.say('conversations')
