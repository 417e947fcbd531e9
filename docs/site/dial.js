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

// Whether XLA leads in every process, in none, or in some: then no difference is seen.
function agreed(plan, processes) {
  const gains = processes.map((one) => gainOf(one, plan.calls));
  return !gains.length || Math.min(...gains) > 1 || Math.max(...gains) < 1;
}

function verdict(plan, processes) {
  const saved = plan.graph - plan.xla, gain = gainOf(plan, plan.calls), count = Math.round(plan.calls);
  const all = `${count === 1 ? "One call takes" : `All ${many(count)} calls take`} ` +
    `${words(plan.calls * plan.graph)} in the graph, ` +
    `and ${words(plan.compile + plan.calls * plan.xla)} with XLA, which is ${times(gain)}.`;
  if (!agreed(plan, processes)) return ["No difference is seen.", `${all} In some processes XLA is faster, in others the graph.`];
  if (saved <= 0) return ["Keep the graph.", `${all} No number of calls repays it.`];
  const needed = Math.ceil(plan.compile / saved);
  return [plan.calls > needed ? "XLA pays." : "Keep the graph.",
    `${all} It repays its compilation after ${many(needed)} calls.`];
}

// The gain of all calls over their number: a line for each process, a thick one for their median.
const LOW = Math.log(1 / 50), HIGH = Math.log(10), MOST = Math.log(1e7);

function draw(plan, processes) {
  const x = (calls) => 60 + 560 * Math.log(calls) / MOST;
  const y = (gain) => 210 - 200 * (Math.min(Math.max(Math.log(gain), LOW), HIGH) - LOW) / (HIGH - LOW);
  const line = (one, kind) => {
    const points = Array.from({ length: 57 }, (_, at) => Math.exp(MOST * at / 56));
    return `<path class="${kind}" d="M${points.map((n) => `${x(n).toFixed(1)},${y(gainOf(one, n)).toFixed(1)}`).join("L")}"/>`;
  };
  const marks = [1 / 20, 1 / 5, 1, 2, 5].map((gain) => {
    const name = gain === 1 ? "same" : `${gain < 1 ? 1 / gain : gain}x`;
    return `<path class="tick" d="M60,${y(gain)} H620"/><text x="30" y="${y(gain) + 5}">${name}</text>`;
  });
  const counts = [1, 100, 10000, 1000000].map((n) => `<text x="${x(n)}" y="230">${many(n)}</text>`);
  const gain = gainOf(plan, plan.calls), beyond = Math.log(gain) < LOW ? "↓" : Math.log(gain) > HIGH ? "↑" : "";
  return `<svg viewBox="0 0 660 250" role="img" aria-label="${times(gain)}">` +
    `<rect x="60" y="10" width="560" height="${y(1) - 10}" class="pays"/>${marks.join("")}${counts.join("")}` +
    `${processes.map((one) => line(one, "process")).join("")}${line(plan, "curve")}` +
    `<circle cx="${x(plan.calls)}" cy="${y(gain)}" r="7" class="now"/>` +
    `<text x="${x(plan.calls) + 16}" y="${y(gain) + 5}">${beyond}</text>` +
    `<text x="150" y="28">faster than the graph</text><text x="340" y="248">calls</text></svg>`;
}

function startDial(dial, races) {
  const field = (name) => dial.querySelector(`[name=${name}]`);
  const choice = field("race");
  let processes = [];
  races.forEach((race, place) => choice.add(new Option(race.name, place)));
  choice.add(new Option("my own numbers", ""));
  const plan = () => Object.fromEntries(FIELDS.map((name) => [name, 10 ** field(name).value]));
  const show = () => {
    const now = plan(), [head, sums] = verdict(now, processes);
    dial.querySelector(".picture").innerHTML = draw(now, processes);
    dial.querySelector(".head").textContent = head;
    dial.querySelector(".sums").textContent = sums;
    FIELDS.forEach((name) => {
      const said = name === "calls" ? many(now.calls) : words(now[name]);
      dial.querySelector(`output[for=dial-${name}]`).textContent = said;
      field(name).setAttribute("aria-valuetext", said);
    });
    dial.querySelector(".lines").hidden = !processes.length;
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
