// Emojis to choose from, by what they are called; whoever has another one types it.
import { h, hint } from "./dom.js";
import { openDialog } from "./views.js";
import { t } from "./words.js";

/** Those that are chosen most often first. */
const all = `👍 thumbs up yes|❤️ heart love|😂 laughing tears|😮 surprised wow|😢 sad cry|🙏 please thanks pray|🎉 party|✅ done check yes|👎 thumbs down no|😀 grin|😊 smile happy|😉 wink|😍 heart eyes|😘 kiss|😎 cool|🤔 thinking|🥺 pleading|😭 sobbing|😡 angry|🤯 mind blown|😅 sweat relief|😴 sleep tired|🤗 hug|🤝 deal|👏 clap|🙌 raised hands|👌 ok fine|✌️ peace|🤞 fingers crossed luck|💪 strong|👋 wave hello bye|👀 eyes look|💡 idea|🔥 fire|✨ sparkles new|⭐ star|💯 hundred|❌ cross no|❓ question|❗ important|⚠️ warning|⏳ wait|📝 note|🚀 rocket|🐛 bug|🔒 lock|🔑 key|🎂 cake birthday|🎁 gift|🍻 beer cheers|☕ coffee|🌞 sun|🌈 rainbow|🌱 plant|🐶 dog|🐱 cat|✈️ plane|🏠 home|⚽ ball|🎵 music|💔 broken heart`
  .split("|").map((each) => [each.slice(0, each.indexOf(" ")), each.slice(each.indexOf(" ") + 1)]);

/** Asks for an emoji; null where none was chosen. `label` says what choosing one does. */
export function pickEmoji(title, label) {
  return new Promise((resolve) => {
    const choose = (emoji) => (resolve(emoji), element.close());
    const option = ([emoji, name]) => h("button", { tabindex: "-1", "aria-label": label(emoji), title: name, onclick: () => choose(emoji) }, emoji);
    const list = h("div.emojis", { role: "group", "aria-label": title, onkeydown: gridKey });
    const draw = () => {
      const words = find.value.trim().toLocaleLowerCase();
      const named = all.filter(([emoji, name]) => name.includes(words) || emoji === words);
      const own = words && !named.some(([emoji]) => emoji === words) && /[^\u0000-\u02ff]/.test(words) ? [[find.value.trim(), t("emoji.own")]] : [];
      const found = [...own, ...named];
      list.replaceChildren(...(found.length ? found.map(option) : [hint(t("emoji.none"))]));
      list.querySelector("button")?.setAttribute("tabindex", "0");
    };
    const find = h("input", {
      type: "search", class: "filter", "aria-label": t("emoji.find"), placeholder: t("emoji.find"), autocomplete: "off",
      // Where a keyboard would come up from below, what is chosen most often stays in sight.
      autofocus: matchMedia("(pointer: fine)").matches, oninput: () => draw(),
      onkeydown: (event) => {
        const first = list.querySelector("button");
        if (event.key === "Enter" && first && !event.isComposing) event.preventDefault(), first.click();
        else if (event.key === "ArrowDown") event.preventDefault(), first?.focus();
      },
    });
    draw();
    const element = openDialog(title, find, list);
    element.addEventListener("click", (event) => event.target === element && element.close());
    element.addEventListener("close", () => resolve(null));
  });
}

function gridKey(event) {
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const here = buttons.indexOf(document.activeElement);
  const columns = Math.max(1, buttons.findIndex((each) => each.offsetTop > buttons[0].offsetTop));
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, Home: -here, End: buttons.length - 1 - here }[event.key];
  if (step === undefined || here < 0) return;
  event.preventDefault();
  const next = buttons[here + step];
  if (next) next.focus();
  else if (event.key === "ArrowUp") event.currentTarget.closest("dialog").querySelector("input").focus();
}
