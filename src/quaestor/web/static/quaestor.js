// Niceties only: every page works without this file.

// A form that counts is sent once; the second click of a double click does nothing.
for (const form of document.querySelectorAll("form[data-once]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
addEventListener("pageshow", (event) => {
  if (event.persisted) for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// Digits choose an option; Enter sends the form, as everywhere.
addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input:not([type=radio], [type=checkbox]), textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
  const option = document.querySelectorAll(".options input")[Number(event.key) - 1];
  if (option) { option.click(); option.focus(); }
});
for (const box of document.querySelectorAll(".options input")) {
  box.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); box.form.requestSubmit(); } });
}

// The clock: the server says what is left when the page is made; at the end the page asks the server.
for (const clock of document.querySelectorAll("[data-seconds]")) {
  const end = performance.now() + 1000 * Number(clock.dataset.seconds);
  const show = clock.querySelector("[data-show]");
  const tick = () => {
    const left = Math.max(0, Math.round((end - performance.now()) / 1000));
    show.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    clock.classList.toggle("short", left < 60);
    if (left === 0) { clearInterval(timer); location.reload(); }
  };
  const timer = setInterval(tick, 1000);
  tick();
}

// The server was busy: the page sends the same form again by itself.
for (const form of document.querySelectorAll("form[data-again]")) setTimeout(() => form.requestSubmit(), 1000 * Number(form.dataset.again));

// The desk: opening times are entered and shown in the reader's own time zone; the server keeps UTC.
for (const zone of document.querySelectorAll("[data-zone]")) zone.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const offset of document.querySelectorAll("[data-offset]")) {
  const field = document.getElementById(offset.dataset.offset);
  offset.form.addEventListener("submit", () => { offset.value = field.value ? new Date(field.value).getTimezoneOffset() : ""; });
}
for (const time of document.querySelectorAll("time[data-local]")) {
  time.textContent = new Date(time.dateTime).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
}
for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
for (const field of document.querySelectorAll("[data-select]")) field.addEventListener("focus", () => field.select());
