#include "report/html_parts.h"

namespace muster {

// Colours of runs are told apart by most kinds of colour blindness; from the fifth on dashes help.
// Long: one literal.
std::string_view page_style() {
  return R"css(
:root {
  --paper: #fcfcfb; --panel: #ffffff; --ink: #1b1d20; --soft: #5c636c; --faint: #8b929b; --rule: #e5e6e3;
  --wash: #f3f4f1; --best: #e3f0e6; --best-ink: #14532d; --warn: #fff4d6; --warn-ink: #5c4300;
  --run-0: #0067a8; --run-1: #cf4f00; --run-2: #00805c; --run-3: #a8448c;
  --run-4: #4c5fb8; --run-5: #8a6a00; --run-6: #a3323b; --run-7: #4d555e;
  --cause-0: #39688f; --cause-1: #d89a3e; --cause-2: #6c9c7a; --cause-3: #a77ba3; --cause-4: #9aa1a8; --cause-5: #c4675a;
  --pale: .18; --shadow: 0 4px 18px rgba(20, 24, 30, .14);
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #131518; --panel: #191c20; --ink: #e7e8ea; --soft: #a3aab3; --faint: #767e88; --rule: #2b2f35;
    --wash: #1f2328; --best: #1c3526; --best-ink: #a6e3b8; --warn: #3a2f10; --warn-ink: #f3d98b;
    --run-0: #58b0ee; --run-1: #ff9552; --run-2: #43cfa0; --run-3: #e596cd;
    --run-4: #a4b1ff; --run-5: #e0be55; --run-6: #ff8b8f; --run-7: #b6bdc6;
    --cause-0: #5f97c6; --cause-1: #e0a958; --cause-2: #7fb58f; --cause-3: #bf93bb; --cause-4: #868e97; --cause-5: #db8072;
    --pale: .3; --shadow: 0 4px 18px rgba(0, 0, 0, .5);
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 -apple-system, "Segoe UI", Roboto, Inter, "Noto Sans", "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
  font-variant-numeric: tabular-nums lining-nums;
}
header, main, footer { max-width: 1120px; margin: 0 auto; padding: 0 28px; }
header { padding-top: 52px; }
.kicker { margin: 0 0 14px; font-size: 13px; font-weight: 600; letter-spacing: .04em; color: var(--soft); overflow-wrap: anywhere; }
.kicker span { font-weight: 400; letter-spacing: 0; color: var(--faint); margin-left: 10px; padding-left: 11px; border-left: 1px solid var(--rule); }
h1 { margin: 0; max-width: 29em; font-size: clamp(22px, 3.4vw, 31px); line-height: 1.28; font-weight: 600; letter-spacing: -.012em; text-wrap: balance; overflow-wrap: anywhere; }
section { margin: 44px 0 0; }
h2 { margin: 0 0 16px; padding-bottom: 7px; border-bottom: 1px solid var(--rule); font-size: 13px; font-weight: 600; letter-spacing: .02em; color: var(--soft); }
h3 { margin: 0; font-size: 16px; font-weight: 600; letter-spacing: -.003em; }
.warning { margin: 18px 0 0; padding: 9px 14px; border-radius: 6px; background: var(--warn); color: var(--warn-ink); }
.note { margin: 8px 0 0; font-size: 13px; color: var(--soft); }

.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(148px, 1fr)); gap: 20px 28px; margin: 0; }
.cards div { border-left: 2px solid var(--rule); padding-left: 13px; }
.cards dt { font-size: 13px; color: var(--soft); }
.cards dd { margin: 1px 0 0; font-size: 21px; font-weight: 600; letter-spacing: -.01em; white-space: nowrap; }

