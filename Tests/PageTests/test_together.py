"""What people do together: decisions, items, and notes that several write at once."""
import random
import signal

import pytest
from playwright.sync_api import expect

from conftest import wait
from test_messages import choose, looks_well, row_of
from test_page import show
from test_people import HOSTILE, at, press

WEAVE = """async ([before, own, other]) => {
  const from = performance.getEntriesByType('resource').map(({ name }) => name).find((name) => name.endsWith('/app.js'));
  const { changes, woven } = await import(from.replace('app.js', 'weave.js'));
  return [changes(before, other), woven(before, own, changes(before, other)), woven(before, before, changes(before, other))];
}"""


@pytest.fixture
def talk(pair):
    return pair[0].ask('conversations')[0]['id']


def card(page, text):
    return page.locator('.card').filter(has_text=text)


def test_a_decision_is_made(pair, talk, visit):
    ann, ben = pair
    ann.ask('send', conversation=talk, texts=['we take the train'])
    page, other = visit(ann), at(visit(ben), 'decisions/' + talk)
    expect(other.get_by_text('Nothing was proposed yet.')).to_be_visible()
    show(page, 'ben')
    choose(page, 'we take the train', 'Propose as a decision')
    dialog = page.get_by_role('dialog')
    expect(dialog.get_by_label('What is decided')).to_have_value('we take the train')
    dialog.get_by_label('Why').fill('It is quicker.')
    dialog.get_by_label('Tags').fill('travel, <b>money</b>')
    press(page, 'Propose', dialog)
    expect(page.get_by_role('heading', name='ben')).to_be_visible()
    press(other, 'Approve', card(other, 'we take the train'))
    expect(card(page, 'we take the train')).to_contain_text('Approved by ben')
    expect(card(other, 'we take the train').get_by_role('button', name='Accept', exact=True)).to_have_count(0)
    press(page, 'Accept', card(page, 'we take the train'))
    expect(card(other, 'we take the train').locator('.badge')).to_have_text('accepted')
    expect(card(other, 'we take the train')).to_contain_text('settled by ann')
    # Another one takes its place.
    press(page, 'Supersede', card(page, 'we take the train'))
    expect(page.get_by_role('dialog')).to_contain_text('Propose first what takes its place.')
    page.keyboard.press('Escape')
    press(page, 'Propose a decision')
    page.get_by_role('dialog').get_by_label('What is decided').fill(HOSTILE[0])
    press(page, 'Propose')
    expect(card(other, HOSTILE[0])).to_be_visible()
    press(page, 'Supersede', card(page, 'It is quicker.'))
    press(page, 'Save', page.get_by_role('dialog'))
    expect(card(other, 'It is quicker.')).to_contain_text(f'“{HOSTILE[0]}” took its place.')
    # Those of one state, and of one tag.
    other.get_by_label('Which decisions').select_option('superseded')
    expect(other.locator('.card')).to_have_count(1)
    other.get_by_label('Which decisions').select_option('')
    other.get_by_role('button', name='# travel').click()
    expect(other.locator('.card')).to_have_count(1)
    expect(other.get_by_text('With this tag:')).to_be_visible()
    other.get_by_role('button', name='# travel').first.click()
    expect(other.locator('.card')).to_have_count(2)
    press(page, 'Open again', card(page, 'It is quicker.'))
    press(page, 'Reject', card(page, 'It is quicker.'))
    expect(card(other, 'It is quicker.').locator('.badge')).to_have_text('rejected')
    card(page, 'It is quicker.').get_by_role('link', name='The message').click()
    expect(row_of(page, 'we take the train')).to_be_focused()
    press(at(page, 'decisions/' + talk), 'Delete', card(page, 'It is quicker.'))
    press(page, 'Delete', page.get_by_role('dialog'))
    expect(other.locator('.card')).to_have_count(1)


def test_a_poll_becomes_a_decision_and_reminds(pair, talk, visit):
    ann, _ = pair
    poll = ann.ask('askPoll', conversation=talk, question='When?', options=['Friday', 'Saturday'])
    ann.ask('answerPoll', poll=poll['id'], choices=[2])
    page = at(visit(ann), 'together/' + talk)
    press(page, 'Close')
    press(page, 'Propose as a decision')
    expect(page.get_by_label('What is decided')).to_have_value('When? Saturday')
    press(page, 'Propose')
    press(page, 'Remind me', card(page, 'When? Saturday'))
    press(page, 'Remind me then')
    expect(page.get_by_role('dialog')).to_have_count(0)
    [kept] = ann.ask('reminders')
    assert kept['text'] == 'When? Saturday' and ann.ask('decisions', limit=5)['decisions'][0]['poll'] == poll['id']
    press(at(page, 'reminders'), 'Show it')
    expect(page.get_by_role('link', name='Decisions')).to_be_visible()


