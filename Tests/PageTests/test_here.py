"""What holds for a browser alone: the language and the look of the page."""
import pathlib
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from test_page import rows, show, write
from test_people import at

FILES = pathlib.Path(__file__).parents[2] / 'Sources/Page/files'
WORDS = """async (names) => Object.fromEntries(await Promise.all(names.map(
    async (name) => [name, Object.fromEntries(Object.entries((await import(new URL(`${name}.js`, document.querySelector('script[type=module]').src))).default)
        .flatMap(([part, words]) => Object.entries(words).map(([key, text]) => [`${part}.${key}`, text])))])))"""


def modules(name, found):
    """The modules that come with one, by what they import."""
    if name not in found:
        found[name] = (FILES / name).read_text()
        for other in re.findall(r'^(?:import|export)\b[^"\n]*"\./([\w.-]+)"', found[name], re.M):
            modules(other, found)
    return found


@pytest.mark.parametrize('part', ['', '-later'])
def test_all_languages_say_the_same(ann, visit, part):
    words = visit(ann).evaluate(WORDS, [language + part for language in ('en', 'de', 'es')])
    english = words.pop('en' + part)
    braces = {key: sorted(re.findall(r'\{\w+\}', text)) for key, text in english.items()}
    for language, other in words.items():
        assert list(other) == list(english), f'{language}: {set(other) ^ set(english)}'
        assert {key: sorted(re.findall(r'\{\w+\}', text)) for key, text in other.items()} == braces, language
        same = [key for key, text in other.items() if text == english[key] and re.search(r'[a-z]{3,} [a-z]{3,}', text)]
        assert all(text.strip() for text in other.values()) and same == [], (language, same)
    # What has a form for one has one for others.
    assert [key for key in english if key.endswith('.one') and key.removesuffix('.one') not in english] == []


def test_what_the_page_says_is_there_to_be_said(ann, visit):
    words = visit(ann).evaluate(WORDS, ['en', 'en-later'])
    assert set(words['en']) & set(words['en-later']) == set()
    said = {path.name: set(re.findall(r'\b(?:t|told)\("([^"]+)"[,)]', path.read_text())) for path in FILES.glob('*.js')}
    every = set().union(*said.values())
    assert len(every) > 300 and every - set(words['en']) - set(words['en-later']) == set()
    # What the first view says comes with it: it waits for no other words.
    at_first = modules('app.js', {})
    assert 'timeline.js' in at_first and 'settings.js' not in at_first
    named = {text for module in at_first.values() for text in re.findall(r'"([\w.-]+)"', module)}
    assert named & set(words['en-later']) == set()


def test_the_page_speaks_the_language_of_its_person(ann, visit):
    page = visit(ann, locale='de-AT')
    field = page.get_by_role('navigation').get_by_role('link', name='notes')
    field.click()
    field = page.get_by_role('textbox', name='Nachricht an notes')
    write(page, field, 'servus')
    weekday = page.evaluate("new Intl.DateTimeFormat('de-AT', { weekday: 'long' }).format()")
    expect(rows(page)).to_contain_text(weekday)
    assert page.evaluate('[document.documentElement.lang, document.documentElement.dir]') == ['de', 'ltr']
    field.fill('ein halber Satz')
    at(page, 'settings')
    page.get_by_role('combobox', name='Sprache').select_option('Español')
    expect(page.get_by_role('heading', name='Ajustes')).to_be_visible()
    assert page.evaluate('document.documentElement.lang') == 'es'
    page.get_by_role('link', name='notes').click()
    expect(page.get_by_role('textbox', name='Mensaje para notes')).to_have_value('ein halber Satz')
    page.reload()
    expect(page.get_by_role('navigation', name='Conversaciones')).to_be_visible()
    at(page, 'settings')
    page.get_by_role('combobox', name='Idioma').select_option('')
    expect(page.get_by_role('heading', name='Einstellungen')).to_be_visible()
    # A language that there is not is English; of several, the first that there is.
    expect(visit(ann, locale='fi-FI').get_by_role('navigation', name='Conversations')).to_be_visible()


LIGHTNESS = """() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.includes('oklch')
    ? Array(3).fill(255 * getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/)[0]) : getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);
    return r + g + b > 384; }"""


def test_a_theme_is_chosen_and_stays(ann, visit):
    page = at(visit(ann, color_scheme='dark'), 'settings')
    look = page.get_by_role('combobox', name='Appearance')
    assert page.evaluate(LIGHTNESS) is False
    look.select_option('Light')
    assert page.evaluate(LIGHTNESS) is True
    page.reload()
    expect(look).to_have_value('light')
    assert page.evaluate(LIGHTNESS) is True
    look.select_option('As the system')
    assert page.evaluate(LIGHTNESS) is False
    page.emulate_media(color_scheme='light')
    assert page.evaluate(LIGHTNESS) is True
    look.select_option('Dark')
    assert page.evaluate(LIGHTNESS) is False


@pytest.mark.parametrize('locale', ['de-DE', 'es-ES'])
def test_other_languages_have_room(pair, visit, locale):
    ann, _ = pair
    talk = ann.ask('conversations')[0]['id']
    ann.ask('newConversation', name='trip', members=['ben'])
    trip = next(each['id'] for each in ann.ask('conversations') if each['name'] == 'trip')
    ann.ask('send', conversation='ben', texts=['one', 'two'])
    page = visit(ann, locale=locale, viewport={'width': 320, 'height': 640}, color_scheme='dark')
    for view in ['', f'c/{talk}', 'people', 'me', 'meet', 'waiting', 'group', f'g/{trip}', 'stars', f'threads/{talk}', f'together/{talk}',
                 'devices', 'relays', 'settings', 'status']:
        at(page, view)
        expect(page.locator('[aria-busy]')).to_have_count(0)
        assert page.evaluate("""() => [document.documentElement, ...document.querySelectorAll('.parts, nav, .pane > header, .scroller')]
            .every((each) => each.scrollWidth <= each.clientWidth)"""), view
    found = Axe().run(at(page, 'settings'))
    assert found.violations_count == 0, found.generate_report()