.scroll { position: relative; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; line-height: 1.4; }
th, td { padding: 7px 18px 7px 0; text-align: left; vertical-align: baseline; border-bottom: 1px solid var(--rule); }
th:last-child, td:last-child { padding-right: 8px; }
thead th { font-size: 12.5px; font-weight: 500; color: var(--soft); vertical-align: bottom; }
tbody th { font-weight: 500; overflow-wrap: anywhere; min-width: 7em; }
tbody tr:last-child > * { border-bottom: 0; }
.number { text-align: right; white-space: nowrap; }
thead .number { white-space: normal; }
abbr { font-weight: 400; color: var(--faint); }
.best { padding: 2px 6px; margin: 0 -6px; border-radius: 4px; background: var(--best); color: var(--best-ink); font-weight: 600; }
.meaning { color: var(--soft); font-size: 13px; min-width: 17em; }
.sortable thead th { cursor: pointer; }
.sortable thead th:hover { color: var(--ink); }
.sortable thead th[aria-sort]::after { content: " ↑"; color: var(--faint); }
.sortable thead th[aria-sort="descending"]::after { content: " ↓"; }
.swatch { display: inline-block; width: 11px; height: 11px; margin-right: 8px; border-radius: 3px; vertical-align: -1px; background: var(--rule); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.legend { position: sticky; top: 0; z-index: 5; display: flex; flex-wrap: wrap; gap: 2px 6px; margin: 30px -8px -22px; padding: 8px 0; background: var(--paper); }
.legend button { display: inline-flex; align-items: center; gap: 8px; max-width: 100%; padding: 3px 9px; border: 0; border-radius: 5px; background: none; color: var(--ink); font: inherit; font-size: 13.5px; text-align: left; cursor: pointer; overflow-wrap: anywhere; }
.legend button:hover { background: var(--wash); }
.legend button[aria-pressed="false"] { color: var(--faint); text-decoration: line-through; }
.legend svg { flex: none; }
button:focus-visible, summary:focus-visible, .canvas:focus-visible, th:focus-visible { outline: 2px solid var(--run-0); outline-offset: 2px; border-radius: 4px; }

.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 34px 44px; }
.pair + .pair { margin-top: 38px; }
figure { margin: 0; min-width: 0; }
figcaption p { margin: 2px 0 8px; font-size: 13px; color: var(--soft); }
.canvas svg { display: block; width: 100%; height: auto; overflow: visible; touch-action: pan-y; }
.canvas text { fill: var(--soft); font-size: 12px; }
.canvas text.strong { fill: var(--ink); }
.canvas .grid { stroke: var(--rule); stroke-width: 1; shape-rendering: crispEdges; }
.canvas .axis { stroke: var(--faint); stroke-width: 1; shape-rendering: crispEdges; }
.canvas .series { fill: none; stroke-width: 1.9; stroke-linejoin: round; transition: opacity .12s; }
.canvas .area { stroke: none; opacity: .16; transition: opacity .12s; }
.canvas .cursor { stroke: var(--faint); stroke-width: 1; pointer-events: none; }
.canvas .faded { opacity: .13; }
.canvas .empty { fill: var(--faint); }
figure details { margin-top: 8px; font-size: 13px; }
summary { width: max-content; color: var(--soft); cursor: pointer; }
summary:hover { color: var(--ink); }
details[open] > summary { margin-bottom: 8px; }
.key { display: flex; flex-wrap: wrap; gap: 3px 16px; margin: 8px 0 0; padding: 0; list-style: none; font-size: 13px; color: var(--soft); }
.choice select { margin-left: 8px; padding: 2px 6px; border: 1px solid var(--rule); border-radius: 5px; background: var(--panel); color: var(--ink); font: inherit; font-size: 13px; max-width: 100%; }

.tip { position: fixed; z-index: 10; top: 0; left: 0; max-width: min(340px, 92vw); padding: 8px 11px; border: 1px solid var(--rule); border-radius: 7px; background: var(--panel); box-shadow: var(--shadow); font-size: 13px; line-height: 1.45; pointer-events: none; }
.tip b { display: block; font-weight: 600; }
.tip div { display: grid; grid-template-columns: auto 1fr auto; gap: 0 9px; align-items: center; }
.tip div span:nth-child(2) { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--soft); }
.tip i { width: 9px; height: 9px; border-radius: 2px; }
code { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere; }
.rerun code { display: block; margin-top: 4px; padding: 9px 12px; border-radius: 6px; background: var(--wash); }
.settings td { overflow-wrap: anywhere; }
footer { padding-top: 52px; padding-bottom: 44px; font-size: 13px; color: var(--faint); }

@media (max-width: 760px) {
  header, main, footer { padding-left: 18px; padding-right: 18px; }
  header { padding-top: 30px; }
  .pair { grid-template-columns: minmax(0, 1fr); }
  section { margin-top: 34px; }
  .headlines tbody th { position: sticky; left: 0; z-index: 1; background: var(--paper); min-width: 8em; max-width: 11em; }
}
@media print {
  body { font-size: 10.5pt; background: none; }
  header { padding-top: 0; }
  header, main, footer { max-width: none; padding: 0; }
  .legend { position: static; margin: 14px 0 0; background: none; }
  .pair { gap: 22px 28px; }
  figure, tr { break-inside: avoid; }
  h2, figcaption { break-after: avoid; }
  details:not([open]), .tip, .choice { display: none; }
  .scroll { overflow: visible; }
  table { font-size: 8.5pt; }
  th, td { padding: 3px 7px 3px 0; }
  .best { background: none; }
}
@media (prefers-reduced-motion: reduce) { .canvas .series, .canvas .area { transition: none; } }
)css";
}

}  // namespace muster
