"""What the assistant finds: each line is a sentence of a message, leads there, and goes with it."""
import pytest
from playwright.sync_api import expect

from conftest import wait
from test_messages import choose, looks_well, message, row_of
from test_page import show
from test_people import HOSTILE, at, press

TALK = [
    'We decided to take the night train to the mountains.',
    "I'll book the beds on the night train for everybody by 2099-01-05.",
    '@ann, do you still have the big tent from last summer?',
]


@pytest.fixture
def talk(pair):
    """Something that ann has not read, and where."""
    ann, ben = pair
    ben.ask('send', conversation='ann', texts=TALK)
    wait('ann has it', lambda: len(ann.ask('messages', conversation='ben', limit=9)['messages']) == 3)
    return ann.ask('conversations')[0]['id']


def part(page, name):
    """What stands below a heading."""
    return page.locator(f'h2:text-is("{name}") + ul > li')


def test_one_catches_up(pair, talk, visit):
    ann, ben = pair
    page = visit(ann)
    page.get_by_role('link', name='Catch up').click()
    expect(page.get_by_role('heading', name='Catch up')).to_be_visible()
    lines = page.locator('.view .hit')
    expect(lines).to_have_count(3)
    expect(lines.first).to_contain_text(TALK[2])
    expect(lines.first).to_contain_text('mentions you')
    expect(lines.filter(has_text=TALK[0])).to_contain_text('may be decided')
    # Nothing is read by it; a line leads to its message.
    assert ann.ask('conversations')[0]['unread'] == 3
    lines.first.get_by_role('link').press('Enter')
    expect(row_of(page, TALK[2])).to_be_focused()
    wait('it is read', lambda: ann.ask('conversations')[0]['unread'] == 0)
    at(page, 'catchup')
    expect(page.get_by_text('You have read everything.')).to_be_visible()
    # What comes is there, and what is deleted is not any more.
    ben.ask('send', conversation='ann', texts=['Can you bring the stove?'])
    expect(lines).to_contain_text(['Can you bring the stove?'])
    ben.ask('delete', message=message(ben, 'Can you bring the stove?', 'ann')['id'])
    expect(lines.filter(has_text='stove')).to_have_count(0)


def test_suggestions_are_taken_and_dismissed(pair, talk, visit):
    ann, ben = pair
    page = visit(ann)
    show(page, 'ben')
    press(page, 'More of this conversation')
    page.get_by_role('menuitem', name='Summary').click()
    expect(part(page, 'What was said')).to_have_count(3)
    expect(part(page, 'Open questions')).to_contain_text('asks you')
    item = part(page, 'Suggested action items')
    expect(item).to_contain_text(TALK[1])
    expect(item).to_contain_text('ben · due 2099-01-05')
    # One step, by the keyboard, and its source goes along.
    item.get_by_role('button', name='Make it an item').press('Enter')
    expect(item).to_have_count(0)
    [made] = ann.ask('items', conversation=talk)
    assert (made['title'], made['assignees'], made['due']) == (TALK[1], ['ben'], '2099-01-05')
    assert made['source'] == message(ann, TALK[1], 'ben')['id']
    decision = part(page, 'Suggested decisions')
    press(page, 'Propose', decision)
    expect(decision).to_have_count(0)
    [proposed] = ann.ask('decisions', conversation=talk, limit=9)['decisions']
    assert (proposed['title'], proposed['source']) == (TALK[0], message(ann, TALK[0], 'ben')['id'])
    ben.ask('send', conversation='ann', texts=["I'll call the hut tomorrow and ask for the key."])
    expect(item).to_contain_text('call the hut')
    press(page, 'Dismiss', item)
    expect(item).to_have_count(0)
    page.reload()
    expect(part(page, 'What was said')).to_have_count(4)
    expect(item).to_have_count(0)
    assert len(ann.ask('items', conversation=talk)) == 1
    # The item leads to its source.
    page.get_by_role('link', name='Polls and items').click()
    page.locator('.card').get_by_role('link', name='The message', exact=True).click()
    expect(row_of(page, TALK[1])).to_be_focused()


def test_a_thread_and_a_time_are_summed_up(pair, talk, visit):
    ann, ben = pair
    root = message(ann, TALK[0], 'ben')['id']
    ann.ask('send', conversation='ben', texts=['The train leaves at nine from the northern station.'], thread=root)
    page = visit(ann)
    show(page, 'ben')
    choose(page, TALK[0], 'Open the thread')
    page.get_by_role('complementary').get_by_role('link', name='Summary').click()
    expect(page.get_by_role('heading', name='Summary of the thread')).to_be_visible()
    lines = page.locator('.view .hit')
    expect(lines).to_have_count(2)
    expect(lines.last.locator('.name')).to_have_text('You')
    expect(lines.last).to_contain_text('The train leaves at nine')
    lines.last.get_by_role('link').click()
    expect(row_of(page, TALK[0])).to_be_visible()
    at(page, 'assistant/' + talk)
    expect(part(page, 'What was said')).to_have_count(4)
    page.get_by_label('How many sentences').select_option('3')
    expect(part(page, 'What was said')).to_have_count(3)
    page.get_by_label('Since when').select_option('day')
    expect(part(page, 'What was said')).to_have_count(3)


def asks(page, question):
    page.get_by_label('Your question').fill(question)
    page.get_by_label('Your question').press('Enter')


def test_one_asks(pair, talk, visit):
    ann, ben = pair
    page = visit(ann)
    page.get_by_role('link', name='Catch up').click()
    page.get_by_role('link', name='Ask your messages').click()
    asks(page, 'Which train do we take to the mountains?')
    lines = page.locator('.view .hit')
    expect(lines.first).to_contain_text(TALK[0])
    expect(lines.first.locator('.name')).to_have_text('ben')
    asks(page, 'How many penguins pay taxes?')
    expect(page.get_by_text('No message answers that.')).to_be_visible()
    asks(page, '')
    expect(page.locator('.view').get_by_text('No message answers that.')).to_have_count(0)
    # What is deleted answers nothing any more.
    asks(page, 'Which train do we take to the mountains?')
    expect(lines.first).to_contain_text(TALK[0])
    ben.ask('delete', message=message(ben, TALK[0], 'ann')['id'])
    expect(lines.filter(has_text=TALK[0])).to_have_count(0)
    # An answer leads to its message.
    asks(page, 'Who has the big tent from last summer?')
    lines.first.get_by_role('link').click()
    expect(row_of(page, TALK[2])).to_be_focused()


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', [320, 1280])
def test_everybody_can_use_the_assistant(pair, talk, visit, scheme, width):
    ann, ben = pair
    ben.ask('send', conversation='ann', texts=[f'@ann, can you bring {text} on 2099-01-05?' for text in HOSTILE])
    ben.ask('send', conversation='ann', texts=[f"I'll send {HOSTILE[0]} to everybody.", f'We decided to take {HOSTILE[2]}.'])
    wait('ann has it', lambda: ann.ask('conversations')[0]['unread'] == 3 + len(HOSTILE) + 2)
    page = visit(ann, color_scheme=scheme, viewport={'width': width, 'height': 700})
    for view in ['catchup', 'assistant/' + talk, 'ask']:
        at(page, view)
        if view == 'ask':
            asks(page, 'Who takes the night train to the mountains?')
        expect(page.locator('.view .hit').first).to_be_visible()
        expect(page.locator('[aria-busy]')).to_have_count(0)
        looks_well(page, width)
        assert page.evaluate("[...document.querySelectorAll('.parts')].every((each) => each.scrollWidth <= each.clientWidth)"), view
        assert page.locator('.view img, .view script').count() == 0