def test_an_item_is_assigned_and_due(pair, talk, visit):
    ann, ben = pair
    page, other = at(visit(ann), 'together/' + talk), at(visit(ben), 'together/' + talk)
    press(page, 'New item')
    dialog = page.get_by_role('dialog')
    dialog.get_by_label('What is to be done').fill('book the hut')
    dialog.get_by_role('group', name='Who does it').get_by_label('ben').check()
    dialog.get_by_label('Due').fill('2099-05-01')
    looks_well(page, 1100)
    press(page, 'Add it', dialog)
    expect(card(other, 'book the hut')).to_contain_text('due 2099-05-01 · ben')
    press(other, 'Change', card(other, 'book the hut'))
    who = other.get_by_role('group', name='Who does it')
    who.get_by_label('ben').uncheck()
    who.get_by_label('ann').check()
    press(other, 'Save', other.get_by_role('dialog'))
    expect(card(page, 'book the hut')).to_contain_text('· ann')
    assert ann.ask('items', conversation=talk)[0]['assignees'] == ['ann']
    # Who is to do it is not who may delete it.
    expect(card(other, 'book the hut').get_by_role('button', name='Delete')).to_have_count(0)
    press(page, 'Delete', card(page, 'book the hut'))
    press(page, 'Delete', page.get_by_role('dialog'))
    expect(card(other, 'book the hut')).to_have_count(0)


def note(node, talk, title, text):
    """A note, with its text, that another node has as well."""
    return node.ask('createNote', conversation=talk, title=title, text=text)['id']


def text_of(node, name):
    return node.ask('note', note=name)['text']


def opened(node, visit, talk, name):
    page = at(visit(node), f'note/{talk}/{name}')
    area = page.locator('textarea.note')
    expect(area).to_be_editable()
    return page, area


def test_two_people_write_one_note(pair, talk, visit):
    ann, ben = pair
    page = at(visit(ann), 'notes/' + talk)
    press(page, 'New note')
    page.get_by_role('dialog').get_by_label('Title').fill('what to bring')
    press(page, 'Begin it')
    area = page.get_by_role('textbox', name='what to bring')
    expect(area).to_be_editable()
    area.fill('tent\nstove\n')
    expect(page.get_by_role('status').filter(has_text='Saved')).to_be_visible()
    other = at(visit(ben), 'notes/' + talk)
    other.get_by_role('link', name='what to bring').click()
    theirs = other.get_by_role('textbox', name='what to bring')
    expect(theirs).to_have_value('tent\nstove\n')
    # Both type at once, at both ends: what one reads moves, where one types does not.
    area.press('Control+Home')
    theirs.press('Control+End')
    for mine, yours in zip('ABCDEFGH', 'mapbread'):
        area.press_sequentially(mine)
        theirs.press_sequentially(yours)
    both = 'ABCDEFGHtent\nstove\nmapbread'
    expect(area).to_have_value(both)
    expect(theirs).to_have_value(both)
    assert theirs.evaluate('(area) => area.selectionStart') == len(both)
    assert area.evaluate('(area) => area.selectionStart') == 8
    assert text_of(ann, ann.ask('notes')[0]['id']) == both
    expect(other.get_by_text('ben, ')).to_be_visible()


def test_a_cursor_stays_where_it_is_and_what_others_write_comes(ann, visit):
    talk = ann.ask('conversations')[0]['id']
    name = note(ann, talk, 'marks', 'aaaa 🧑‍🚀 bbbb\r\ncccc\r\n')
    page, area = opened(ann, visit, talk, name)
    expect(area).to_have_value('aaaa 🧑‍🚀 bbbb\ncccc\n')
    # Lines that end in two marks keep them.
    area.press('Control+End')
    area.press_sequentially('dd')
    wait('it is there', lambda: text_of(ann, name) == 'aaaa 🧑‍🚀 bbbb\r\ncccc\r\ndd')
    plain = note(ann, talk, 'plain', 'aaaa 🧑‍🚀 bbbb')
    page, area = opened(ann, visit, talk, plain)
    area.evaluate('(area) => (area.focus(), area.setSelectionRange(2, 2))')
    # An a more before the cursor: the texts alone do not say where.
    ann.ask('changeNote', note=plain, edits=[{'position': 0, 'text': 'a'}])
    expect(area).to_have_value('aaaaa 🧑‍🚀 bbbb')
    assert area.evaluate('(area) => area.selectionStart') == 3
    ann.ask('changeNote', note=plain, edits=[{'position': 9, 'text': '<b>'}])
    expect(area).to_have_value('aaaaa 🧑‍🚀<b> bbbb')
    assert area.evaluate('(area) => area.selectionStart') == 3


