#include "report/html_parts.h"

namespace muster {

// A small plotting kit: scales, ticks, step lines, areas, a cursor with a tip. All text from the
// data goes through textContent, never through markup. Long: one literal.
std::string_view plot_script() {
  return R"js(
'use strict';
const SVG = 'http://www.w3.org/2000/svg';
function make(name, attributes, ...children) {
  const node = name.startsWith('svg:') ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  for (const child of children) node.append(child);
  return node;
}
const svg = (name, attributes, ...children) => make('svg:' + name, attributes, ...children);

const count = value => {
  if (!isFinite(value)) return 'n/a';
  const size = Math.abs(value);
  const digits = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toFixed(digits).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ',');
};
const percent = (value, digits) => (100 * value).toFixed(digits) + ' %';
const duration = seconds => {
  if (!isFinite(seconds)) return 'n/a';
  if (seconds < 0) return '-' + duration(-seconds);
  if (seconds === 0) return '0 s';
  if (seconds < 0.9995) return Number((seconds * 1e3).toPrecision(3)) + ' ms';
  if (seconds < 9.95) return Number(seconds.toPrecision(2)) + ' s';
  const spans = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  for (let i = 0; i + 1 < spans.length; ++i) {
    const small = spans[i + 1][0], rounded = Math.round(seconds / small) * small;
    if (rounded < spans[i][0]) continue;
    const whole = Math.floor(rounded / spans[i][0]), rest = Math.round((rounded - whole * spans[i][0]) / small);
    return count(whole) + ' ' + spans[i][1] + (rest === 0 || whole >= 100 ? '' : ' ' + rest + ' ' + spans[i + 1][1]);
  }
  return seconds.toFixed(0) + ' s';
};

const logTicks = [1e-3, 1e-2, 0.1, 1, 10, 60, 600, 3600, 36000, 86400, 864000, 8640000, 86400000, 864000000];
const timeSteps = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600,
  2592000, 5184000, 7776000, 15552000, 31536000, 63072000, 157680000, 315360000];
function timeTicks(from, to, most) {
  let step = timeSteps.find(s => (to - from) / s <= most) || (to - from) / most || 1;
  if (to - from < 2) step = (to - from) / most || 1;
  const ticks = [];
  for (let t = Math.ceil(from / step - 1e-9) * step; t <= to * (1 + 1e-9); t += step) ticks.push(t);
  return ticks;
}
// Round numbers from 0 to just above `value`, at most five of them.
function countTicks(value) {
  const rough = Math.max(value, 1) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 2.5, 5, 10].map(f => f * power).find(t => t >= rough));
  const ticks = [0];
  while (ticks[ticks.length - 1] < value) ticks.push(ticks[ticks.length - 1] + step);
  return ticks.length > 1 ? ticks : [0, step];
}

// Where a value lies on an axis. On a logarithmic one everything at or below `from` sits at its foot.
function scale(kind, from, to, start, end) {
  const log = kind === 'log';
  const a = log ? Math.log(from) : from, b = log ? Math.log(to) : to;
  const place = v => {
    const at = log ? (v <= from ? a : Math.log(v)) : v;
    return start + (b === a ? 0 : (at - a) / (b - a)) * (end - start);
  };
  place.back = pixel => {
    const at = a + Math.min(1, Math.max(0, (pixel - start) / (end - start))) * (b - a);
    return log ? Math.exp(at) : at;
  };
  return place;
}

const tip = document.querySelector('.tip');
function showTip(event, title, rows) {
  tip.replaceChildren(make('b', {}, title));
  const list = make('div');
  for (const row of rows) {
    const dot = make('i');
    dot.style.background = row.colour || 'none';
    list.append(dot, make('span', {}, row.name), make('span', {}, row.value));
  }
  if (rows.length) tip.append(list);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = event.clientX + 16 + box.width > innerWidth ? event.clientX - 16 - box.width : event.clientX + 16;
  const y = Math.min(Math.max(8, event.clientY - box.height / 2), innerHeight - box.height - 8);
  tip.style.transform = `translate(${Math.max(4, x)}px, ${y}px)`;
}
const hideTip = () => { tip.hidden = true; };

// An empty plot of the width that is there: svg, scales, grid and labels.
function frame(canvas, options) {
  const width = Math.max(260, Math.round(canvas.clientWidth)), height = options.height || 260;
  const margin = Object.assign({ top: 8, right: 10, bottom: 26, left: 44 }, options.margin);
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': options.label });
  root.append(svg('title', {}, options.label));
  const x = scale(options.x.kind, options.x.from, options.x.to, margin.left, width - margin.right);
  const y = scale('linear', options.y.from, options.y.to, height - margin.bottom, margin.top);
  for (const tick of options.y.ticks) {
    root.append(svg('line', { class: tick === options.y.from ? 'axis' : 'grid', x1: margin.left, x2: width - margin.right, y1: y(tick), y2: y(tick) }));
    root.append(svg('text', { x: margin.left - 8, y: y(tick) + 4, 'text-anchor': 'end' }, options.y.format(tick)));
  }
  let free = -Infinity;
  for (const tick of options.x.ticks) {
    const at = x(tick), text = options.x.format(tick), half = text.length * 3.3;
    if (at - half < free || at + half > width + 6) continue;
    free = at + half + 8;
    root.append(svg('line', { class: 'grid', x1: at, x2: at, y1: margin.top, y2: height - margin.bottom }));
    root.append(svg('text', { x: at, y: height - margin.bottom + 18, 'text-anchor': 'middle' }, text));
  }
  canvas.replaceChildren(root);
  return { root, x, y, width, height, margin, canvas };
}

// A step line: each value holds until the next x.
function stepPath(plot, xs, ys, end) {
  let path = '';
  for (let i = 0; i < xs.length; ++i) {
    const x = plot.x(xs[i]).toFixed(1), y = plot.y(ys[i]).toFixed(1);
    path += i === 0 ? `M${x} ${y}` : `H${x}V${y}`;
  }
  return xs.length && end !== undefined ? path + 'H' + plot.x(end).toFixed(1) : path;
}

// A vertical line that follows the pointer, and the arrow keys when the plot has the focus.
function cursor(plot, describe) {
  const line = svg('line', { class: 'cursor', y1: plot.margin.top, y2: plot.height - plot.margin.bottom, visibility: 'hidden' });
  plot.root.append(line);
  const left = plot.margin.left, right = plot.width - plot.margin.right;
  let at = (left + right) / 2;
  const show = (pixel, event) => {
    at = Math.min(right, Math.max(left, pixel));
    line.setAttribute('x1', at);
    line.setAttribute('x2', at);
    line.setAttribute('visibility', 'visible');
    const { title, rows } = describe(plot.x.back(at));
    showTip(event, title, rows);
  };
  const hide = () => { line.setAttribute('visibility', 'hidden'); hideTip(); };
  plot.root.addEventListener('pointermove', event => {
    const box = plot.root.getBoundingClientRect();
    show((event.clientX - box.left) * plot.width / box.width, event);
  });
  plot.root.addEventListener('pointerleave', hide);
  plot.canvas.tabIndex = 0;
  plot.canvas.onblur = hide;
  plot.canvas.onkeydown = event => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === 'Escape') hide();
    if (!step) return;
    event.preventDefault();
    const box = plot.root.getBoundingClientRect();
    const pixel = at + step * (right - left) / 50;
    show(pixel, { clientX: box.left + pixel * box.width / plot.width, clientY: box.top + box.height / 2 });
  };
}
)js";
}

}  // namespace muster
