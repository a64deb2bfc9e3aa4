"""What is to come: messages that are sent later, and reminders."""
import re
import time

import pytest
from playwright.sync_api import expect

from conftest import wait
from test_messages import choose, looks_well, row_of
from test_page import rows, show
from test_people import HOSTILE, at, press

# A zone in which no machine of ours runs, an odd part of an hour from UTC.
ZONE = 'Asia/Kathmandu'
# Of which something can be seen, and which a preference holds.
TEXTS = [each for each in HOSTILE if len(each) > 1]


def soon(seconds):
    """A moment, as the node has them."""
    return int((time.time() + seconds) * 1000)


def say_later(page, name, text):
    """Opens the dialog that asks when a text is sent."""
    field = page.get_by_role('textbox', name=f'Write to {name}')
    expect(page.get_by_role('button', name='Send later')).to_be_hidden()
    field.fill(text)
    press(page, 'Send later')
    return page.get_by_role('dialog')


def strip(page, words):
    return page.locator('.strip summary').filter(has_text=words)


def test_a_message_is_sent_later_changed_and_given_up(pair, visit):
    ann, ben = pair
    page = visit(ann, timezone_id=ZONE)
    show(page, 'ben')
    dialog = say_later(page, 'ben', 'good morning')
    expect(dialog).to_contain_text(re.compile('Asia/Kath?mandu'))
    when = dialog.get_by_label('Day and time')
    when.fill('')
    press(page, 'Send then', dialog)
    expect(dialog.get_by_role('alert')).to_have_text('Choose a day and a time.')
    when.fill('2001-01-01T09:00')
    press(page, 'Send then', dialog)
    expect(dialog.get_by_role('alert')).to_contain_text('already past')
    when.fill('2099-01-01T09:00')
    press(page, 'Send then', dialog)
    expect(dialog).to_have_count(0)
    expect(page.get_by_role('textbox', name='Write to ben')).to_have_value('')
    [kept] = ann.ask('scheduled')
    # Nine o'clock is that of the person.
    assert (kept['text'], kept['time']) == ('good morning', 4070920500000), kept
    # It waits in its conversation, and is opened by the keyboard.
    strip(page, '1 to be sent later').press('Enter')
    card = page.locator('.strip .card')
    expect(card).to_contain_text('good morning')
    press(page, 'Change', card)
    dialog = page.get_by_role('dialog')
    dialog.get_by_label('Text').fill('good evening')
    dialog.get_by_label('Day and time').fill('2099-01-01T19:00')
    press(page, 'Save', dialog)
    expect(card).to_contain_text('good evening')
    [kept] = ann.ask('scheduled')
    assert (kept['text'], kept['time']) == ('good evening', 4070956500000)
    press(page, 'Send now', card)
    expect(row_of(page, 'good evening')).to_be_visible()
    expect(page.locator('.strip details')).to_have_count(0)
    wait('it is there', lambda: any(each['text'] == 'good evening' for each in ben.ask('messages', conversation='ann', limit=5)['messages']))
    ann.ask('schedule', conversation='ben', text='never said', time=soon(86400))
    strip(page, '1 to be sent later').click()
    press(page, 'Do not send', card)
    press(page, 'Do not send', page.get_by_role('dialog'))
    expect(page.locator('.strip details')).to_have_count(0)
    assert ann.ask('scheduled') == []
    expect(rows(page)).to_have_count(1)


def test_what_was_sent_meanwhile_is_not_sent_twice(ann, visit):
    ann.ask('schedule', conversation='notes', text='once', time=soon(86400))
    page = visit(ann)
    show(page, 'notes')
    strip(page, '1 to be sent').click()
    press(page, 'Change', page.locator('.strip .card'))
    dialog = page.get_by_role('dialog')
    ann.ask('sendScheduled', scheduled=ann.ask('scheduled')[0]['id'])
    dialog.get_by_label('Text').fill('twice')
    press(page, 'Save', dialog)
    expect(dialog.get_by_role('alert')).to_contain_text('There is no such message to be sent later.')
    assert ann.ask('scheduled') == []
    assert [each['text'] for each in ann.ask('messages', conversation='notes', limit=5)['messages']] == ['once']


