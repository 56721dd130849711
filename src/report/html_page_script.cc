#include "report/html_parts.h"

namespace muster {

// What the page draws with the kit: curves, timelines, sizes, waits, the Gantt chart; and how it
// reacts. Long: one literal.
std::string_view page_script() {
  return R"js(
const runs = JSON.parse(document.getElementById('data').textContent).runs;
const many = runs.length > 1;
const colour = i => `var(--run-${i % 8})`;
const dash = i => ['', '7 3', '2 3'][Math.floor(i / 4) % 3];
const hidden = new Set();
const shown = () => runs.map((run, i) => i).filter(i => !hidden.has(i));
const canvasOf = name => document.querySelector(`[data-plot="${name}"]`);
const nothing = (canvas, text) => canvas.replaceChildren(svg('svg', { viewBox: '0 0 400 60', role: 'img', 'aria-label': text }, svg('text', { class: 'empty', x: 0, y: 34 }, text)));

function drawCurve(name, what) {
  const canvas = canvasOf(name);
  const curves = shown().map(i => ({ i, x: runs[i][name].x, y: runs[i][name].y })).filter(c => c.x.length);
  if (!curves.length) return nothing(canvas, 'No job finished.');
  const positive = curves.flatMap(c => c.x.filter(v => v > 0));
  const top = positive.length ? Math.max(...positive) : 1;
  // Six decades are enough; what lies below sits at the foot.
  const foot = positive.length ? Math.max(Math.min(...positive), top / 1e6, 1e-3) : 0.1;
  const from = foot < top ? foot : top / 2;
  const zeros = curves.some(c => c.x[0] <= from && (c.x[0] <= 0 || c.x[0] < from));
  const plot = frame(canvas, {
    label: `${what} of ${many ? curves.length + ' runs' : 'the run'} as a distribution function`,
    x: { kind: 'log', from, to: top, ticks: (zeros ? [from] : []).concat(logTicks.filter(t => t >= from && t <= top)), format: t => zeros && t === from ? '0' : duration(t) },
    y: { from: 0, to: 1, ticks: [0, 0.25, 0.5, 0.75, 1], format: t => percent(t, 0) },
  });
  for (const c of curves) {
    let path = `M${plot.x(from).toFixed(1)} ${plot.y(0).toFixed(1)}`;
    c.x.forEach((value, k) => { path += `H${plot.x(value).toFixed(1)}V${plot.y(c.y[k]).toFixed(1)}`; });
    path += `H${plot.x(top).toFixed(1)}`;
    const line = svg('path', { class: 'series', 'data-run': c.i, d: path, 'stroke-dasharray': dash(c.i) });
    line.style.stroke = colour(c.i);
    plot.root.append(line);
  }
  const share = (c, value) => { let k = -1; while (k + 1 < c.x.length && c.x[k + 1] <= value) ++k; return k < 0 ? 0 : c.y[k]; };
  cursor(plot, value => ({
    title: `within ${duration(value)}`,
    rows: curves.map(c => ({ colour: colour(c.i), name: many ? runs[c.i].label : 'of jobs', value: percent(share(c, value), 1) })),
  }));
}

const spanOf = indices => Math.max(...indices.map(i => runs[i].time.width * runs[i].time.used.length), 1);
const at = (i, key, time) => runs[i].time[key][Math.floor(time / runs[i].time.width)];

// One run fills the plot; several get a strip each, because lines near 100 % would hide each other.
function drawUtilisation() {
  const canvas = canvasOf('utilisation');
  const indices = shown().filter(i => runs[i].time.used.length);
  if (!indices.length) return nothing(canvas, 'No turns were recorded.');
  const span = spanOf(indices);
  const strip = many ? Math.max(30, Math.min(64, 224 / indices.length)) : 224;
  const height = strip * indices.length + 36;
  const plot = frame(canvas, {
    height, label: 'Share of GPUs in use over time', margin: many ? { left: 4, right: 54, top: 10 } : {},
    x: { kind: 'linear', from: 0, to: span, ticks: timeTicks(0, span, 6), format: duration },
    y: many ? { from: 0, to: 1, ticks: [0], format: () => '' } : { from: 0, to: 1, ticks: [0, 0.25, 0.5, 0.75, 1], format: t => percent(t, 0) },
  });
  indices.forEach((i, row) => {
    const floor = many ? plot.margin.top + strip * (row + 1) : plot.y(0);
    const tall = many ? strip - 7 : plot.y(0) - plot.y(1);
    const strips = { x: plot.x, y: v => floor - Math.min(1, v) * tall };
    const used = runs[i].time.used, xs = used.map((v, k) => k * runs[i].time.width);
    const path = stepPath(strips, xs, used, used.length * runs[i].time.width);
    const area = svg('path', { class: 'area', 'data-run': i, d: `${path}V${floor}H${plot.x(0)}Z` });
    area.style.fill = colour(i);
    if (many) area.style.opacity = 0.34;
    plot.root.append(area);
    if (many) {
      plot.root.append(svg('line', { class: 'grid', x1: plot.margin.left, x2: plot.width - plot.margin.right, y1: floor, y2: floor }));
      plot.root.append(svg('text', { class: 'strong', x: plot.width - plot.margin.right + 8, y: floor - tall / 2 + 4 }, percent(runs[i].utilization, 0)));
    }
    const line = svg('path', { class: 'series', 'data-run': i, d: path });
    line.style.stroke = colour(i);
    line.style.strokeWidth = many ? 1 : 1.4;
    plot.root.append(line);
  });
  cursor(plot, time => ({
    title: `after ${duration(time)}`,
    rows: indices.map(i => ({ colour: colour(i), name: many ? runs[i].label : 'in use', value: at(i, 'used', time) === undefined ? 'over' : percent(at(i, 'used', time), 0) })),
  }));
}

function drawWaiting() {
  const canvas = canvasOf('waiting');
  const indices = shown().filter(i => runs[i].time.line.length);
  if (!indices.length) return nothing(canvas, 'No turns were recorded.');
  const span = spanOf(indices);
  const ticks = countTicks(Math.max(...indices.map(i => Math.max(...runs[i].time.line)), ...(many ? [1] : [1, ...runs[indices[0]].time.running])));
  const plot = frame(canvas, {
    label: 'Jobs in line over time',
    x: { kind: 'linear', from: 0, to: span, ticks: timeTicks(0, span, 6), format: duration },
    y: { from: 0, to: ticks[ticks.length - 1], ticks, format: count },
  });
  const draw = (i, key, stroke, style) => {
    const ys = runs[i].time[key], xs = ys.map((v, k) => k * runs[i].time.width);
    const path = stepPath(plot, xs, ys, ys.length * runs[i].time.width);
    if (!many && key === 'line') {
      const area = svg('path', { class: 'area', d: `${path}V${plot.y(0)}H${plot.x(0)}Z` });
      area.style.fill = stroke;
      plot.root.append(area);
    }
    const line = svg('path', Object.assign({ class: 'series', 'data-run': i, 'data-what': key, d: path }, style));
    line.style.stroke = stroke;
    line.style.strokeWidth = 1.5;
    plot.root.append(line);
  };
  if (!many) draw(0, 'running', colour(1), {});
  for (const i of indices) draw(i, 'line', colour(i), { 'stroke-dasharray': dash(i) });
  if (!many) canvas.append(key([['in line', colour(0)], ['running', colour(1)]]));
  cursor(plot, time => ({
    title: `after ${duration(time)}`,
    rows: many
      ? indices.map(i => ({ colour: colour(i), name: runs[i].label, value: at(i, 'line', time) === undefined ? 'over' : count(Math.round(at(i, 'line', time))) }))
      : [['in line', 'line', 0], ['running', 'running', 1]].map(([name, what, c]) => ({ colour: colour(c), name, value: count(Math.round(at(0, what, time) ?? 0)) })),
  }));
}

function key(entries) {
  const list = make('ul', { class: 'key' });
  for (const [name, fill] of entries) {
    const swatch = make('span', { class: 'swatch' });
    swatch.style.background = fill;
    list.append(make('li', {}, swatch, name));
  }
  return list;
}

// A dot per run in the line of each GPU count.
function drawSizes() {
  const canvas = canvasOf('sizes');
  const names = [...new Set(runs.flatMap(run => run.sizes.map(s => s.name)))].sort((a, b) => parseInt(a) - parseInt(b));
  const values = shown().flatMap(i => runs[i].sizes.map(s => s.jct)).filter(v => v > 0);
  if (!values.length) return nothing(canvas, 'No job finished.');
  const row = 34, from = Math.min(...values) * 0.8, to = Math.max(...values) * 1.25;
  let ticks = logTicks.filter(t => t >= from && t <= to);
  if (ticks.length < 2) ticks = [60, 120, 300, 600, 1800, 3600, 7200, 18000, 36000, 86400, 172800, 432000].filter(t => t >= from && t <= to);
  if (ticks.length < 2) ticks = [from / 0.8, to / 1.25];
  const jobs = name => Math.max(...runs.map(run => (run.sizes.find(s => s.name === name) || { jobs: 0 }).jobs));
  const plot = frame(canvas, {
    height: row * names.length + 40, label: 'Average completion time by GPUs asked for', margin: { left: 118, top: 10 },
    x: { kind: 'log', from, to, ticks, format: duration },
    y: { from: 0, to: names.length, ticks: [0], format: () => '' },
  });
  names.forEach((name, k) => {
    const y = plot.margin.top + row * (k + 0.5);
    plot.root.append(svg('line', { class: 'grid', x1: plot.margin.left, x2: plot.width - plot.margin.right, y1: y, y2: y }));
    plot.root.append(svg('text', { class: 'strong', x: 0, y: y + 4 }, name === '1' ? '1 GPU' : name + ' GPUs'));
    plot.root.append(svg('text', { x: plot.margin.left - 8, y: y + 4, 'text-anchor': 'end' }, count(jobs(name))));
    for (const i of shown()) {
      const found = runs[i].sizes.find(s => s.name === name);
      if (!found || !(found.jct > 0)) continue;
      const dot = svg('circle', { class: 'series dot', 'data-run': i, cx: plot.x(found.jct), cy: y, r: 5 });
      dot.style.fill = colour(i);
      dot.style.stroke = 'var(--paper)';
      dot.style.strokeWidth = 1;
      dot.append(svg('title', {}, `${many ? runs[i].label + ': ' : ''}${duration(found.jct)}, ${count(found.jobs)} jobs`));
      plot.root.append(dot);
    }
  });
}

// A bar per run, cut by what kept the first in line from running.
function drawWaits() {
  const canvas = canvasOf('waits');
  const reasons = [...new Set(runs.flatMap(run => run.waits.map(w => w.reason)))];
  const total = run => run.waits.reduce((sum, w) => sum + w.hours, 0);
  const most = Math.max(...shown().map(i => total(runs[i])), 0);
  if (!(most > 0)) return nothing(canvas, 'No job waited.');
  const row = many ? 44 : 58, margin = { left: 0, right: 0, top: 2, bottom: 2 };
  const width = Math.max(260, Math.round(canvas.clientWidth)), height = row * shown().length + 6;
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Job-hours in line by reason' });
  shown().forEach((i, k) => {
    const y = margin.top + row * k;
    root.append(svg('text', { class: 'strong', x: 0, y: y + 13 }, many ? runs[i].label : ''));
    root.append(svg('text', { x: width, y: y + 13, 'text-anchor': 'end' }, count(total(runs[i])) + ' job-hours'));
    let x = 0;
    for (const wait of runs[i].waits) {
      const wide = wait.hours / most * width;
      const part = svg('rect', { class: 'series bar', 'data-run': i, x, y: y + 19, width: Math.max(0, wide - (wide > 3 ? 1 : 0)), height: 15 });
      part.style.fill = `var(--cause-${reasons.indexOf(wait.reason) % 6})`;
      part.addEventListener('pointermove', event => showTip(event, wait.reason, [{ name: many ? runs[i].label : 'job-hours', value: `${count(wait.hours)} (${percent(wait.hours / total(runs[i]), 0)})` }]));
      part.addEventListener('pointerleave', hideTip);
      root.append(part);
      x += wide;
    }
  });
  canvas.replaceChildren(root, key(reasons.map((reason, k) => [reason, `var(--cause-${k % 6})`])));
}

let ganttRun = runs.findIndex(run => run.gantt);
function drawGantt() {
  const canvas = canvasOf('gantt');
  if (!canvas || ganttRun < 0) return;
  const { from, to, jobs } = runs[ganttRun].gantt, row = 13;
  const clip = t => Math.min(to, Math.max(from, t)) - from;
  const ticks = timeTicks(from, to, 7).map(t => t - from);
  const plot = frame(canvas, {
    height: row * jobs.length + 36, label: `When ${jobs.length} jobs waited and ran`, margin: { left: 4, top: 4 },
    x: { kind: 'linear', from: 0, to: to - from, ticks, format: t => duration(t + from) },
    y: { from: 0, to: 1, ticks: [0], format: () => '' },
  });
  jobs.forEach((job, k) => {
    const y = plot.margin.top + row * k;
    const box = (a, b, opacity) => {
      const rect = svg('rect', { x: plot.x(clip(a)), y: y + 2, width: Math.max(0.6, plot.x(clip(b)) - plot.x(clip(a))), height: row - 4, rx: 1 });
      rect.style.fill = colour(ganttRun);
      rect.style.opacity = opacity;
      return rect;
    };
    const group = svg('g', { class: 'job' }, box(job.submit, job.end, 'var(--pale)'), ...job.runs.filter(r => r[1] > from && r[0] < to).map(r => box(r[0], r[1], 1)));
    const ran = job.runs.reduce((sum, r) => sum + r[1] - r[0], 0);
    group.addEventListener('pointermove', event => showTip(event, 'job ' + job.name, [
      { name: 'GPUs', value: count(job.gpus) }, { name: 'waited', value: duration(job.end - job.submit - ran) },
      { name: 'ran', value: duration(ran) + (job.runs.length > 1 ? ` in ${job.runs.length} parts` : '') }]));
    group.addEventListener('pointerleave', hideTip);
    plot.root.append(group);
  });
}

function drawAll() {
  drawCurve('jct', 'Completion time');
  drawCurve('queue', 'Time without GPUs');
  drawUtilisation();
  drawWaiting();
  drawSizes();
  drawWaits();
  drawGantt();
}

const fade = keep => document.querySelectorAll('.canvas [data-run]').forEach(node =>
  node.classList.toggle('faded', keep !== null && node.dataset.run !== String(keep)));
const legend = document.querySelector('.legend');
if (legend) {
  runs.forEach((run, i) => {
    const line = svg('line', { x1: 1, x2: 21, y1: 6, y2: 6, 'stroke-width': 3, 'stroke-dasharray': dash(i) });
    line.style.stroke = colour(i);
    const button = make('button', { type: 'button', 'aria-pressed': 'true', title: 'Show or hide this run' }, svg('svg', { width: 22, height: 12, 'aria-hidden': 'true' }, line), run.label);
    button.addEventListener('click', () => {
      if (hidden.has(i)) hidden.delete(i); else if (shown().length > 1) hidden.add(i);
      button.setAttribute('aria-pressed', String(!hidden.has(i)));
      drawAll();
    });
    button.addEventListener('pointerenter', () => fade(i));
    button.addEventListener('pointerleave', () => fade(null));
    legend.append(button);
  });
}
document.querySelectorAll('.swatch[data-run]').forEach(node => { node.style.background = colour(Number(node.dataset.run)); });

const choice = document.querySelector('.choice'), charted = runs.map((run, i) => i).filter(i => runs[i].gantt);
if (choice && charted.length > 1) {
  const select = make('select', { 'aria-label': 'Run to show' });
  for (const i of charted) select.append(make('option', { value: i }, runs[i].label));
  select.addEventListener('change', () => { ganttRun = Number(select.value); drawGantt(); });
  choice.append(select);
}

document.querySelectorAll('table.sortable').forEach(table => {
  const body = table.tBodies[0], original = [...body.rows];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.tabIndex = 0;
    const sort = () => {
      const before = head.getAttribute('aria-sort');
      const next = before === null ? 'ascending' : before === 'ascending' ? 'descending' : null;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
      if (next) head.setAttribute('aria-sort', next);
      const value = row => {
        const exact = row.cells[column].dataset.value;
        return exact === undefined ? row.cells[column].textContent : exact === '' ? Infinity : Number(exact);
      };
      const sign = next === 'descending' ? -1 : 1;
      const rows = next ? [...original].sort((a, b) => sign * (typeof value(a) === 'string' ? value(a).localeCompare(value(b)) : value(a) - value(b))) : original;
      body.replaceChildren(...rows);
    };
    head.addEventListener('click', sort);
    head.addEventListener('keydown', event => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); sort(); } });
  });
});

drawAll();
let width = innerWidth, timer = 0;
addEventListener('resize', () => {
  if (innerWidth === width) return;
  width = innerWidth;
  clearTimeout(timer);
  timer = setTimeout(drawAll, 80);
});
document.documentElement.dataset.drawn = 'yes';
)js";
}

}  // namespace muster
