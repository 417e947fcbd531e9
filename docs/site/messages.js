"use strict";
// Finds the rows of the manual that fit a message, pasted whole: its words, weighed by how rare they
// are in the manual, first those that a row quotes. Nothing leaves the browser.
const MOST_ROWS = 5;

// Words of a text, without addresses, paths and numbers, which every message has of its own.
function wordsOf(text) {
  const plain = text.replace(/https?:\S+|0x[0-9a-f]+|(?:\/[\w.+-]+){2,}|__inference_\w+/gi, " ");
  const words = plain.match(/[A-Za-z_]\w*/g) || [];
  return words.filter((word) => word.length > 1).map((word) => word.toLowerCase());
}

function pairsOf(words) {
  return words.slice(1).map((word, at) => `${words[at]} ${word}`);
}

// rows: [{title, quotes, text}]. Returns a function from a message to [{row, score}], best first.
// A field counts the less the longer it is, and prose the least.
function finder(rows) {
  const fields = rows.map((row) => {
    const [title, quoted] = [row.title, row.quotes].map(wordsOf);
    return [
      { words: new Set([...title, ...pairsOf(title)]), spare: 2, power: 0.5 },
      { words: new Set([...quoted, ...pairsOf(quoted)]), spare: 4, power: 0.5 },
      { words: new Set(wordsOf(row.text)), spare: 20, power: 0.3 },
    ];
  });
  const common = new Map();
  for (const parts of fields) {
    const all = new Set(parts.flatMap((part) => [...part.words]));
    for (const word of all) common.set(word, (common.get(word) || 0) + 1);
  }
  const rarity = (word) => Math.log(1 + rows.length / common.get(word)) ** 2;
  return (message) => {
    const words = wordsOf(message);
    const asked = [...new Set([...words, ...pairsOf(words)])].filter((word) => common.has(word));
    const fit = ({ words: own, spare, power }) =>
      asked.reduce((sum, word) => sum + (own.has(word) ? rarity(word) : 0), 0) / (spare + own.size) ** power;
    const scored = rows.map((row, at) => ({ row, score: fields[at].reduce((sum, part) => sum + fit(part), 0) }));
    return scored.filter((one) => one.score > 0).sort((a, b) => b.score - a.score);
  };
}

// The rows of the manual: sections with a heading of the third rank.
function rowsOf(manual) {
  const text = (parts) => [...parts].map((part) => part.textContent).join("\n");
  return [...manual.querySelectorAll("section:has(> h3)")].map((section) => ({
    id: section.id,
    title: section.querySelector("h3").textContent.replace(/[¶#]$/, ""),
    quotes: text(section.querySelectorAll("blockquote")),
    text: text(section.querySelectorAll(":scope > p, :scope > ul, :scope > ol, :scope > table, :scope > div > table")),
  }));
}

async function manualOf(root) {
  const page = await (await fetch(`${root}docs/messages.html`)).text();
  return new DOMParser().parseFromString(page, "text/html");
}

// The box stands on the manual, on the first page, and where one searches.
function addBox() {
  const root = document.documentElement.dataset.content_root || "./";
  const here = document.getElementById("by-message-and-by-symptom");
  const next = here ? here.querySelector("h1 + *")
    : document.querySelector(".try + *, #search-results");
  if (!next) return;
  const form = document.createElement("form");
  form.className = "pasted";
  form.innerHTML = `<label for="pasted">Paste your error message, all of it: this finds its row in the
    manual. It stays in your browser.</label><textarea id="pasted" rows="3"></textarea>
    <ol aria-live="polite"></ol>`;
  const [given, list] = [form.querySelector("textarea"), form.querySelector("ol")];
  let finding; // made, and the manual fetched, at the first letter alone
  given.addEventListener("input", async () => {
    finding ??= Promise.resolve(here || manualOf(root)).then((manual) => finder(rowsOf(manual)));
    const found = (await finding)(given.value).slice(0, MOST_ROWS);
    list.replaceChildren(...found.map(({ row }) => {
      const [item, link] = [document.createElement("li"), document.createElement("a")];
      link.href = `${here ? "" : `${root}docs/messages.html`}#${row.id}`;
      link.textContent = row.title;
      item.append(link);
      return item;
    }));
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  next.before(form);
}

document.addEventListener("DOMContentLoaded", addBox);
