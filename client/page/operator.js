// The operator's page: what GET /v1/pool and its events say, every two seconds. The key stays in memory.
import { ServerError, refusalOf } from "../navtalk/refusal.js";
import { byId, make } from "./elements.js";
import { PoolPlot } from "./pool_plot.js";
import { followTheme } from "./theme.js";

const PAUSE_MS = 2000;
const COST_PAUSE_MS = 60000;
const MOST_EVENTS = 200;

const money = (value) => value.toFixed(2);
const plot = new PoolPlot(byId("plot"), [["slots", "--line-strong", "area"], ["sessions", "--accent"], ["waiting", "--alarm", "dashes"]]);
const costPlot = new PoolPlot(byId("cost-plot"), [["usd_per_hour", "--accent"]], { least: 0.01, text: money });
let key = "";
let lastEvent = 0;
let shownGpus = "";
let costAt = 0;
let signIns = 0; // the number of the loop that runs

class KeyRefused extends Error {}

async function ask(path, method = "GET") {
  const answer = await fetch(path, { method, headers: { Authorization: `Bearer ${key}` } });
  if (answer.ok) return answer.json();
  const refusal = await refusalOf(answer);
  throw answer.status === 401 || answer.status === 403 ? new KeyRefused(`The gateway refuses this key: ${refusal.message}.`) : refusal;
}

const problemOf = (error) =>
  error instanceof KeyRefused ? error.message : error instanceof ServerError ? `The gateway has a problem: ${error.message}` : "The gateway does not answer";

// With the date, where that is another day.
function clock(time) {
  const at = new Date(time), hour = at.toLocaleTimeString();
  return at.toDateString() === new Date().toDateString() ? hour : `${at.toLocaleDateString()} ${hour}`;
}

// "gateway vm:4fd0:1" names the gateway and its process: the table shows "gateway vm".
function whoOf(who) {
  return make("span", { title: who }, who.split(/[:/]/, 1)[0]);
}
const GIB = 2 ** 30;
const row = (...cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell)));

function tile(name, value, unit = "") {
  return make("div", {}, make("dt", {}, name), make("dd", {}, value, make("small", {}, unit)));
}

function showTotals(totals) {
  byId("tiles").replaceChildren(
    tile("GPUs", String(totals.gpus)),
    tile("Sessions", String(totals.sessions), ` of ${totals.slots} slots`),
    tile("Waiting", String(totals.waiting)),
    tile("Cost", money(totals.usd_per_hour), " $ an hour"),
    tile("Last day", money(totals.usd_last_day), " $"),
  );
  const problems = [
    totals.stale ? "the scaler is late" : "",
    totals.creation_paused ?? "",
    totals.outages.length > 0 ? `outage: ${totals.outages.join(", ")}` : "",
    totals.sessions_break.length > 0 ? `sessions break: ${totals.sessions_break.join(", ")}` : "",
  ].filter(Boolean);
  say(problems.length > 0 ? problems.join("; ") : "Up to date", problems.length > 0 ? "alarm" : "live");
}

// Memory, load and temperature, where the worker tells them: a CPU's does not, nor one that is away.
function useOf(gpu) {
  const known = (value, text) => (value === null || value === undefined ? "–" : text(value));
  return [
    known(gpu?.vram_total, (total) => `${(gpu.vram_used / GIB).toFixed(1)} of ${(total / GIB).toFixed(1)} GiB`),
    known(gpu?.util, (util) => `${Math.round(100 * util)} %`),
    known(gpu?.temperature_c, (celsius) => `${celsius} °C`),
  ];
}

async function act(gpu, action, button) {
  button.disabled = true;
  byId("action-problem").textContent = "";
  try {
    await ask(`/v1/pool/gpus/${encodeURIComponent(gpu.id)}/${action}`, "POST");
    await refresh();
  } catch (error) {
    if (error instanceof KeyRefused) return askForKey(error.message);
    byId("action-problem").textContent = `${gpu.id}: ${error.message}`;
    button.disabled = false;
  }
}

// Ends its sessions after a notice and takes no new ones, or undoes that.
function actionsOf(gpu) {
  const action = gpu.draining ? "undrain" : ["idle", "running"].includes(gpu.state) ? "drain" : null;
  if (!action) return "";
  const text = action === "drain" ? "Drain" : "Undo drain";
  const button = make("button", { className: "quiet small", type: "button", "aria-label": `${text} ${gpu.id}`, "data-action": `${gpu.id} ${action}` }, text);
  button.addEventListener("click", () => act(gpu, action, button));
  return button;
}

