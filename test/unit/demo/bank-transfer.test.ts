/**
 * The row that a transfer of the bank leaves: it decides about a transfer whose outcome is unknown.
 */
import { expect, onTestFinished, test } from 'vitest';
import { createClient, type Binding, type Operation } from 'correctables';
import type { RedBlueLevels } from 'correctables/bindings/redblue';
import { createEmbedded, keyValueService } from 'correctables/server';
import {
  endUnknownTransfer,
  openAccounts,
  readStatement,
  transfer,
  type BankClient,
} from '../../../demo/bank/transfer.ts';

const TEN = { from: 'Ada', to: 'Ben', euros: 10 } as const;
const AT_FIRST = { Ada: 100, Ben: 100, Cleo: 100, Dan: 100 };

async function openBank(): Promise<{
  readonly site: Binding<RedBlueLevels>;
  readonly client: BankClient;
}> {
  const deployment = createEmbedded(keyValueService, { sites: ['ireland'] });
  onTestFinished(() => deployment.close());
  const site = deployment.site('ireland');
  const client = createClient(site);
  await openAccounts(client);
  return { site, client };
}

/** Begins a transfer whose commit is lost on its way. Returns the commit. */
async function loseCommit(site: Binding<RedBlueLevels>, id: string): Promise<Operation> {
  const handle = site.openHandle?.() as Binding<RedBlueLevels>;
  let report: (commit: Operation) => void = () => {};
  const lost = new Promise<Operation>((resolve) => (report = resolve));
  const lossy: Binding<RedBlueLevels> = {
    name: 'lossy',
    close: () => handle.close(),
    consistencyLevels: () => handle.consistencyLevels(),
    supports: (operation) => handle.supports(operation),
    submitOperation(operation, ...others) {
      if (operation.name !== 'commit') return handle.submitOperation(operation, ...others);
      report(operation);
      return undefined;
    },
  };
  const moved = transfer(createClient(lossy), id, TEN);
  const commit = await lost;
  moved.cancel();
  await expect(moved).rejects.toMatchObject({ code: 'UNKNOWN' });
  return commit;
}

test('a transfer that was made → its row has what it moved, at the moment of the balances', async () => {
  const { client } = await openBank();
  await transfer(client, 'a', TEN);
  const statement = await readStatement(client, [
    ['a', 'Ada'],
    ['b', 'Ada'],
  ]);
  expect(statement).toEqual({
    balances: { ...AT_FIRST, Ada: 90, Ben: 110 },
    made: new Map([['a', TEN]]),
  });
});

test('the commit of a transfer with an unknown outcome arrives after its end → refused', async () => {
  const { site, client } = await openBank();
  const commit = await loseCommit(site, 'a');
  await endUnknownTransfer(client, 'a', TEN);
  expect(await client.invokeStrong(commit)).toEqual({
    committed: false,
    changed: ['main/transfer:a'],
  });
  expect(await readStatement(client, [['a', 'Ada']])).toEqual({
    balances: AT_FIRST,
    made: new Map(),
  });
});

test('the commit of a transfer with an unknown outcome arrives before its end → it stays made', async () => {
  const { site, client } = await openBank();
  await client.invokeStrong(await loseCommit(site, 'a'));
  await endUnknownTransfer(client, 'a', TEN);
  expect((await readStatement(client, [['a', 'Ada']])).made).toEqual(new Map([['a', TEN]]));
});
