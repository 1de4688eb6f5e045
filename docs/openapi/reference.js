// The search of the reference, its theme, and opening what a link leads to. Without scripts the page shows all.
const query = document.querySelector("#search");
const operations = [...document.querySelectorAll(".operation")].map((element) => ({
  element,
  entry: document.querySelector(`.contents a[href="#${CSS.escape(element.id)}"]`)?.parentElement,
  words: `${element.id} ${element.dataset.words}`.toLowerCase(),
}));
const nothing = document.querySelector(".nothing");

function filter() {
  const wanted = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { element, entry, words } of operations) {
    const fits = wanted.every((word) => words.includes(word));
    element.hidden = !fits;
    if (entry) entry.hidden = !fits;
    shown += fits;
  }
  for (const group of document.querySelectorAll("[data-group]")) {
    group.hidden = wanted.length > 0 && !group.querySelector(".operation:not([hidden]), li:not([hidden])");
  }
  document.querySelector("#introduction").hidden = wanted.length > 0;
  document.querySelector("#schemas").hidden = wanted.length > 0;
  nothing.hidden = shown > 0;
}
query.addEventListener("input", filter);
addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement;
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    query.focus();
  }
  if (event.key === "Escape" && typing) {
    query.value = "";
    filter();
    query.blur();
  }
});

// On a small screen the list of contents is long: it is folded until somebody wants it.
const contents = [...document.querySelectorAll(".contents details")];
const small = matchMedia("(max-width: 900px)");
const fold = () => contents.forEach((each) => (each.open = !small.matches));
small.addEventListener("change", fold);
fold();

// The choice is the console's.
const CHOICE = "penstock.theme";
const root = document.documentElement;
const button = document.querySelector("#theme");
const dark = matchMedia("(prefers-color-scheme: dark)");
const chosen = () => {
  const value = localStorage.getItem(CHOICE);
  return value === "light" || value === "dark" ? value : undefined;
};
function paint() {
  const theme = chosen() ?? (dark.matches ? "dark" : "light");
  root.dataset.theme = theme;
  const other = theme === "dark" ? "light" : "dark";
  button.textContent = other === "light" ? "☀ Light" : "☾ Dark";
  button.setAttribute("aria-label", `Switch to ${other}`);
}
button.hidden = false;
button.addEventListener("click", () => {
  localStorage.setItem(CHOICE, root.dataset.theme === "dark" ? "light" : "dark");
  paint();
});
dark.addEventListener("change", paint);
paint();

// The list of contents marks where one is.
function mark() {
  document.querySelector(".contents [aria-current]")?.removeAttribute("aria-current");
  if (location.hash.length < 2) return;
  const entry = document.querySelector(`.contents a[href="${CSS.escape(location.hash).replace("\\#", "#")}"]`);
  entry?.setAttribute("aria-current", "location");
}
mark();

// A link to something that the search hides shows all again.
addEventListener("hashchange", () => {
  mark();
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.closest("[hidden]")) {
    query.value = "";
    filter();
    target.scrollIntoView();
  }
});
