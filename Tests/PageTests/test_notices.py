"""Notifications of the page: asked for in the settings alone, quiet where one looks, with as much as one chose."""
import pytest
from playwright.sync_api import expect

from conftest import wait
from test_agenda import soon
from test_page import rows, show
from test_people import at, press

# Where the browser has no notifications, what the page asks it to show is noted instead.
NOTED = """(() => {
    const noted = new Map();
    Object.defineProperty(Notification, 'permission', { get: () => 'granted' });
    Notification.requestPermission = async () => 'granted';
    ServiceWorkerRegistration.prototype.showNotification = async (title, options) => void noted.set(options.tag, { title, ...options, close: () => noted.delete(options.tag) });
    ServiceWorkerRegistration.prototype.getNotifications = async ({ tag } = {}) => [...noted.values()].filter((each) => !tag || each.tag === tag);
})()"""
# The colour of the icon where a count of one digit begins.
CORNER = """async () => {
    const image = Object.assign(new Image(), { src: document.querySelector('link[rel=icon]').href }), canvas = document.createElement('canvas');
    await image.decode();
    canvas.width = canvas.height = 64;
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0, 64, 64);
    return [...context.getImageData(28, 44, 1, 1).data];
}"""
SHOWN = """async () => (await (await navigator.serviceWorker.ready).getNotifications()).map(({ title, body, tag, data }) => ({ title, body, tag, data }))"""


@pytest.fixture
def told(pair, visit, telling_browser):
    """One person whose page tells of what comes; another who writes; and their conversations, by name."""
    ann, ben = pair
    ann.ask('newConversation', name='trip', members=['ben'])
    wait('ben may come', lambda: any(each['name'] == 'trip' for each in ben.ask('conversations') + ben.ask('invitations')['waiting']))
    if ben.ask('invitations')['waiting']:
        ben.ask('answerInvitation', conversation='trip', accepting=True)
    wait('ben is in it', lambda: any(each['name'] == 'trip' and not each['isInvited'] for each in ben.ask('conversations')))
    page = visit(ann, within=telling_browser, permissions=['notifications'])
    if not telling_browser.has_notices:
        page.context.add_init_script(NOTED)
        page.reload()
    expect(page.get_by_role('link', name='trip')).to_be_visible()
    return ann, ben, page, {each['name']: each['id'] for each in ann.ask('conversations')}


def shown(page):
    return {each['tag']: each for each in page.evaluate(SHOWN)}


def test_a_browser_that_refuses_is_believed(ann, visit):
    page = visit(ann)
    assert page.evaluate('Notification.permission') in ('denied', 'default')
    at(page, 'settings')
    page.evaluate("Notification.requestPermission = async () => 'denied'")
    press(page, 'Turn notifications on')
    expect(page.get_by_text('The browser does not let this page notify you.')).to_be_visible()
    expect(page.get_by_role('button', name='Turn notifications on')).to_be_focused()


def test_what_comes_is_told_where_one_does_not_look(told):
    ann, ben, page, ids = told
    ben.ask('send', conversation='ann', texts=['nobody asked to be told'])
    expect(page.get_by_role('link', name='ben').get_by_text('1', exact=True)).to_be_visible()
    assert shown(page) == {}
    at(page, 'settings')
    press(page, 'Turn notifications on')
    expect(page.get_by_text('While this page is open')).to_be_visible()
    ben.ask('send', conversation='ann', texts=['are you <b>there</b>?'])
    found = wait('it is told', lambda: shown(page).get(ids['ben']))
    assert found['title'] == 'ben' and found['body'] == 'are you <b>there</b>?'
    assert found['data'].startswith(f"#/c/{ids['ben']}/")
    # The title and the icon count.
    expect(page).to_have_title('(2) Settings – Parley')
    wait('so does the icon', lambda: page.evaluate("document.querySelector('link[rel=icon]').href").startswith('blob:'))
    assert page.evaluate(CORNER) == [224, 164, 88, 255]
    # What one reads is told no more, and what comes before one's eyes is not told: what came after it is.
    show(page, 'ben')
    wait('it is taken back', lambda: shown(page) == {})
    wait('the icon is as it was', lambda: page.evaluate("document.querySelector('link[rel=icon]').href").endswith('/icon.svg'))
    ben.ask('send', conversation='ann', texts=['you see this'])
    expect(rows(page).filter(has_text='you see this')).to_be_visible()
    ben.ask('send', conversation='trip', texts=['where do we meet?'])
    found = wait('the other is told', lambda: shown(page).get(ids['trip']))
    assert found['body'] == 'ben: where do we meet?' and set(shown(page)) == {ids['trip']}
    # A click leads there.
    worker, = page.context.service_workers
    click = """async () => {
        const [notification] = await registration.getNotifications();
        dispatchEvent(new NotificationEvent('notificationclick', { notification }));
    }"""
    if page.context.browser.has_notices:
        worker.evaluate(click)
        expect(page.get_by_role('textbox', name='Write to trip')).to_be_visible()