def test_what_is_typed_while_the_node_is_away_is_saved_once_it_is_back(ann, visit):
    talk = ann.ask('conversations')[0]['id']
    name = note(ann, talk, 'list', 'one\n')
    page, area = opened(ann, visit, talk, name)
    ann.stop(signal.SIGKILL)
    area.press('Control+End')
    area.press_sequentially('two\n')
    expect(page.get_by_text('What you type stays here')).to_be_visible()
    # Also where one looks elsewhere meanwhile.
    at(page, 'settings')
    at(page, f'note/{talk}/{name}')
    expect(page.locator('textarea.note')).to_have_value('one\ntwo\n')
    at(page, 'settings')
    ann.start()
    wait('it is saved', lambda: text_of(ann, name) == 'one\ntwo\n')


def test_a_note_has_a_history(pair, talk, visit):
    ann, ben = pair
    name = note(ann, talk, 'list', 'one\n')
    ann.ask('writeNote', note=name, text=HOSTILE[0])
    page, area = opened(ann, visit, talk, name)
    press(page, 'History')
    steps = page.get_by_role('dialog').get_by_role('listitem')
    expect(steps).to_have_count(2)
    press(page, 'Text at that time', steps.nth(1))
    press(page, 'Restore this text', steps.nth(1))
    expect(page.get_by_role('dialog')).to_have_count(0)
    expect(area).to_have_value('one\n')
    press(page, 'Rename')
    page.get_by_role('dialog').get_by_label('Title').fill('another')
    press(page, 'Save')
    expect(page.get_by_role('heading', name='another')).to_be_visible()
    wait('it is with ben', lambda: any(each['title'] == 'another' for each in ben.ask('notes')))
    other, theirs = opened(ben, visit, talk, name)
    press(page, 'Delete')
    press(page, 'Delete', page.get_by_role('dialog'))
    expect(page.get_by_text('There are no notes.')).to_be_visible()
    # Whoever has it open keeps what is there to be copied.
    expect(theirs).not_to_be_editable()
    expect(theirs).to_have_value('one\n')


def test_texts_are_woven_without_loss(ann, visit):
    page = visit(ann)
    numbers = random.Random(7)
    print('seed 7')
    marks = ['a', 'b', '\n', '😀', 'é']

    def edited(text):
        text = list(text)
        for _ in range(numbers.randint(1, 3)):
            place = numbers.randint(0, len(text))
            text[place:place + numbers.randint(0, 2)] = numbers.choices(marks, k=numbers.randint(0, 3))
        return ''.join(text)

    for _ in range(150):
        before = ''.join(numbers.choices(marks, k=numbers.randint(0, 12)))
        own, other = edited(before), edited(before)
        changes, woven, alone = page.evaluate(WEAVE, [before, own, other])
        assert alone == other, (before, other, changes)
        assert all(each['text'] in woven for each in changes), (before, own, other, woven)
        assert not any('\ud800' <= each <= '\udfff' for each in woven), (before, own, other)


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', [320, 1280])
def test_everybody_can_use_decisions_and_notes(ann, visit, scheme, width):
    talk = ann.ask('conversations')[0]['id']
    for text in HOSTILE:
        if len(text) > 1:
            one = ann.ask('proposeDecision', conversation=talk, title=text, text=text, tags=['plain', text[:8]])
            note(ann, talk, text, text)
    ann.ask('settleDecision', decision=one['id'], state='accepted')
    name = note(ann, talk, HOSTILE[1], '\n'.join(HOSTILE) * 40)
    page = visit(ann, color_scheme=scheme, viewport={'width': width, 'height': 700})
    for view in ['decisions/' + talk, 'notes/' + talk, f'note/{talk}/{name}']:
        at(page, view)
        expect(page.locator('.card, .people li, textarea.note').first).to_be_visible()
        expect(page.locator('[aria-busy]')).to_have_count(0)
        looks_well(page, width)
        assert page.evaluate("[...document.querySelectorAll('.parts')].every((each) => each.scrollWidth <= each.clientWidth)"), view
        assert page.locator('.view img, .view script').count() == 0
    press(page, 'History')
    looks_well(page, width)
    page.keyboard.press('Escape')
    at(page, 'decisions/' + talk)
    press(page, 'Propose a decision')
    looks_well(page, width)