function showGpus(gpus) {
  if (JSON.stringify(gpus) === shownGpus) return; // a button that is being pressed stays
  shownGpus = JSON.stringify(gpus);
  const focused = document.activeElement?.dataset?.action?.split(" ")[0];
  const state = (gpu) => {
    const text = gpu.draining ? `${gpu.state}, draining` : gpu.state;
    return make("span", { className: "state", "data-state": gpu.state }, text);
  };
  byId("gpus").replaceChildren(...gpus.map((gpu) => row(
    gpu.id, gpu.provider, state(gpu), `${gpu.sessions} of ${gpu.slots}`, ...useOf(gpu.gpu),
    money(gpu.usd_per_hour), clock(gpu.since), gpu.last_error ?? "", actionsOf(gpu))));
  if (focused) byId("gpus").querySelector(`[data-action^="${CSS.escape(focused)} "]`)?.focus();
}

function showEvents(events) {
  const body = byId("events");
  // Two answers may tell of one event: a button asks beside the loop.
  for (const event of [...events].filter(({ number }) => number > lastEvent).sort((a, b) => a.number - b.number)) {
    lastEvent = Math.max(lastEvent, event.number);
    const change = event.from === event.to ? event.to ?? "" : `${event.from ?? "–"} → ${event.to ?? "removed"}`;
    body.prepend(row(clock(event.at), event.gpu, change, event.why, whoOf(event.who)));
    for (const one of [plot, costPlot]) one.event(Date.parse(event.at));
  }
  while (body.children.length > MOST_EVENTS) body.lastChild.remove();
}

// Days of the last week, and what is spent of the budgets.
function showCost(cost) {
  const nothing = make("tr", {}, make("td", { colSpan: 7 }, "Nothing was used in these days."));
  byId("cost").replaceChildren(...cost.days.length === 0 ? [nothing] : [...cost.days].reverse().map((day) => row(
    day.day, day.provider, day.gpu_hours.toFixed(1), money(day.usd), String(day.sessions),
    day.session_hours.toFixed(1), money(day.used_usd))));
  byId("budgets").textContent = cost.budgets.map((budget) =>
    `${budget.name}: ${money(budget.spent_usd)} of ${money(budget.budget_usd)} $ spent`).join("; ");
}

function say(text, tone) {
  const status = byId("status");
  status.hidden = false;
  if (status.textContent !== text) status.textContent = text;
  status.dataset.tone = tone;
}

async function refresh() {
  const [pool, latest] = await Promise.all([ask("/v1/pool"), ask(`/v1/pool/events?after=${lastEvent}&limit=${MOST_EVENTS}`)]);
  showTotals(pool.totals);
  showGpus(pool.gpus);
  showEvents(latest.events);
  for (const one of [plot, costPlot]) one.add(Date.now(), pool.totals);
  if (Date.now() - costAt >= COST_PAUSE_MS) {
    showCost(await ask("/v1/pool/cost?days=7"));
    costAt = Date.now();
  }
}

// Until the key is refused, or somebody signs in anew.
async function watch() {
  const own = ++signIns;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (own !== signIns) return;
    try {
      await refresh();
    } catch (error) {
      if (own !== signIns) return;
      if (error instanceof KeyRefused) return askForKey(error.message);
      say(`${problemOf(error)}; trying again`, "alarm");
    }
  }
}

// The key was taken back, or has expired. The pool is not shown to whoever stands there now.
function askForKey(problem) {
  key = "";
  signIns += 1;
  byId("status").hidden = true;
  byId("pool").hidden = true;
  byId("sign-in").hidden = false;
  byId("problem").textContent = problem;
  byId("key").focus();
}

byId("sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  key = byId("key").value.trim();
  try {
    await refresh();
  } catch (error) {
    byId("problem").textContent = error instanceof TypeError ? `${problemOf(error)}. Check that navtalk serve is running.` : problemOf(error);
    return;
  }
  byId("key").value = "";
  byId("problem").textContent = "";
  byId("sign-in").hidden = true;
  byId("pool").hidden = false;
  for (const one of [plot, costPlot]) one.draw();
  watch();
});

followTheme();