def test_what_could_not_be_sent_is_told(ann, visit):
    page = visit(ann)
    club = ann.ask('newConversation', name='club', members=[])['id']
    ann.ask('schedule', conversation=club, text=HOSTILE[0], time=soon(2))
    ann.ask('leave', conversation=club, anyway=True)
    line = page.get_by_role('link', name='A message could not be sent')
    line.click()
    card = page.locator('.card')
    expect(card).to_contain_text(HOSTILE[0])
    expect(card).to_contain_text('Could not be sent')
    press(page, 'Send now', card)
    expect(page.get_by_role('alert')).to_be_visible()
    show_left = page.get_by_role('link', name='club', exact=True).last
    show_left.click()
    strip(page, 'A message could not be sent').click()
    press(page, 'Do not send', page.locator('.strip .card'))
    press(page, 'Do not send', page.get_by_role('dialog'))
    expect(page.locator('.strip details')).to_have_count(0)
    expect(line).to_have_count(0)


def test_one_is_reminded_of_a_message(ann, visit):
    ann.ask('send', conversation='notes', texts=['call the hut', 'other'])
    page = visit(ann, timezone_id=ZONE)
    show(page, 'notes')
    choose(page, 'call the hut', 'Remind me')
    dialog = page.get_by_role('dialog', name='Remind me of it')
    dialog.get_by_label('Day and time').fill('2099-01-01T09:00')
    press(page, 'Remind me then', dialog)
    expect(dialog).to_have_count(0)
    [kept] = ann.ask('reminders')
    assert (kept['time'], kept['text'], kept['state']) == (4070920500000, 'call the hut', 'waiting')
    page.get_by_role('link', name='Reminders').click()
    card = page.locator('.card')
    expect(card).to_contain_text('call the hut')
    press(page, 'Show it', card)
    expect(row_of(page, 'call the hut')).to_be_focused()
    # It rings: the list says so, wherever one is.
    ann.ask('remind', text='the stove', time=soon(1))
    line = page.get_by_role('link', name='Reminder: the stove')
    line.click()
    due = page.locator('.card.is-due')
    expect(due).to_contain_text('the stove')
    press(page, 'Remind me again', due)
    press(page, 'Tomorrow', page.get_by_role('dialog'))
    press(page, 'Remind me then', page.get_by_role('dialog'))
    expect(due).to_have_count(0)
    expect(line).to_have_count(0)
    assert {each['text'] for each in ann.ask('reminders') if each['state'] == 'waiting'} == {'call the hut', 'the stove'}
    press(page, 'Done', page.locator('.card').filter(has_text='the stove'))
    expect(page.get_by_role('heading', name='Done')).to_be_visible()
    press(page, 'Delete', page.locator('.card').filter(has_text='the stove'))
    expect(page.get_by_text('the stove')).to_have_count(0)
    press(page, 'New reminder')
    page.get_by_role('textbox', name='What to remind you of').fill('<b>bold</b>')
    press(page, 'Remind me then')
    expect(page.get_by_text('<b>bold</b>')).to_be_visible()


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('width', [320, 1280])
def test_everybody_can_use_what_is_to_come(ann, visit, scheme, width):
    ann.ask('send', conversation='notes', texts=TEXTS)
    for text in TEXTS:
        ann.ask('schedule', conversation='notes', text=text, time=soon(86400))
        ann.ask('remind', text=text, time=soon(86400))
    ann.ask('remind', text=HOSTILE[0], time=soon(1))
    page = visit(ann, color_scheme=scheme, viewport={'width': width, 'height': 700})
    expect(page.locator('.waiting-line')).to_have_count(1)
    looks_well(page, width)
    show(page, 'notes')
    strip(page, f'{len(TEXTS)} to be sent later').click()
    expect(page.locator('.strip .card')).to_have_count(len(TEXTS))
    looks_well(page, width)
    dialog = say_later(page, 'notes', HOSTILE[0])
    expect(dialog).to_be_visible()
    looks_well(page, width)
    page.keyboard.press('Escape')
    for view in ['scheduled', 'reminders']:
        at(page, view)
        expect(page.locator('.card').first).to_be_visible()
        looks_well(page, width)
        assert page.evaluate("[...document.querySelectorAll('.parts')].every((each) => each.scrollWidth <= each.clientWidth)"), view
        assert page.locator('.view img, .view script').count() == 0
