#include "CPage.h"

// Source: C23, 6.10.4, "Binary resource inclusion". The compiler notes what it read, so that a file that
// changed is read again.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define HTML "text/html; charset=utf-8"
#define CSS "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define SVG "image/svg+xml"
#define MANIFEST "application/manifest+json"

static const unsigned char index_html[] = {
#embed "files/index.html"
};
static const unsigned char style_css[] = {
#embed "files/style.css"
};
static const unsigned char icon_svg[] = {
#embed "files/icon.svg"
};
static const unsigned char manifest[] = {
#embed "files/page.webmanifest"
};
static const unsigned char app_js[] = {
#embed "files/app.js"
};
static const unsigned char api_js[] = {
#embed "files/api.js"
};
static const unsigned char store_js[] = {
#embed "files/store.js"
};
static const unsigned char dom_js[] = {
#embed "files/dom.js"
};
static const unsigned char words_js[] = {
#embed "files/words.js"
};
static const unsigned char list_js[] = {
#embed "files/list.js"
};
static const unsigned char timeline_js[] = {
#embed "files/timeline.js"
};
static const unsigned char message_js[] = {
#embed "files/message.js"
};
static const unsigned char composer_js[] = {
#embed "files/composer.js"
};
static const unsigned char markdown_js[] = {
#embed "files/markdown.js"
};
static const unsigned char views_js[] = {
#embed "files/views.js"
};
static const unsigned char codes_js[] = {
#embed "files/codes.js"
};
static const unsigned char people_js[] = {
#embed "files/people.js"
};
static const unsigned char pictures_js[] = {
#embed "files/pictures.js"
};
static const unsigned char groups_js[] = {
#embed "files/groups.js"
};
static const unsigned char settings_js[] = {
#embed "files/settings.js"
};
static const unsigned char polls_js[] = {
#embed "files/polls.js"
};
static const unsigned char later_css[] = {
#embed "files/later.css"
};
static const unsigned char views_css[] = {
#embed "files/views.css"
};
static const unsigned char files_css[] = {
#embed "files/files.css"
};
static const unsigned char upload_js[] = {
#embed "files/upload.js"
};
static const unsigned char attach_js[] = {
#embed "files/attach.js"
};
static const unsigned char files_js[] = {
#embed "files/files.js"
};
static const unsigned char viewer_js[] = {
#embed "files/viewer.js"
};
static const unsigned char voice_js[] = {
#embed "files/voice.js"
};
static const unsigned char menu_js[] = {
#embed "files/menu.js"
};
static const unsigned char emoji_js[] = {
#embed "files/emoji.js"
};
static const unsigned char search_js[] = {
#embed "files/search.js"
};
static const unsigned char menu_css[] = {
#embed "files/menu.css"
};
static const unsigned char search_css[] = {
#embed "files/search.css"
};
static const unsigned char thread_js[] = {
#embed "files/thread.js"
};
static const unsigned char mentions_js[] = {
#embed "files/mentions.js"
};
static const unsigned char marked_js[] = {
#embed "files/marked.js"
};
static const unsigned char thread_css[] = {
#embed "files/thread.css"
};
static const unsigned char about_js[] = {
#embed "files/about.js"
};
static const unsigned char head_js[] = {
#embed "files/head.js"
};
static const unsigned char recorder_js[] = {
#embed "files/recorder.js"
};
static const unsigned char threads_js[] = {
#embed "files/threads.js"
};
static const unsigned char waiting_js[] = {
#embed "files/waiting.js"
};
static const unsigned char callmedia_js[] = {
#embed "files/callmedia.js"
};
static const unsigned char calls_css[] = {
#embed "files/calls.css"
};
static const unsigned char gallery_js[] = {
#embed "files/gallery.js"
};
static const unsigned char callover_js[] = {
#embed "files/callover.js"
};
static const unsigned char calls_js[] = {
#embed "files/calls.js"
};
static const unsigned char callwatch_js[] = {
#embed "files/callwatch.js"
};
static const unsigned char lobby_js[] = {
#embed "files/lobby.js"
};
static const unsigned char ringing_svg[] = {
#embed "files/ringing.svg"
};
static const unsigned char en_later_js[] = {
#embed "files/en-later.js"
};
static const unsigned char en_js[] = {
#embed "files/en.js"
};
static const unsigned char de_later_js[] = {
#embed "files/de-later.js"
};
static const unsigned char de_js[] = {
#embed "files/de.js"
};
static const unsigned char es_later_js[] = {
#embed "files/es-later.js"
};
static const unsigned char es_js[] = {
#embed "files/es.js"
};
static const unsigned char choice_js[] = {
#embed "files/choice.js"
};
static const unsigned char theme_js[] = {
#embed "files/theme.js"
};
static const unsigned char here_js[] = {
#embed "files/here.js"
};
static const unsigned char sw_js[] = {
#embed "files/sw.js"
};
static const unsigned char keep_js[] = {
#embed "files/keep.js"
};
static const unsigned char outbox_js[] = {
#embed "files/outbox.js"
};
static const unsigned char badge_js[] = {
#embed "files/badge.js"
};
static const unsigned char notify_js[] = {
#embed "files/notify.js"
};
static const unsigned char agenda_js[] = {
#embed "files/agenda.js"
};
static const unsigned char when_js[] = {
#embed "files/when.js"
};
static const unsigned char scheduled_js[] = {
#embed "files/scheduled.js"
};
static const unsigned char view_js[] = {
#embed "files/view.js"
};
static const unsigned char begin_js[] = {
#embed "files/begin.js"
};
static const unsigned char assistant_js[] = {
#embed "files/assistant.js"
};
static const unsigned char reminders_js[] = {
#embed "files/reminders.js"
};
static const unsigned char together_js[] = {
#embed "files/together.js"
};
static const unsigned char decisions_js[] = {
#embed "files/decisions.js"
};
static const unsigned char notes_js[] = {
#embed "files/notes.js"
};
static const unsigned char weave_js[] = {
#embed "files/weave.js"
};
static const unsigned char chatmenu_js[] = {
#embed "files/chatmenu.js"
};
static const unsigned char popup_js[] = {
#embed "files/popup.js"
};
static const unsigned char keys_js[] = {
#embed "files/keys.js"
};
static const unsigned char called_js[] = {
#embed "files/called.js"
};
static const unsigned char mask_svg[] = {
#embed "files/mask.svg"
};

