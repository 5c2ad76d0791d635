"use strict";
// What a page can do beyond being read: copy a command; zoom a diagram, show some lanes or one znode, go from event to
// event. Everything is on the page already, and nothing is fetched. Tests read `zoocheck` and dispatch keys.
const numbers = (text) => (text ? text.split(" ").map(Number) : []);
const set = (node, values) => Object.entries(values).forEach(([name, value]) => node.setAttribute(name, value));

class Diagram {
  constructor(figure) {
    const all = (selector) => [...figure.querySelectorAll(selector)];
    Object.assign(this, { figure, pane: figure.querySelector(".pane"), body: figure.querySelector("svg.body") });
    Object.assign(this, { head: figure.querySelector("svg.head"), said: figure.querySelector(".said") });
    this.height = Number(this.body.dataset.height);
    this.gutter = Number(this.body.dataset.gutter);
    this.items = all("svg .a, svg .b, svg .p, svg .band[data-y], svg .tick").map((node) => ({
      node, kind: node.classList[0], y: numbers(node.dataset.y), lanes: numbers(node.dataset.l), znodes: numbers(node.dataset.z),
    }));
    this.lanes = all("svg.body .lane");
    this.names = all("svg.head .name");
    this.words = all("ol.words li").map((node) => ({ node, lanes: numbers(node.dataset.l), znodes: numbers(node.dataset.z) }));
    this.points = this.items.filter((item) => item.kind === "p");
    this.why = this.points.filter(({ node }) => node.matches(".cause"));
    this.times = this.words.map(({ node }) => node.querySelector(".t").textContent);
    this.cursor = figure.querySelector(".band.cursor");
    this.at = -1;
    this.longest = 0;
    this.select = figure.querySelector("select[data-znode]");
    this.boxes = all("input[data-kind]");
    // It opens with the lines that say why.
    this.folded = this.why.length > 1;
    this.reset();
    this.listen(all);
    this.lay();
    // Without them it opens at its end, where something broke.
    if (!this.folded) this.pane.scrollTop = this.pane.scrollHeight;
    new ResizeObserver(() => this.lay()).observe(this.pane);
    // The words begin where the first line stands that says why.
    const told = figure.querySelector(".told"), first = this.words.find(({ node }) => node.matches(".cause"))?.node;
    told.addEventListener("toggle", () => { if (first) first.parentElement.scrollTop = first.offsetTop - first.parentElement.offsetTop; });
    told.open = this.pane.clientWidth < 700;
  }

  listen(all) {
    const deeds = { in: () => this.scale(1.4), out: () => this.scale(1 / 1.4), whole: () => this.whole(), broken: () => this.broken(), why: () => this.fold(!this.folded) };
    all("button[data-do]").forEach((button) => button.addEventListener("click", deeds[button.dataset.do]));
    this.buttons = all("button[data-lane]");
    this.buttons.forEach((button, lane) => button.addEventListener("click", () => {
      if (!this.focused.delete(lane)) this.focused.add(lane);
      this.lay();
    }));
    this.boxes.forEach((box) => box.addEventListener("change", () => {
      if (box.checked) this.kinds.delete(box.dataset.kind); else this.kinds.add(box.dataset.kind);
      this.lay();
    }));
    this.select.addEventListener("change", () => {
      this.znode = this.select.value;
      // A znode, and what is below it.
      const path = this.select.selectedOptions[0].textContent, below = path === "/" ? "/" : `${path}/`;
      const is = ({ value, textContent: other }) => value !== "" && (other === path || other.startsWith(below));
      this.chosen = new Set([...this.select.options].filter(is).map(({ value }) => Number(value)));
      this.lay();
    });
    const keys = { "+": deeds.in, "=": deeds.in, "-": deeds.out, 0: deeds.whole, n: () => this.go(1), p: () => this.go(-1), b: deeds.broken, w: deeds.why, Enter: () => this.next(), Escape: () => this.choose(-1) };
    this.pane.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    this.body.addEventListener("click", (event) => {
      const group = event.target.closest(".p");
      if (group) this.choose(this.points.findIndex((point) => point.node === group), false);
      else this.tells(this.under(event), true);
    });
    this.body.addEventListener("pointermove", (event) => this.tells(this.under(event), false));
  }

