/**
 * An update has its name before anything of it leaves its site, whether its client gave it one or
 * not.
 */
import { expect, test } from 'vitest';
import type { RedRecord } from '../../../../src/server/service/records/records.ts';
import { bank, bankService } from './services.ts';
import { Sites } from './sites.ts';
import type { SentMessage } from './sites.ts';

const SITE = 1;

function namesIn(message: SentMessage): readonly string[] {
  const records = (value: readonly RedRecord[]): string[] => value.map(({ id }) => id);
  switch (message.kind) {
    case 'blue.operations':
      return message.operations.map(({ id }) => id);
    case 'log.propose':
      return records([message.record]);
    case 'log.append':
      return records(message.entries.map(({ record }) => record));
    case 'slot.request':
    case 'slot.answered':
      return [message.id];
    case 'blue.received':
    case 'blue.heartbeat':
    case 'blue.have':
    case 'blue.resend':
    case 'blue.gone':
    case 'rights.request':
    case 'rows.request':
    case 'rows.digest':
    case 'log.appended':
    case 'log.check':
    case 'log.checked':
    case 'log.gone':
      return [];
  }
}

function namesSent(sites: Sites, isMeant = (_from: number): boolean => true): ReadonlySet<string> {
  return new Set(
    sites.sent.flatMap(({ from, message }) => (isMeant(from) ? namesIn(message) : [])),
  );
}

test('asked without a name: blue, red, and a strong read → named by this start of the site, before they leave it', () => {
  const sites = new Sites(bankService('red'), 3);
  sites.submit(SITE, bank.deposit({ account: 'a', amount: 5 }));
  sites.sync(SITE);
  const first = namesSent(sites, (from) => from === SITE);
  expect([...first]).toEqual(['s-0-2/1']);
  sites.settle();
  const red = sites.submit(SITE, bank.withdraw({ account: 'a', amount: 5 }));
  expect([...namesSent(sites)]).toEqual(['s-0-2/2']);
  const wantedStages = { tentative: false, causal: false, strong: true };
  sites.submit(SITE, bank.balance({ account: 'a' }), { wantedStages });
  expect([...namesSent(sites)]).toEqual(['s-0-2/2', 's-0-2/3']);
  sites.settle();
  expect(red.value).toMatchObject({ paid: true });
});

test('a restarted site → another name for operations without an operationId', () => {
  const sites = new Sites(bankService('red'), 3);
  sites.crash(SITE);
  sites.start(SITE);
  sites.submit(SITE, bank.withdraw({ account: 'a', amount: 5 }));
  expect([...namesSent(sites, (from) => from === SITE)]).toEqual(['s-0-4/1']);
});

test('named by its client, and moved → the same name at both sites, and in what they ask each other', () => {
  const sites = new Sites(bankService('red'), 3);
  sites.ask(SITE, bank.withdraw({ account: 'a', amount: 5 }), { id: 'c/1', home: 2, hop: 1 });
  expect([...namesSent(sites)]).toEqual(['c/1']);
  sites.settle();
});