#define FILE_OF(path, type, bytes) {path, type, bytes, sizeof(bytes)}

static const struct parley_page_file files[] = {
    FILE_OF("/", HTML, index_html),
    FILE_OF("/style.css", CSS, style_css),
    FILE_OF("/icon.svg", SVG, icon_svg),
    FILE_OF("/page.webmanifest", MANIFEST, manifest),
    FILE_OF("/app.js", SCRIPT, app_js),
    FILE_OF("/api.js", SCRIPT, api_js),
    FILE_OF("/store.js", SCRIPT, store_js),
    FILE_OF("/dom.js", SCRIPT, dom_js),
    FILE_OF("/words.js", SCRIPT, words_js),
    FILE_OF("/list.js", SCRIPT, list_js),
    FILE_OF("/timeline.js", SCRIPT, timeline_js),
    FILE_OF("/message.js", SCRIPT, message_js),
    FILE_OF("/composer.js", SCRIPT, composer_js),
    FILE_OF("/markdown.js", SCRIPT, markdown_js),
    FILE_OF("/views.js", SCRIPT, views_js),
    FILE_OF("/codes.js", SCRIPT, codes_js),
    FILE_OF("/people.js", SCRIPT, people_js),
    FILE_OF("/pictures.js", SCRIPT, pictures_js),
    FILE_OF("/groups.js", SCRIPT, groups_js),
    FILE_OF("/settings.js", SCRIPT, settings_js),
    FILE_OF("/polls.js", SCRIPT, polls_js),
    FILE_OF("/later.css", CSS, later_css),
    FILE_OF("/views.css", CSS, views_css),
    FILE_OF("/files.css", CSS, files_css),
    FILE_OF("/upload.js", SCRIPT, upload_js),
    FILE_OF("/attach.js", SCRIPT, attach_js),
    FILE_OF("/files.js", SCRIPT, files_js),
    FILE_OF("/viewer.js", SCRIPT, viewer_js),
    FILE_OF("/voice.js", SCRIPT, voice_js),
    FILE_OF("/search.css", CSS, search_css),
    FILE_OF("/menu.css", CSS, menu_css),
    FILE_OF("/search.js", SCRIPT, search_js),
    FILE_OF("/emoji.js", SCRIPT, emoji_js),
    FILE_OF("/menu.js", SCRIPT, menu_js),
    FILE_OF("/thread.js", SCRIPT, thread_js),
    FILE_OF("/mentions.js", SCRIPT, mentions_js),
    FILE_OF("/marked.js", SCRIPT, marked_js),
    FILE_OF("/thread.css", CSS, thread_css),
    FILE_OF("/about.js", SCRIPT, about_js),
    FILE_OF("/head.js", SCRIPT, head_js),
    FILE_OF("/recorder.js", SCRIPT, recorder_js),
    FILE_OF("/threads.js", SCRIPT, threads_js),
    FILE_OF("/waiting.js", SCRIPT, waiting_js),
    FILE_OF("/callmedia.js", SCRIPT, callmedia_js),
    FILE_OF("/calls.css", CSS, calls_css),
    FILE_OF("/gallery.js", SCRIPT, gallery_js),
    FILE_OF("/callover.js", SCRIPT, callover_js),
    FILE_OF("/calls.js", SCRIPT, calls_js),
    FILE_OF("/callwatch.js", SCRIPT, callwatch_js),
    FILE_OF("/lobby.js", SCRIPT, lobby_js),
    FILE_OF("/ringing.svg", SVG, ringing_svg),
    FILE_OF("/en-later.js", SCRIPT, en_later_js),
    FILE_OF("/en.js", SCRIPT, en_js),
    FILE_OF("/de-later.js", SCRIPT, de_later_js),
    FILE_OF("/de.js", SCRIPT, de_js),
    FILE_OF("/es-later.js", SCRIPT, es_later_js),
    FILE_OF("/es.js", SCRIPT, es_js),
    FILE_OF("/choice.js", SCRIPT, choice_js),
    FILE_OF("/theme.js", SCRIPT, theme_js),
    FILE_OF("/here.js", SCRIPT, here_js),
    FILE_OF("/sw.js", SCRIPT, sw_js),
    FILE_OF("/keep.js", SCRIPT, keep_js),
    FILE_OF("/outbox.js", SCRIPT, outbox_js),
    FILE_OF("/badge.js", SCRIPT, badge_js),
    FILE_OF("/notify.js", SCRIPT, notify_js),
    FILE_OF("/agenda.js", SCRIPT, agenda_js),
    FILE_OF("/when.js", SCRIPT, when_js),
    FILE_OF("/scheduled.js", SCRIPT, scheduled_js),
    FILE_OF("/reminders.js", SCRIPT, reminders_js),
    FILE_OF("/view.js", SCRIPT, view_js),
    FILE_OF("/begin.js", SCRIPT, begin_js),
    FILE_OF("/assistant.js", SCRIPT, assistant_js),
    FILE_OF("/together.js", SCRIPT, together_js),
    FILE_OF("/decisions.js", SCRIPT, decisions_js),
    FILE_OF("/notes.js", SCRIPT, notes_js),
    FILE_OF("/weave.js", SCRIPT, weave_js),
    FILE_OF("/chatmenu.js", SCRIPT, chatmenu_js),
    FILE_OF("/popup.js", SCRIPT, popup_js),
    FILE_OF("/keys.js", SCRIPT, keys_js),
    FILE_OF("/called.js", SCRIPT, called_js),
    FILE_OF("/mask.svg", SVG, mask_svg),
};

const struct parley_page_file *parley_page_file_at(size_t index) {
    return index < sizeof(files) / sizeof(files[0]) ? &files[index] : 0;
}
