// Niceties only: every page works without this file.

// A form that counts is sent once; the second click of a double click does nothing.
for (const form of document.querySelectorAll("form[data-once]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  if (document.querySelector("[data-fresh]")) location.reload(); // a taker who is done on this device leaves no page behind
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// Digits choose an option; Enter sends the form, as everywhere.
addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input:not([type=radio], [type=checkbox]), textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
  const option = document.querySelectorAll("form.question .options input")[Number(event.key) - 1];
  if (option) { option.click(); option.focus(); }
});
for (const box of document.querySelectorAll("form.question .options input")) {
  box.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); box.form.requestSubmit(); } });
}

// Items in an order: a place that another one has is exchanged with it.
for (const list of document.querySelectorAll("[data-places]")) {
  const places = [...list.querySelectorAll("select")], before = new Map(places.map((place) => [place, place.value]));
  list.addEventListener("change", ({ target }) => {
    const other = places.find((place) => place !== target && place.value && place.value === target.value);
    if (other) before.set(other, other.value = before.get(target));
    before.set(target, target.value);
  });
}

// The clock: the server says what is left when it makes the page. Shortly before the end what is filled in is sent by itself, so that it
// counts; after the end the page asks the server. A form that came back with what is wrong with it is not sent again as it is.
const filledIn = (field) => /radio|checkbox/.test(field.type)
  ? field.checked && !field.defaultChecked
  : field.value.trim() && field.value !== field.defaultValue;
for (const clock of document.querySelectorAll("[data-left]")) {
  const sending = 1500, patience = 300, longest = 10000;
  const made = performance.getEntriesByType("navigation")[0]?.responseStart ?? 0;
  const end = Date.now() - performance.now() + made + Number(clock.dataset.left);
  const show = clock.querySelector("[data-show]"), hint = document.querySelector("[data-last-minute]");
  const form = document.querySelector("form.question"), entries = [...form.querySelectorAll("[name=entry], [name=part], [name=place]")];
  const tick = () => {
    const left = end - Date.now(), seconds = Math.max(0, Math.ceil(left / 1000));
    show.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    clock.classList.toggle("short", seconds < 60);
    hint.hidden = seconds > 60;
    if (left < sending && left > 0 && !form.dataset.sent && entries.some(filledIn)) form.requestSubmit();
    if (left < -(form.dataset.sent ? longest : patience)) { clearInterval(timer); location.replace(clock.dataset.page); }
  };
  const timer = setInterval(tick, 250);
  tick();
}

// The server was busy: the page sends the same form again by itself.
for (const form of document.querySelectorAll("form[data-again]")) setTimeout(() => form.requestSubmit(), 1000 * Number(form.dataset.again));

// Teachers: opening times are entered and shown in the reader's own time zone; the server keeps UTC.
for (const zone of document.querySelectorAll("[data-zone]")) zone.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const offset of document.querySelectorAll("[data-offset]")) {
  const field = document.getElementById(offset.dataset.offset);
  offset.form.addEventListener("submit", () => { offset.value = field.value ? new Date(field.value).getTimezoneOffset() : ""; });
}
for (const time of document.querySelectorAll("time[data-local]")) {
  const here = document.documentElement.lang; // as this reader's part of the world writes it
  const tongue = navigator.languages.find((one) => one.startsWith(here)) ?? here;
  time.textContent = new Date(time.dateTime).toLocaleString(tongue, { dateStyle: "medium", timeStyle: "short" });
}
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
for (const field of document.querySelectorAll("[data-select]")) field.addEventListener("focus", () => field.select());

// The live view of a class: the server tells when something changed (server-sent events); where that fails the page asks every 5 seconds.
for (const live of document.querySelectorAll("[data-events]")) {
  const aloud = document.querySelector("[data-live-said]");
  const mark = () => live.querySelector("[data-mark]")?.dataset.mark ?? "";
  let busy = false, again = false, asking = 0;
  const show = (html) => {
    const focused = live.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const left = live.querySelector(".scroll")?.scrollLeft ?? 0;
    live.innerHTML = html;
    const table = live.querySelector(".scroll");
    if (table) table.scrollLeft = left;
    if (focused) live.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    const said = live.querySelector("[data-said]")?.dataset.said ?? "";
    if (aloud.textContent !== said) aloud.textContent = said;
  };
  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const reply = await fetch(`${live.dataset.live}?mark=${mark()}`);
      if (reply.redirected || reply.status === 403 || reply.status === 404) location.reload();
      else if (reply.status === 200) show(await reply.text());
    } catch { /* the server is away for a moment: the next time */ }
    busy = false;
    if (again) { again = false; refresh(); }
  };
  const ask = (yes) => {
    if (yes && !asking) asking = setInterval(refresh, 5000);
    if (!yes && asking) { clearInterval(asking); asking = 0; }
  };
  if ("EventSource" in window) {
    const stream = new EventSource(`${live.dataset.events}?mark=${mark()}`);
    stream.addEventListener("changed", refresh);
    stream.addEventListener("open", () => ask(false));
    stream.addEventListener("error", () => ask(true));
    addEventListener("pagehide", () => stream.close());
    addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  } else ask(true);
}

// A trial under way: the bar moves; when it is over the page is made anew. After trouble it asks again, ever more slowly.
for (const trial of document.querySelectorAll("[data-progress]")) {
  const bar = trial.querySelector("progress"), share = trial.querySelector("[data-share]");
  let wait = 400;
  const ask = async () => {
    try {
      const answer = await fetch(trial.dataset.progress, { headers: { accept: "application/json" } });
      if (answer.redirected || (answer.status >= 400 && answer.status < 500)) return location.reload();
      const found = await answer.json();
      if (found.state === "done" || found.state === "failed") return location.reload();
      bar.value = found.share;
      share.textContent = new Intl.NumberFormat(document.documentElement.lang, { style: "percent" }).format(Math.floor(100 * found.share) / 100);
      wait = 400;
    } catch { wait = Math.min(2 * wait, 10000); }
    setTimeout(ask, wait);
  };
  setTimeout(ask, wait);
}
