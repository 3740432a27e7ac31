/**
 * Runs in the page of the kill demo: shows the load on a time line, and kills the server when a
 * visitor presses the button.
 */
import { byId, make, setText } from '../../shared/page/dom.ts';
import { followState } from '../../shared/page/follow-state.ts';
import { getAxisEnd } from './axis.ts';
import { SHOWN_SPANS, SPAN_MS, type Kill, type KillState } from './state.ts';
import { formatHeadline, formatSeconds } from './texts.ts';

const EVERY_MS = 200;
const SHOWN_MS = SHOWN_SPANS * SPAN_MS;

const kill = byId('kill', HTMLButtonElement);
// Ignore failures here: the state shows that the server is down.
kill.addEventListener('click', () => void fetch('kill', { method: 'POST' }).catch(() => {}));
void followState({
  everyMs: EVERY_MS,
  show,
  failureText:
    'The demo does not answer. Start it with “npm run demo”: this page then goes on by itself.',
});

function show(state: KillState): void {
  const latest = state.kills.at(-1);
  const isDown = latest?.failure !== undefined;
  kill.setAttribute(
    'aria-disabled',
    String(latest !== undefined && latest.lost === undefined && !isDown),
  );
  setText(kill, isDown ? 'Start the server again' : 'Kill the server');
  setText(byId('headline', HTMLParagraphElement), formatHeadline(state));
  setText(byId('pid', HTMLElement), String(state.pid ?? '…'));
  drawTape(state);
  const rows = state.kills.map(killRow).toReversed();
  byId('kills', HTMLTableSectionElement).replaceChildren(...rows);
}

function killRow(item: Kill, n: number): HTMLElement {
  const cells = [formatSeconds(item), String(item.lookedFor || '…'), String(item.lost ?? '…')].map(
    (text) => make('td', '', text),
  );
  return make('tr', '', make('td', '', String(n + 1)), ...cells);
}

function drawTape({ nowMs, spans, kills }: KillState): void {
  const most = getAxisEnd(Math.max(...spans, 10));
  setText(byId('most', HTMLSpanElement), String(most));
  setText(byId('half', HTMLSpanElement), String(most / 2));
  const startMs = Math.floor(nowMs / SPAN_MS) * SPAN_MS - SHOWN_MS;
  const place = (ms: number): string => `${((100 * (ms - startMs)) / SHOWN_MS).toFixed(2)}%`;
  const bars = spans.map((height, n) => {
    const bar = make('span', 'bar');
    bar.style.left = `${((100 * (SHOWN_SPANS - spans.length + n)) / SHOWN_SPANS).toFixed(2)}%`;
    bar.style.height = `${((100 * height) / most).toFixed(1)}%`;
    return bar;
  });
  const gaps = kills
    .filter(({ backAtMs = nowMs }) => backAtMs > startMs)
    .map((item) => {
      const gap = make('span', 'gap');
      // Label only the latest kill: labels of several kills would overlap.
      if (item === kills.at(-1))
        gap.append(
          make(
            'b',
            '',
            item.backAtMs === undefined ? 'killed' : `killed, back after ${formatSeconds(item)}`,
          ),
        );
      gap.style.left = place(Math.max(startMs, item.atMs));
      gap.style.right = `${(100 - (100 * (Math.min(nowMs, item.backAtMs ?? nowMs) - startMs)) / SHOWN_MS).toFixed(2)}%`;
      gap.classList.toggle('left', item.atMs > startMs + SHOWN_MS / 2);
      return gap;
    });
  byId('tape', HTMLDivElement).replaceChildren(...bars, ...gaps);
}
