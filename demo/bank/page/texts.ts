/** The sentences of the bank's page, computed from what the tellers and the auditor know. */
import { formatMs } from '../../shared/page/format.ts';
import { formatSite } from '../../shared/page/site-names.ts';
import { getStatus, type Receipt, type Status } from '../receipt.ts';
import { SLOW_FACTOR, TELLER_SITES, type Delays } from '../sites.ts';
import type { Phase, SameMoney, Totals } from './bank.ts';

const PHASES: Readonly<Record<Phase, string>> = {
  connecting: 'Connecting to the sites…',
  ready: 'Ready',
  'in flight': 'Transfers in flight…',
  failed: 'No connection: trying again…',
};

export function formatPhase(phase: Phase): string {
  return PHASES[phase];
}

export interface Counts {
  readonly confirmed: number;
  readonly corrected: number;
  readonly takenBack: number;
  readonly refused: number;
}

export function countReceipts(receipts: readonly Receipt[]): Counts {
  const count = (isCounted: (receipt: Receipt) => boolean): number =>
    receipts.filter(isCounted).length;
  return {
    confirmed: count(({ confirmed }) => confirmed !== undefined),
    corrected: count(
      ({ confirmed, isCorrected }) => confirmed !== undefined && isCorrected === true,
    ),
    takenBack: count((receipt) => getStatus(receipt) === 'taken back'),
    refused: count((receipt) => getStatus(receipt) === 'refused'),
  };
}

/** Returns the headline for the present state. */
export function formatHeadline(
  sameMoney: SameMoney | undefined,
  counts: Counts,
  isWorking: boolean,
): string {
  if (isWorking)
    return `Both tellers are at work: ${counts.confirmed} confirmed, ${counts.takenBack} taken back.`;
  if (sameMoney === undefined)
    return 'Two tellers can spend the same money early. Only one of them gets it.';
  const { from, euros, receipts } = sameMoney;
  if (receipts === undefined) return `Both tellers send the last €${euros} of ${from}…`;
  const ends = receipts.map(
    (receipt, at) => `${END_WORDS[getStatus(receipt)]} in ${formatSite(TELLER_SITES[at] ?? '')}`,
  );
  return `The last €${euros} of ${from}: ${ends.join(', ')}.`;
}

const END_WORDS: Readonly<Record<Status, string>> = {
  sent: 'in flight',
  early: 'in flight',
  confirmed: 'confirmed',
  refused: 'refused',
  'taken back': 'taken back',
  unknown: 'without an answer',
};

/** Returns the outcome of a transfer, or the reason why it was not made. */
export function formatMessage(receipt: Receipt | undefined): string {
  if (receipt === undefined) return '';
  const { transfer, refusal } = receipt;
  const what = `€${transfer.euros} from ${transfer.from} to ${transfer.to}`;
  switch (getStatus(receipt)) {
    case 'sent':
      return `${what}…`;
    case 'early':
      return `${what}: early, the commit is on its way.`;
    case 'confirmed':
      return receipt.isCorrected === true
        ? `${what}: confirmed. The early balances were corrected, since others had changed them.`
        : `${what}: confirmed.`;
    case 'refused':
      return `${what}: refused. ${formatReason(receipt)}`;
    case 'taken back':
      return `${what}: taken back. ${formatReason(receipt)}`;
    case 'unknown':
      return `${what}: no answer after ${formatMs(refusal?.ms ?? 0)}. It may have been made.`;
  }
}

function formatReason({ transfer, early, refusal }: Receipt): string {
  if (refusal?.kind === 'unavailable') return 'The site was not there. Nothing was written.';
  if (refusal?.kind !== 'not enough') return 'Others kept changing the accounts.';
  const left = `${transfer.from} has only €${refusal.balance}`;
  return early === undefined ? `${left}.` : `${left}: another transfer was first.`;
}

export function formatVerdict(totals: Totals | undefined): string {
  if (totals === undefined) return 'Not read yet';
  const { first, reads, changed } = totals;
  if (changed > 0) return `Changed: ${changed} of ${reads} reads differ from €${first}`;
  return reads === 1 ? 'Read once' : `Unchanged in ${reads} reads`;
}

export function formatDelays(delays: Delays): string {
  return delays === 'slow'
    ? `The delays between the sites are ${SLOW_FACTOR} times the measured ones, so that you can watch.`
    : 'The delays between the sites are the measured ones: an early balance is soon confirmed.';
}
