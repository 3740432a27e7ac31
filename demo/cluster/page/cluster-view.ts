/**
 * Shows the sites of the cluster: the state of each, its sales, the possible actions, and the moves
 * of retailers.
 */
import { SITES } from '../../../engines/wan.ts';
import { byId, make, setText } from '../../shared/page/dom.ts';
import { formatSite } from '../../shared/page/site-names.ts';
import type { Row } from '../../tickets/page/sale-record.ts';
import type { TicketShop } from '../../tickets/page/ticket-shop.ts';
import type { Action, SiteStatus } from '../status.ts';
import { countsAt, describeStall, describeStatus, offeredActions } from './site-texts.ts';

const ASK_EVERY_MS = 250;
const MOVES_MAX = 6;

type Show = () => void;
type ShowSite = (status: SiteStatus | undefined, rows: readonly Row[]) => void;

export function clusterView(shop: TicketShop): Show {
  const nodes = byId('nodes', HTMLUListElement);
  const problem = byId('cluster-problem', HTMLParagraphElement);
  const stall = byId('cluster-stall', HTMLParagraphElement);
  const sites = SITES.map((name) => [name, siteView(shop, name, nodes)] as const);
  const showMoves = movesView();
  let status: readonly SiteStatus[] = [];
  const show = (): void => {
    const rows = [...shop.sale.rows.values()];
    for (const [name, showSite] of sites)
      showSite(
        status.find((site) => site.name === name),
        rows,
      );
    const reason = describeStall(status, rows);
    stall.hidden = reason === undefined;
    setText(stall, reason ?? '');
    showMoves(rows);
  };
  const ask = async (): Promise<void> => {
    const answer = await fetchStatus('cluster');
    problem.hidden = answer !== undefined;
    setText(
      problem,
      answer === undefined ? 'The demo does not answer: start it again in the terminal.' : '',
    );
    if (answer !== undefined && JSON.stringify(answer) !== JSON.stringify(status)) {
      status = answer;
      show();
    }
    setTimeout(() => void ask(), ASK_EVERY_MS);
  };
  void ask();
  return show;
}

function siteView(shop: TicketShop, name: string, list: HTMLElement): ShowSite {
  const state = make('p', 'state', '');
  const counts = make('p', 'numbers', '');
  const retailers = make('p', 'hint', '');
  const failure = make('p', 'bad detail', '');
  const buttons = make('div', 'controls');
  const role = make('span', 'leader', '');
  const item = make(
    'li',
    'node',
    make('h3', '', formatSite(name), role),
    state,
    counts,
    retailers,
    failure,
    buttons,
  );
  item.dataset['site'] = name;
  state.setAttribute('role', 'status');
  list.append(item);
  const shown = [0, 1, 2].map(() => {
    const button = make('button', 'small', '');
    button.type = 'button';
    button.addEventListener('click', () => {
      const action = button.dataset['action'] as Action | undefined;
      if (action !== undefined && button.getAttribute('aria-disabled') !== 'true')
        void act(name, action);
    });
    buttons.append(button);
    return button;
  });
  return (status, rows) => {
    const { kind, text } = describeStatus(status);
    item.dataset['state'] = kind;
    setText(state, text);
    setText(role, status?.isLeader === true ? 'orders the sales' : '');
    const { sold, promised, takenBack } = countsAt(name, rows);
    setText(counts, `${sold} sold · ${promised} got a yes · ${takenBack} taken back`);
    counts.classList.toggle('bad', takenBack > 0);
    setText(retailers, whereabouts(shop, name));
    setText(failure, status?.failure ?? '');
    failure.hidden = status?.failure === undefined;
    for (const [at, { action, label, title, isPossible }] of offeredActions(status).entries()) {
      const button = shown[at] as HTMLButtonElement;
      setText(button, label);
      button.title = title;
      button.dataset['action'] = action;
      button.setAttribute('aria-label', `${label}: ${formatSite(name)}`);
      button.setAttribute('aria-disabled', String(!isPossible));
    }
  };
}

/** Describes to which sites the retailers beside a site are connected now. */
function whereabouts(shop: TicketShop, name: string): string {
  const count = shop.settings.retailers.filter((site) => site === name).length;
  const at = shop.sites.find((site) => site.name === name)?.at ?? name;
  if (count === 0) return 'No retailer stands here.';
  const who = count === 1 ? 'Its retailer' : `Its ${count} retailers`;
  return `${who} ${count === 1 ? 'sells' : 'sell'} ${at === name ? 'here' : `in ${formatSite(at)}`}.`;
}

/** Shows the latest customers who began at one site and were served at another. */
function movesView(): (rows: readonly Row[]) => void {
  const list = byId('moves', HTMLOListElement);
  const count = byId('moved', HTMLSpanElement);
  return (rows) => {
    const moved = rows.filter(({ path }) => path.length > 1);
    setText(count, String(moved.length));
    const lines = moved.slice(-MOVES_MAX).toReversed();
    const texts = lines.map(
      ({ customer, path }) => `${customer}: ${path.map(formatSite).join(' → ')}`,
    );
    if (texts.join('\n') === [...list.children].map(({ textContent }) => textContent).join('\n'))
      return;
    list.replaceChildren(...texts.map((text) => make('li', '', text)));
  };
}

async function act(name: string, action: Action): Promise<void> {
  await fetchStatus(`cluster/${name}/${action}`, { method: 'POST' });
}

async function fetchStatus(
  path: string,
  init?: RequestInit,
): Promise<readonly SiteStatus[] | undefined> {
  try {
    const response = await fetch(path, init);
    if (!response.ok) return undefined;
    return ((await response.json()) as { sites: readonly SiteStatus[] }).sites;
  } catch {
    // The demo has ended, which the page reports.
    return undefined;
  }
}
