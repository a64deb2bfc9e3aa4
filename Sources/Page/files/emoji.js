// Emojis to choose from, by what they are called; whoever has another one types it.
import { h } from "./dom.js";
import { openDialog } from "./views.js";
import { t } from "./words.js";

const quick = ["👍", "❤️", "😂", "😮", "😢", "🙏", "🎉", "✅"];
const all = `👍 thumbs up yes|👎 thumbs down no|❤️ heart love|😂 laughing tears|🤣 rolling laughing|😀 grin happy|😊 smile blush|🙂 slight smile|😉 wink|😍 heart eyes love|😘 kiss|🥰 hearts loved|😎 sunglasses cool|🤔 thinking|🤨 eyebrow doubt|😐 neutral|🙄 rolling eyes|😏 smirk|😮 surprised wow|😲 astonished|😳 flushed|🥺 pleading|😢 sad cry|😭 sobbing cry|😡 angry|🤯 mind blown|😱 scream fear|😅 sweat relief|😴 sleep tired|🤒 ill fever|🤗 hug|🤭 oops|🤫 quiet hush|🤝 handshake deal|👏 clap applause|🙌 raised hands|🙏 please thanks pray|👌 ok fine|✌️ peace victory|🤞 fingers crossed luck|💪 strong muscle|👋 wave hello bye|👀 eyes look|🧠 brain|💡 idea light|🔥 fire hot|✨ sparkles new|⭐ star|💯 hundred|✅ done check yes|❌ cross no wrong|❓ question|❗ important|⚠️ warning|⏳ wait hourglass|⏰ clock alarm|📌 pin|📎 clip|📝 note write|📅 date calendar|📦 parcel|🚀 rocket launch|🐛 bug|🔧 tool fix|🔒 lock secret|🔑 key|🎉 party tada|🎂 cake birthday|🎁 present gift|🥳 celebrate|🍻 beer cheers|🥂 toast cheers|☕ coffee|🍕 pizza food|🍎 apple fruit|🌞 sun|🌧️ rain|❄️ snow cold|🌈 rainbow|🌱 plant grow|🌹 rose flower|🐶 dog|🐱 cat|🐢 turtle slow|🚗 car|🚲 bicycle|🚆 train|✈️ plane travel|🏠 home house|⚽ ball football|🎵 music|📷 camera photo|💔 broken heart|💚 green heart|💙 blue heart|💜 purple heart`
  .split("|").map((each) => [each.slice(0, each.indexOf(" ")), each.slice(each.indexOf(" ") + 1)]);

/** Asks for an emoji; null where none was chosen. `label` says what choosing one does. */
export function pickEmoji(title, label) {
  return new Promise((resolve) => {
    const choose = (emoji) => (resolve(emoji), element.close());
    const option = ([emoji, name]) => h("button", { type: "button", tabindex: "-1", "aria-label": label(emoji), title: name, onclick: () => choose(emoji) }, emoji);
    const list = h("div", { class: "emojis", role: "group", "aria-label": title, onkeydown: gridKey });
    const draw = () => {
      const words = find.value.trim().toLocaleLowerCase();
      const named = words ? all.filter(([emoji, name]) => name.split(" ").some((each) => each.startsWith(words)) || name.includes(words) || emoji === words)
        : [...quick.map((emoji) => all.find((each) => each[0] === emoji)), ...all.filter((each) => !quick.includes(each[0]))];
      const own = words && !named.some(([emoji]) => emoji === words) && /[^\u0000-\u02ff]/.test(words) ? [[find.value.trim(), t("emoji.own")]] : [];
      const found = [...own, ...named];
      list.replaceChildren(...(found.length ? found.map(option) : [h("p", { class: "hint" }, t("emoji.none"))]));
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
    element.classList.add("picker");
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
