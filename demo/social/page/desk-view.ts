/** A user of one region on the page: what it can do, its timeline, and the list of what it did. */
import { byId, make, setText } from '../../shared/page/dom.ts';
import { formatMs } from '../../shared/page/format.ts';
import { createNewestRows } from '../../shared/page/newest-rows.ts';
import type { Message } from '../contract.ts';
import { REGION_NAMES, REGIONS } from '../regions.ts';
import type { Desk, ShownReceipt } from './desk.ts';
import { formatUser, listPeople } from './people.ts';
import { formatAction, formatDistance, formatMessage, formatWaits, OUTCOMES } from './texts.ts';

/** @returns a function that shows the present state of the user */
export function createDeskView(desk: Desk): () => void {
  const template = byId('desk', HTMLTemplateElement).content.cloneNode(true) as DocumentFragment;
  const find = <E extends HTMLElement>(selector: string): E =>
    template.querySelector(selector) as E;
  const [section, message, title] = [find('section'), find('.message'), find('.timeline-title')];
  const region = REGION_NAMES[desk.region];
  section.id = desk.region;
  section.setAttribute('aria-label', region);
  setText(find('h2'), region);
  setText(find('.hint'), formatDistance(desk.region, desk.site));
  find('.scroll').setAttribute('aria-label', `Operations in ${region}, newest first`);
  connectForms(find<HTMLSelectElement>('select'), find<HTMLFormElement>('form'), desk);
  const showPeople = createPeople(find('.people'), desk);
  const showTimeline = createTimeline(find('.timeline'));
  const timelineNote = find('.timeline-note');
  const showReceipts = createReceipts(find('.operations tbody'));
  byId('desks', HTMLDivElement).append(template);
  return () => {
    setText(message, formatMessage(desk.receipts.at(-1)));
    setText(title, `Timeline of ${formatUser(desk.user)}`);
    const read =
      desk.timelineMs === undefined ? '' : `read in ${formatMs(desk.timelineMs)}, waits for no log`;
    setText(timelineNote, read);
    showPeople();
    showTimeline(desk.timeline);
    showReceipts(desk.receipts);
  };
}

function connectForms(select: HTMLSelectElement, form: HTMLFormElement, desk: Desk): void {
  select.append(...listPeople(desk.region).map((user) => new Option(formatUser(user), user)));
  select.addEventListener('change', () => desk.become(select.value));
  const text = form.elements.namedItem('text') as HTMLInputElement;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void desk.post(text.value);
    text.value = '';
  });
}

/** A button for each other user, by region. */
function createPeople(place: HTMLElement, desk: Desk): () => void {
  const buttons = REGIONS.flatMap((region) => {
    const name =
      region === desk.region
        ? `In ${REGION_NAMES[region]}`
        : `In ${REGION_NAMES[region]}, two logs`;
    const ofRegion = listPeople(region).map((user) => {
      const button = make('button', 'person');
      button.type = 'button';
      button.addEventListener('click', () => {
        if (!desk.isBusyWith(user)) void desk.toggle(user);
      });
      return { user, button };
    });
    const row = make(
      'div',
      'controls',
      make('span', 'quiet', name),
      ...ofRegion.map(({ button }) => button),
    );
    row.setAttribute('role', 'group');
    row.setAttribute('aria-label', name);
    place.append(row);
    return ofRegion;
  });
  return () => {
    const { follows, user: own } = desk;
    for (const { user, button } of buttons) {
      button.hidden = user === own;
      setText(button, `${follows.includes(user) ? 'Unfollow' : 'Follow'} ${formatUser(user)}`);
      button.classList.toggle('is-followed', follows.includes(user));
      button.setAttribute('aria-disabled', String(desk.isBusyWith(user)));
    }
  };
}

function createTimeline(list: HTMLElement): (timeline: readonly Message[]) => void {
  let shown: readonly Message[] | undefined;
  return (timeline) => {
    if (timeline === shown) return;
    shown = timeline;
    const items = timeline.map(({ author, number, text }) => {
      const item = make('li', '', make('strong', '', formatUser(author)), ` ${text} `);
      item.append(make('span', 'number', `#${number}`));
      return item;
    });
    list.replaceChildren(...(items.length > 0 ? items : [make('li', 'quiet', 'No messages yet')]));
  };
}

function createReceipts(body: HTMLElement): (receipts: readonly ShownReceipt[]) => void {
  return createNewestRows(body, (row, receipt) => {
    row.replaceChildren(...createCells(receipt));
    row.dataset['outcome'] = receipt.outcome ?? 'sent';
  });
}

function createCells(receipt: ShownReceipt): HTMLTableCellElement[] {
  const { action, earlyMs, ms, outcome } = receipt;
  const isGood = outcome === 'done' || outcome === 'unchanged';
  const final = make(
    'td',
    '',
    make('span', outcome === undefined ? 'quiet' : isGood ? 'good' : 'bad'),
  );
  final.firstElementChild?.append(outcome === undefined ? '…' : OUTCOMES[outcome]);
  if (ms !== undefined) final.append(make('span', 'second', formatMs(ms)));
  return [
    make('td', '', formatAction(action), make('span', 'second', formatWaits(receipt))),
    make('td', 'early', earlyMs === undefined ? '–' : formatMs(earlyMs)),
    final,
  ];
}
