// The figures of a session, on demand, four times a second.
import { byId, make } from "./elements.js";

const POINTS = 240; // of the plot: a minute

const text = (value, unit, digits = 0) => (value === null || value === undefined ? "–" : `${value.toFixed(digits)}${unit}`);

function rows(facts) {
  const { pictures, video } = facts;
  return [
    ["Latency", text(facts.latency.median, " ms")],
    ["95 % below", text(facts.latency.p95, " ms")],
    ["Shown", text(facts.fps, " fps", 1)],
    ["Tier", text(facts.tier, " fps")],
    ["Drift", text(facts.drift, " ms")],
    ["Buffer", text(facts.delay, " ms")],
    ["Late", String(pictures.late)],
    ["Lost", String(pictures.lost)],
    ["Rate", text(facts.kbitPerS / 1000, " Mbit/s", 2)],
    ["Size", video ? `${video.width}×${video.height}` : "–"],
  ];
}

export class StatisticsPanel {
  constructor() {
    this.panel = byId("statistics");
    this.button = byId("statistics-button");
    this.plot = byId("plot");
    this.history = [];
    this.button.addEventListener("click", () => this.toggle());
  }

  toggle(shown = this.panel.hidden) {
    this.panel.hidden = !shown;
    this.button.setAttribute("aria-pressed", String(shown));
    if (shown) this.#update();
  }

  follow(session) {
    this.session = session;
    this.history = [];
    clearInterval(this.timer);
    if (session) this.timer = setInterval(() => this.#update(), 250);
    else this.toggle(false);
    this.button.hidden = !session;
  }

  #update() {
    if (!this.session) return;
    const facts = this.session.statistics();
    this.history.push(facts.latency.median);
    if (this.history.length > POINTS) this.history.shift();
    if (this.panel.hidden) return;
    byId("figures").replaceChildren(...rows(facts).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
    this.#draw();
  }

  #draw() {
    const { width, height } = this.plot;
    const context = this.plot.getContext("2d");
    const style = getComputedStyle(this.plot);
    context.clearRect(0, 0, width, height);
    const known = this.history.filter((value) => value !== null);
    byId("plot-hint").textContent = known.length > 0 ? "Latency of the microphone in the last minute; the line is at 200 ms." : "Latency is measured while the microphone sends.";
    const most = Math.max(300, ...known);
    context.strokeStyle = style.getPropertyValue("--line-strong");
    context.beginPath();
    context.moveTo(0, height * (1 - 200 / most));
    context.lineTo(width, height * (1 - 200 / most));
    context.stroke();
    context.strokeStyle = style.getPropertyValue("--accent");
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.beginPath();
    this.history.forEach((value, i) => {
      if (value === null) return;
      const x = width - ((this.history.length - 1 - i) * width) / (POINTS - 1);
      context.lineTo(x, 2 + (height - 4) * (1 - value / most));
    });
    context.stroke();
  }
}
