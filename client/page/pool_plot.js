// Figures of the pool over time, such as sessions or cost, with a mark for each event.

const MOST = 1800; // an hour
const MARGIN = { left: 36, right: 8, top: 8, bottom: 24 };

export class PoolPlot {
  /** `lines`: [name of a figure, colour's property, "area" or "dashes" where it is no plain line]; of one unit, the later ones on top. `least`: what the axis shows at least; `text`: of its numbers. */
  constructor(canvas, lines, { least = 1, text = String } = {}) {
    this.canvas = canvas;
    this.lines = lines;
    this.least = least;
    this.text = text;
    this.points = []; // {at, and each figure}
    this.events = [];
  }

  add(at, figures) {
    this.points.push({ at, ...Object.fromEntries(this.lines.map(([name]) => [name, figures[name]])) });
    if (this.points.length > MOST) this.points.shift();
    this.draw();
  }

  event(at) {
    this.events.push(at);
    if (this.events.length > MOST) this.events.shift();
  }

  draw() {
    if (this.points.length === 0) return;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0) return;
    this.canvas.width = Math.round(width * devicePixelRatio);
    this.canvas.height = Math.round(height * devicePixelRatio);
    const context = this.canvas.getContext("2d");
    context.scale(devicePixelRatio, devicePixelRatio);
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(name);
    const first = this.points[0].at, last = Math.max(this.points.at(-1).at, first + 60000);
    const most = Math.max(this.least, ...this.points.flatMap((point) => this.lines.map(([name]) => point[name])));
    const x = (at) => MARGIN.left + ((at - first) / (last - first)) * (width - MARGIN.left - MARGIN.right);
    const y = (value) => height - MARGIN.bottom - (value / most) * (height - MARGIN.top - MARGIN.bottom);
    context.font = `12px ${style.fontFamily}`;
    context.fillStyle = colour("--muted");
    context.fillText(this.text(most), 0, y(most) + 4);
    context.fillText("0", 0, y(0) + 4);
    for (const at of [first, (first + last) / 2, last]) {
      context.textAlign = at === first ? "left" : at === last ? "right" : "center";
      context.fillText(new Date(at).toLocaleTimeString(), x(at), height - 4);
    }
    context.textAlign = "left";
    context.strokeStyle = colour("--line");
    context.lineWidth = 1;
    for (const value of [0, most]) {
      context.beginPath();
      context.moveTo(MARGIN.left, y(value));
      context.lineTo(width - MARGIN.right, y(value));
      context.stroke();
    }
    context.strokeStyle = colour("--line-strong");
    for (const at of this.events.filter((one) => one >= first)) {
      context.beginPath();
      context.moveTo(x(at), y(0));
      context.lineTo(x(at), y(0) - 10);
      context.stroke();
    }
    context.lineWidth = 2;
    context.lineJoin = "round";
    for (const [name, accent, kind] of this.lines) {
      context.strokeStyle = colour(accent);
      context.setLineDash(kind === "dashes" ? [6, 4] : []);
      context.beginPath();
      let before = null;
      for (const point of this.points) {
        if (before !== null) context.lineTo(x(point.at), y(before)); // figures change in steps
        context.lineTo(x(point.at), y(point[name]));
        before = point[name];
      }
      context.stroke();
      if (kind !== "area") continue;
      context.lineTo(x(this.points.at(-1).at), y(0));
      context.lineTo(x(first), y(0));
      context.fillStyle = colour("--line");
      context.globalAlpha = 0.5;
      context.fill();
      context.globalAlpha = 1;
    }
  }
}
