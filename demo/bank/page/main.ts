/**
 * The bank's page. `?delays=measured` in its address selects the delays of the papers, which are
 * too short to watch.
 */
import { byId, make, setText } from '../../shared/page/dom.ts';
import { formatSite } from '../../shared/page/site-names.ts';
import { ROUND_TRIPS_MS } from '../../../engines/wan.ts';
import { LEADER, SLOW_FACTOR, type Delays, type TellerSite } from '../sites.ts';
import { Bank } from './bank.ts';
import { createTellerView } from './teller-view.ts';
import { countReceipts, formatDelays, formatHeadline, formatPhase } from './texts.ts';
import { createTotalView } from './total-view.ts';

const FAILURE =
  'The bank does not answer. Start it with “npm run demo”: this page then goes on by itself.';

const delays: Delays =
  new URLSearchParams(location.search).get('delays') === 'measured' ? 'measured' : 'slow';
let isDue = false;
const bank = new Bank(delays, () => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(show);
});
const showTellers = bank.tellers.map((teller) =>
  createTellerView(teller, formatDistance(teller.site)),
);
const showTotal = createTotalView(bank);
const [sameMoney, work] = [byId('same-money', HTMLButtonElement), byId('work', HTMLButtonElement)];

sameMoney.addEventListener('click', () => {
  // Ignore failures here: the state shows a site that does not answer.
  if (bank.canSpendSameMoney) void bank.spendSameMoney().catch(() => {});
});
work.addEventListener('click', () => (bank.isWorking ? bank.stop() : bank.work()));
linkOtherDelays();
show();
byId('bank', HTMLElement).hidden = false;
byId('footer', HTMLElement).hidden = false;
await bank.follow();

function show(): void {
  isDue = false;
  const { phase, isWorking } = bank;
  const status = byId('status', HTMLParagraphElement);
  status.dataset['phase'] = phase;
  setText(status, formatPhase(phase));
  const failure = byId('failure', HTMLParagraphElement);
  failure.hidden = phase !== 'failed';
  setText(failure, phase === 'failed' ? FAILURE : '');
  const counts = countReceipts(bank.tellers.flatMap(({ receipts }) => receipts));
  setText(
    byId('headline', HTMLParagraphElement),
    formatHeadline(bank.sameMoney, counts, isWorking),
  );
  sameMoney.setAttribute('aria-disabled', String(!bank.canSpendSameMoney));
  setText(work, isWorking ? 'Stop' : 'Let both tellers work');
  for (const showTeller of showTellers) showTeller();
  showTotal();
}

/** Describes the round trip for which a teller waits until a transfer is confirmed. */
function formatDistance(site: TellerSite): string {
  const ms =
    (ROUND_TRIPS_MS[[site, LEADER].toSorted().join('-')] ?? 0) *
    (delays === 'slow' ? SLOW_FACTOR : 1);
  return `${ms} ms to ${formatSite(LEADER)} and back`;
}

function linkOtherDelays(): void {
  const link = make('a', '', delays === 'slow' ? 'Use the measured delays' : 'Watch it slowly');
  link.href = delays === 'slow' ? '?delays=measured' : '?delays=slow';
  byId('delays', HTMLParagraphElement).replaceChildren(`${formatDelays(delays)} `, link, '.');
}