  // The bar that is pointed at, or the arrow that is not more than six pixels away.
  under(event) {
    const box = this.body.getBoundingClientRect(), [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [found, least] = [event.target.closest(".b"), 6];
    for (const { node, kind, off } of this.items) {
      if (kind !== "a" || off) continue;
      const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((name) => node[name].baseVal.value);
      const along = Math.min(1, Math.max(0, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / ((x2 - x1) ** 2 + (y2 - y1) ** 2 || 1)));
      const away = Math.hypot(x - x1 - along * (x2 - x1), y - y1 - along * (y2 - y1));
      if (away < least) [found, least] = [node, away];
    }
    return found;
  }

  tells(node, leaves) {
    if (leaves && node) this.choose(-1);
    if (this.at >= 0) return;
    this.lit?.classList.remove("on");
    this.lit = node;
    node?.classList.add("on");
    if (node) this.said.textContent = node.querySelector("title").textContent;
  }

  scale(factor) {
    const middle = (this.pane.scrollTop + this.pane.clientHeight / 2) / this.body.clientHeight;
    this.zoom = Math.min(8, Math.max(0.25, this.zoom * factor));
    this.lay();
    this.pane.scrollTop = middle * this.body.clientHeight - this.pane.clientHeight / 2;
  }

  // Only the lines that say why, and what goes to them and from them; or the whole.
  fold(folded) {
    this.folded = folded && this.why.length > 1;
    this.lay();
    this.pane.scrollTop = this.folded ? 0 : (this.why[0]?.top ?? Infinity) - 50;
  }

  whole() {
    this.reset();
    this.choose(-1);
    this.lay();
  }

  // As it was at first: messages between servers are many, and seldom matter.
  reset() {
    this.zoom = 1;
    this.znode = this.select.value = "";
    this.focused = new Set();
    this.boxes.forEach((box) => { box.checked = box.defaultChecked; });
    this.kinds = new Set(this.boxes.filter((box) => !box.checked).map((box) => box.dataset.kind));
  }

  next() {
    const is = (point) => point.node.matches(".cause") && !point.off;
    const next = this.points.findIndex((point, nth) => nth > this.at && is(point));
    const nth = next >= 0 ? next : this.points.findIndex(is);
    if (nth >= 0) this.choose(nth);
  }

  broken() {
    const nth = this.points.findLastIndex((point) => point.node.matches(".broken, .expected, .undecided") && !point.off);
    if (nth >= 0) this.choose(nth);
  }

  go(by) {
    const from = this.at < 0 && by < 0 ? this.points.length : this.at;
    for (let nth = from + by; nth >= 0 && nth < this.points.length; nth += by) {
      if (!this.points[nth].off) return this.choose(nth);
    }
  }

  choose(nth, moves = true) {
    if (this.at >= 0) {
      this.points[this.at].node.classList.remove("on");
    }
    this.at = nth;
    if (nth < 0) {
      this.said.textContent = "";
      this.cursor.setAttribute("y", -40);
      return;
    }
    const { node, top } = this.points[nth];
    node.classList.add("on");
    this.cursor.setAttribute("y", top - 9);
    this.said.textContent = [...this.words[nth].node.children].map((part) => part.textContent).join(" ");
    if (moves) this.pane.scrollTop = top - this.pane.clientHeight / 2;
  }

  // A message is near a line if it begins or ends there, a few rows above at most.
  isWhy(item) {
    if (item.kind === "b") return true;
    if (item.kind !== "a") return item.node.matches(".cause");
    const near = (line, end) => line.lanes.includes(item.lanes[end]) && item.y[end] <= line.y[0] && item.y[end] > line.y[0] - 40;
    return this.why.some((line) => near(line, 0) || near(line, 1));
  }

  shows(item) {
    if (item.kind === "tick") return !this.folded;
    if (this.folded && !this.isWhy(item)) return false;
    const some = this.focused.size === 0 || item.lanes.length === 0 || item.lanes.some((lane) => this.focused.has(lane));
    const ever = item.kind === "b" || item.node.matches(".fault, .broken, .expected, .undecided, .cause, .band");
    const here = this.znode === "" || item.znodes.some((znode) => this.chosen.has(znode)) || (ever && item.znodes.length === 0);
    return some && here && !(item.kind === "a" && this.kinds.has(item.node.classList[1]));
  }

  // Rows that nothing is left in close up; the columns share the room there is.
  lay() {
    const width = this.pane.clientWidth, wide = width >= 700;
    const gutter = wide ? this.gutter : 58;
    // What is not displayed has no length yet.
    if (wide && this.longest === 0) this.longest = Math.max(0, ...this.points.map((point) => point.node.querySelector(".w").getComputedTextLength()));
    const room = (wide ? width - this.longest - 28 : width - 6) - gutter;
    const each = Math.min(wide ? 96 : 140, Math.max(wide ? 44 : 30, room / this.lanes.length));
    const x = this.lanes.map((_, nth) => gutter + each * (nth + 0.5));
    const words = gutter + each * this.lanes.length + 12;
    this.room = Math.max(360, width - 28 - words);
    const shown = this.items.filter((item) => { item.off = !this.shows(item); item.node.classList.toggle("off", item.off); return !item.off; });
    const y = this.rows(shown.filter((item) => item.kind !== "tick" && !(this.folded && item.kind === "b")), wide);
    const least = shown.filter((item) => item.kind === "p" && item.node.matches(".broken, .expected, .undecided")).map((item) => y(item.y[0]));
    let last = -100;
    for (const item of shown) {
      const [top, end] = item.y.map(y);
      item.top = top;
      if (item.kind === "tick") {
        // That of a break stands in any case.
        const crowded = top < last + 24 || least.some((of) => of > top && of < top + 18);
        const off = crowded && !least.includes(top);
        item.node.classList.toggle("off", off);
        if (!off) last = top;
        set(item.node, { x: gutter - 8, y: top + 4 });
      } else if (item.kind === "band") set(item.node, { y: top - 9, height: this.folded && !wide ? 36 : 18 });
      else if (item.kind === "p") this.point(item, top, x, words, wide);
      else if (item.kind === "b") set(item.node, { x: x[item.lanes[0]] - item.node.width.baseVal.value / 2, y: top, height: Math.max(3, end - top) });
      else {
        // What does not arrive ends before the lane that it goes to, and at no other.
        const [from, to] = item.lanes.map((lane) => x[lane]), short = item.node.classList.contains("short");
        set(item.node, { x1: from, y1: top, x2: short ? to - Math.sign(to - from) * each / 2 : to, y2: end });
      }
    }
    const height = y(this.height);
    this.lanes.forEach((line, nth) => set(line, { x1: x[nth], x2: x[nth], y2: height }));
    this.names.forEach((name, nth) => set(name, { x: x[nth] }));
    this.figure.querySelector("[data-do=why]").setAttribute("aria-pressed", String(this.folded));
    this.buttons.forEach((button, nth) => button.setAttribute("aria-pressed", String(this.focused.has(nth))));
    const right = Math.max(width - 16, wide ? words + Math.min(this.longest, this.room) + 12 : words);
    set(this.body, { width: right, height });
    set(this.head, { width: right });
    this.figure.querySelectorAll(".band").forEach((band) => set(band, { width: right }));
    this.words.forEach((word) => word.node.classList.toggle("off", !this.shows({ ...word, kind: "p" })));
    if (this.at >= 0) this.cursor.setAttribute("y", this.points[this.at].off ? -40 : this.points[this.at].top - 9);
  }

  point(item, top, x, words, wide) {
    set(item.node, { transform: `translate(0,${top})` });
    const text = item.node.querySelector(".w");
    item.node.querySelectorAll(".dot").forEach((dot, nth) => {
      const lane = item.lanes[nth];
      set(dot, dot.tagName === "circle" ? { cx: x[lane] } : { transform: `translate(${x[lane]},0)` });
    });
    // Folded, there is room for words on a phone as well, below their line.
    text.classList.toggle("off", !wide && !this.folded);
    set(text, { x: wide ? words : 6, y: wide ? 4 : 20 });
    this.fit(item, text, wide ? this.room : this.pane.clientWidth - 14);
  }

  // As much of the words as there is room for.
  fit(item, text, room) {
    item.words ??= text.textContent;
    const words = this.folded ? `${this.times[this.points.indexOf(item)]}  ${item.words}` : item.words;
    text.textContent = words;
    const long = text.getComputedTextLength();
    for (let most = Math.floor((words.length * room) / long); most > 1 && most < words.length && text.getComputedTextLength() > room; most -= 1) {
      text.textContent = `${words.slice(0, most).trimEnd()}…`;
    }
  }

  rows(items, wide) {
    const used = [...new Set(items.flatMap((item) => item.y))].sort((one, other) => one - other);
    const to = new Map();
    // Folded, a line has the room that its words take.
    const lines = new Set(this.folded ? items.filter((item) => item.kind === "p").map((item) => item.y[0]) : []);
    let [at, before, free] = [16, used[0] ?? 0, 0];
    for (const y of used) {
      at += Math.min(30, y - before) * this.zoom;
      if (lines.has(y)) {
        at = Math.max(at, free);
        free = at + (wide ? 20 : 40) * this.zoom;
      }
      before = y;
      to.set(y, at);
    }
    const end = Math.max(at, free) + 24;
    return (y) => {
      if (to.has(y)) return to.get(y);
      let low = 16;
      for (const one of used) { if (one > y) break; low = to.get(one); }
      return y >= this.height ? end : low;
    };
  }
}

const zoocheck = { diagrams: [] };
const drawn = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
  drawn.unobserve(entry.target);
  zoocheck.diagrams.push(new Diagram(entry.target));
}), { rootMargin: "600px" });
document.querySelectorAll("figure.diagram").forEach((figure) => drawn.observe(figure));
document.querySelectorAll("button[data-copy]").forEach((button) => button.addEventListener("click", async () => {
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    // A page from a disk may not write there in every browser: then it is selected, and copied the old way.
    getSelection().selectAllChildren(code);
    document.execCommand("copy");
  }
  button.textContent = "copied";
  setTimeout(() => { button.textContent = "copy"; }, 1500);
}));
