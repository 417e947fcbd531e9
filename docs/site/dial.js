"use strict";
// The break-even dial: after how many calls has a compilation paid? Times are in seconds.
const FIELDS = ["compile", "graph", "xla", "calls"];

function words(seconds) {
  const units = [[86400, "days"], [3600, "h"], [60, "min"], [1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
  const [size, unit] = units.find(([least]) => seconds >= least) ?? units[units.length - 1];
  return `${Number((seconds / size).toPrecision(3))} ${unit}`;
}

const many = (count) => Math.round(count).toLocaleString("en");

function times(gain) {
  const by = Math.max(gain, 1 / gain);
  return by < 1.005 ? "as fast as the graph" : `${by.toFixed(2)}x ${gain > 1 ? "faster" : "slower"}`;
}

// How many times faster all calls are, the compilation included.
const gainOf = ({ compile, graph, xla }, calls) => (calls * graph) / (compile + calls * xla);

function verdict(plan) {
  const saved = plan.graph - plan.xla, gain = gainOf(plan, plan.calls);
  const all = `All ${many(plan.calls)} calls take ${words(plan.calls * plan.graph)} in the graph, ` +
    `and ${words(plan.compile + plan.calls * plan.xla)} with XLA, which is ${times(gain)}.`;
  if (saved <= 0) return ["Keep the graph.", `${all} No number of calls repays it.`];
  const needed = Math.ceil(plan.compile / saved);
  return [plan.calls > needed ? "XLA pays." : "Keep the graph.",
    `${all} It repays its compilation after ${many(needed)} calls.`];
}

function draw(plan, processes) {
  const left = 40, right = 600, low = Math.log(1 / 20), high = Math.log(8);
  const place = (gain) =>
    left + (right - left) * (Math.min(Math.max(Math.log(gain), low), high) - low) / (high - low);
  const marks = [1 / 20, 1 / 5, 1 / 2, 1, 2, 5].map((x) => {
    const name = x === 1 ? "same" : `${x < 1 ? 1 / x : x}x`;
    return `<line x1="${place(x)}" x2="${place(x)}" y1="8" y2="52" class="tick"/>` +
      `<text x="${place(x)}" y="70">${name}</text>`;
  });
  const dots = processes.map((one) =>
    `<circle cx="${place(gainOf(one, plan.calls))}" cy="30" r="5" class="dot"/>`);
  const x = place(gainOf(plan, plan.calls));
  return `<svg viewBox="0 0 640 92" role="img" aria-label="${times(gainOf(plan, plan.calls))}">` +
    `<rect x="${place(1)}" y="8" width="${right - place(1)}" height="44" class="pays"/>` +
    `${marks.join("")}${dots.join("")}<path d="M${x},4 V56" class="needle"/>` +
    `<text x="${place(1 / 5)}" y="88">← slower</text><text x="${place(2.5)}" y="88">faster →</text></svg>`;
}

function startDial(dial, races) {
  const field = (name) => dial.querySelector(`[name=${name}]`);
  const choice = field("race");
  let processes = [];
  races.forEach((race, place) => choice.add(new Option(race.name, place)));
  choice.add(new Option("my own numbers", ""));
  const plan = () => Object.fromEntries(FIELDS.map((name) => [name, 10 ** field(name).value]));
  const show = () => {
    const now = plan(), [head, sums] = verdict(now);
    dial.querySelector(".picture").innerHTML = draw(now, processes);
    dial.querySelector(".head").textContent = head;
    dial.querySelector(".sums").textContent = sums;
    FIELDS.forEach((name) => {
      const said = name === "calls" ? many(now.calls) : words(now[name]);
      dial.querySelector(`output[for=dial-${name}]`).textContent = said;
      field(name).setAttribute("aria-valuetext", said);
    });
    dial.querySelector(".dots").hidden = !processes.length;
  };
  const choose = () => {
    const race = races[choice.value];
    processes = race ? race.processes : [];
    if (race) ["compile", "graph", "xla"].forEach((name) => {
      field(name).value = Math.log10(race[name]);
    });
    show();
  };
  choice.addEventListener("change", choose);
  FIELDS.forEach((name) => field(name).addEventListener("input", () => {
    if (name !== "calls") [choice.value, processes] = ["", []];
    show();
  }));
  choose();
}

bringToLife("dial", startDial);