def test_what_was_imported_is_not_told(told, folder):
    ann, ben, page, ids = told
    at(page, 'settings')
    press(page, 'Turn notifications on')
    log = f'{folder}/2023-01-02.log'
    with open(log, 'w') as file:
        file.write('[08:00] <carl> so long ago\n')
    ben.say('import', 'irc', log, '--into', 'trip')
    wait('it is there', lambda: any(each['isImported'] for each in ann.ask('messages', conversation='trip', limit=9)['messages']))
    ben.ask('send', conversation='trip', texts=['that is all'])
    found = wait('what follows is told', lambda: shown(page).get(ids['trip']))
    assert (found['title'], found['body']) == ('trip', 'ben: that is all')


def test_one_chooses_what_is_told_and_shown(told):
    ann, ben, page, ids = told
    at(page, 'settings')
    press(page, 'Turn notifications on')
    ann.ask('mute', conversation='trip', on=True)
    wait('it is muted', lambda: page.get_by_role('link', name='trip').get_by_text('muted').count() == 1)
    page.get_by_role('combobox', name='What they show').select_option('only the name')
    ben.ask('send', conversation='trip', texts=['quiet'])
    ben.ask('send', conversation='ann', texts=['secret'])
    found = wait('the other is told', lambda: shown(page).get(ids['ben']))
    assert (found['title'], found['body']) == ('ben', 'New message') and set(shown(page)) == {ids['ben']}
    page.get_by_role('combobox', name='What they show').select_option('neither name nor text')
    ben.ask('send', conversation='trip', texts=['look, @ann'])
    found = wait('a mention is told', lambda: shown(page).get(ids['trip']))
    assert (found['title'], found['body']) == ('Parley', 'New message')
    # Mentions and what is written to oneself, and nothing else.
    ann.ask('mute', conversation='trip', on=False)
    show(page, 'trip')
    wait('it is taken back', lambda: ids['trip'] not in shown(page))
    at(page, 'settings')
    page.get_by_role('combobox', name='What notifies you').select_option('mentions, and direct messages')
    show(page, 'ben')
    wait('all is read', lambda: shown(page) == {})
    at(page, 'settings')
    ben.ask('send', conversation='trip', texts=['of no one'])
    ben.ask('send', conversation='ann', texts=['of you'])
    wait('it is told', lambda: set(shown(page)) == {ids['ben']})
    press(page, 'Turn notifications off')
    show(page, 'ben')
    at(page, 'settings')
    press(page, 'Turn notifications on')
    expect(page.get_by_role('combobox', name='What they show')).to_have_value('nothing')


def test_what_rings_and_what_was_not_sent_is_told(told):
    ann, _, page, ids = told
    at(page, 'settings')
    press(page, 'Turn notifications on')
    expect(page.get_by_text('While this page is open')).to_be_visible()
    ann.ask('remind', text='the <b>stove</b>', time=soon(1))
    club = ann.ask('newConversation', name='club', members=[])['id']
    ann.ask('schedule', conversation=club, text='good morning', time=soon(2))
    ann.ask('leave', conversation=club, anyway=True)

    def of(title):
        return next((each for each in shown(page).values() if each['title'] == title), None)

    found = wait('it rings', lambda: of('Reminder'))
    assert (found['body'], found['data']) == ('the <b>stove</b>', '#/reminders')
    found = wait('it was not sent', lambda: of('Could not be sent'))
    assert (found['body'], found['data']) == ('good morning', '#/scheduled')
    # Reading something else takes neither back.
    show(page, 'ben')
    assert of('Reminder') and of('Could not be sent')


def test_attack_343_nothing_is_told_of_who_is_blocked(told):
    ann, ben, page, ids = told
    at(page, 'settings')
    press(page, 'Turn notifications on')
    expect(page.get_by_text('While this page is open')).to_be_visible()
    ben.ask('send', conversation='trip', texts=['before that'])
    wait('it is told', lambda: ids['trip'] in shown(page))
    ann.ask('markRead', conversation='trip', messages=[each['id'] for each in ann.ask('messages', conversation='trip', limit=20)['messages']])
    wait('it is taken back', lambda: shown(page) == {})
    ann.ask('decide', person=ann.ask('contacts')[0]['person'], decision='block')
    ben.ask('send', conversation='trip', texts=['are you there, @ann?'])
    wait('it is here', lambda: ann.ask('messages', conversation='trip', limit=20)['messages'][-1]['isHidden'])
    # Longer than what comes is collected for.
    page.wait_for_timeout(3000)
    assert shown(page) == {}
