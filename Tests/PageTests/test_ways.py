"""Ways about: the keys, what is said to who does not see the page, the calls of all conversations, one's presence."""
import pytest
from playwright.sync_api import expect

from conftest import wait
from test_calls import call
from test_messages import looks_well
from test_page import show
from test_people import HOSTILE, at, press


def missed(page, other):
    """A call that nobody answers."""
    show(page, other.name)
    call(page, other.name)
    wait('it rings', lambda: other.ask('calls'))
    press(page, 'Hang up')
    wait('it is over', lambda: not other.ask('calls') and other.ask('callRecords'))


def test_the_keys_are_listed(ann, visit):
    page = visit(ann)
    field = show(page, 'notes')
    field.press('?')
    expect(page.get_by_role('dialog')).to_have_count(0)
    page.get_by_role('region', name='Messages in notes').focus()
    page.keyboard.press('?')
    dialog = page.get_by_role('dialog', name='Keyboard shortcuts')
    expect(dialog.get_by_role('definition')).to_have_count(20)
    # A key of the page is typed into nothing.
    page.keyboard.press('?')
    expect(dialog).to_have_count(1)
    page.keyboard.press('Escape')
    expect(dialog).to_have_count(0)
    press(at(page, 'settings'), 'Keyboard shortcuts')
    expect(dialog).to_be_visible()


def test_what_others_write_is_said_to_who_does_not_see_it(pair, visit):
    ann, ben = pair
    page = visit(ann)
    show(page, 'ben')
    said = page.locator('body > .unseen[aria-live=polite]')
    ben.ask('send', conversation='ann', texts=[HOSTILE[0]])
    expect(said).to_have_text(f'\u2068ben\u2069: {HOSTILE[0]}')
    ben.ask('send', conversation='ann', texts=['one', 'two', 'three'])
    expect(said).to_have_text('3 new messages')


def test_calls_of_all_conversations_are_listed(pair, visit):
    ann, ben = pair
    missed(visit(ben), ann)
    page = at(visit(ann), 'calls')
    card = page.locator('.card')
    expect(card).to_contain_text('Missed call from ben')
    card.get_by_role('link', name='ben').click()
    expect(page.get_by_role('textbox', name='Write to ben')).to_be_visible()
    press(at(page, 'calls'), 'Call', page.locator('.card'))
    expect(page.get_by_role('dialog', name='Call ben')).to_be_visible()


def test_one_says_whether_one_is_there(pair, visit):
    ann, ben = pair
    page = at(visit(ann), 'settings')
    expect(page.get_by_text('You are not shown as online.')).to_be_visible()
    press(page, 'Away')
    expect(page.get_by_text('You are shown as away.')).to_be_visible()
    expect(page.get_by_role('button', name='Away', pressed=True)).to_be_focused()
    wait('ben sees it', lambda: any(each['presence'] == 'away' for each in ben.ask('presences')['people']))


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', [320, 1280])
def test_everybody_can_find_the_ways(pair, visit, scheme, width):
    ann, ben = pair
    ann.ask('setAlias', person='ben', alias=HOSTILE[1][:60])
    missed(visit(ben), ann)
    page = at(visit(ann, color_scheme=scheme, viewport={'width': width, 'height': 700}), 'calls')
    expect(page.locator('.card')).to_have_count(1)
    looks_well(page, width)
    page.keyboard.press('?')
    expect(page.get_by_role('dialog')).to_be_visible()
    looks_well(page, width)
    page.keyboard.press('Escape')
    at(page, 'settings')
    expect(page.get_by_role('button', name='Not shown')).to_be_visible()
    looks_well(page, width)
