/** Runs in the page of a case study: asks its server what the users have met, and shows it. */
import { byId, make, setText } from '../../../demo/shared/page/dom.ts';
import { followState } from '../../../demo/shared/page/follow-state.ts';
import type { Latency } from '../figures.ts';
import { formatFinding, formatRequest } from './finding.ts';
import type { Cell, PageState } from './state.ts';

const EVERY_MS = 1000;
/** As long as the longest bar. */
const BAR_MS = 500;

/** The title of the page, by the name of the case study. */
const TITLES: Readonly<Record<string, string>> = {
  tpcw: 'Online shop',
  rubis: 'Auctions',
  quoddy: 'Social network',
};

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const idOf = (request: string, site: string): string => `${request}-${site}`;

let before: PageState | undefined;

void followState({
  everyMs: EVERY_MS,
  show,
  failureText:
    'The case study does not answer. Start it again in the terminal: this page then goes on by itself.',
});

function show(state: PageState): void {
  // A study that was started again may be another one.
  if (before !== undefined && state.seconds < before.seconds) location.reload();
  if (before === undefined) layOut(state);
  const { interactions, seconds, shares, failures, broken } = state;
  const past = before ?? { interactions: 0, seconds: 0 };
  if (seconds > past.seconds)
    tell('rate', ((interactions - past.interactions) / (seconds - past.seconds)).toFixed(1));
  tell('red', percent(shares.red));
  tell('update', percent(shares.update));
  const failed = Object.entries(failures).map(([code, times]) => `${times} ${code}`);
  tell('failed', failed.join(', ') || 'none');
  tell('invariants', broken.length === 0 ? 'held so far' : `broken: ${broken.join('; ')}`);
  tell('finding', formatFinding(state.cells));
  for (const cell of state.cells) showCell(cell);
  before = state;
}

function tell(id: string, text: string): void {
  setText(byId(id, HTMLElement), text);
}

function layOut({ name, about, mix, sites, users, requests }: PageState): void {
  document.title = `${TITLES[name] ?? name} · correctables`;
  tell('title', TITLES[name] ?? name);
  const description = about.charAt(0).toUpperCase() + about.slice(1);
  tell(
    'about',
    `${description}: the mix “${mix}”, ${sites.length} sites, ${users} emulated users at each.`,
  );
  const heading = (text: string, scope: string): HTMLElement => {
    const cell = make('th', '', text);
    cell.setAttribute('scope', scope);
    return cell;
  };
  byId('sites', HTMLTableRowElement).append(
    heading('Request', 'col'),
    ...sites.map(({ place }) => heading(place, 'col')),
  );
  const rows = requests.map((request) => {
    const cells = sites.map(({ site }) => {
      const cell = make('td', '', '–');
      cell.id = idOf(request, site);
      return cell;
    });
    return make('tr', '', heading(formatRequest(request), 'row'), ...cells);
  });
  byId('requests', HTMLTableSectionElement).append(...rows);
  byId('study', HTMLElement).hidden = false;
}

function showCell({ site, request, blue, red }: Cell): void {
  const parts = [getPart('blue', blue), getPart('red', red)].filter((part) => part !== undefined);
  byId(idOf(request, site), HTMLTableCellElement).replaceChildren(...parts);
}

function getPart(color: 'blue' | 'red', latency: Latency | null): HTMLElement | undefined {
  if (latency === null || latency.p50 === null) return undefined;
  const bar = make('meter', '');
  bar.max = BAR_MS;
  bar.value = latency.p50;
  bar.setAttribute('aria-hidden', 'true');
  const count = make('small', '', ` (${latency.count})`);
  return make('span', color, `${color} ${latency.p50.toFixed(1)} ms`, count, bar);
}
