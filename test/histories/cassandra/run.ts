/** One run on a running cluster: callers, faults, healing, and the faults found in the history. */
import { setTimeout as sleep } from 'node:timers/promises';
import { clientOf } from '../../../engines/cassandra/ask.ts';
import type { Cluster } from '../../../engines/cassandra/cluster.ts';
import type { HistoriesOptions, HistoriesReport } from '../histories.ts';
import { countBy } from '../reported-outcomes.ts';
import { KeyAllocator } from './key-allocator.ts';
import { Actor } from './actor.ts';
import { actorsAt, beginUpdates, readAgain, work, workInPeace } from './callers.ts';
import { SETTLED_MS } from './checks/healthy-periods.ts';
import { faultsIn } from './checks/index.ts';
import { readFinalState } from './final-state.ts';
import { INDEPENDENT, NEMESIS } from './inputs.ts';
import { Nemesis } from './nemesis.ts';
import { CLIENT_LOCATIONS, ClientSession } from './client-session.ts';
import { createTables, promised } from './tables.ts';

/** If starting took nearly all the time, a shorter load would prove nothing. */
const LOAD_LEAST_MS = 15_000;
const REPORT_MS = 30_000;

export async function runOn(cluster: Cluster, options: HistoriesOptions): Promise<HistoriesReport> {
  const { seed, history, progress } = options;
  const [host] = cluster.address('frankfurt').split(':') as [string];
  const driver = clientOf(host, cluster.access);
  const keyspaces = await createTables(cluster, driver);
  const seats: ClientSession[] = [];
  try {
    for (const [number, place] of CLIENT_LOCATIONS.entries())
      seats.push(await ClientSession.take(cluster, keyspaces, place, number));
    const untilMs = Math.max(options.untilMs, performance.now() + LOAD_LEAST_MS);
    const board = new KeyAllocator();
    const nemesis = new Nemesis({
      ...options,
      untilMs,
      cluster,
      driver,
      keyspace: keyspaces.quorum,
      seats,
      beginUpdates: (subscriber, random) => {
        beginUpdates(
          new Actor(subscriber, history, { name: 'leaving', random, isKept: false }),
          board,
        );
      },
    });
    const actors = actorsAt(seats, history, seed);
    const reporting = setInterval(() => progress(`${history.calls.length} calls`), REPORT_MS);
    progress(`${actors.length} callers at ${seats.length} clients`);
    await Promise.all([work(actors, board, untilMs), nemesis.run()]);
    clearInterval(reporting);
    const dead = cluster.sites.filter((site) => !cluster.isRunning(site));
    await nemesis.heal();
    await sleep(SETTLED_MS);
    progress('all healed: works in peace, then reads what is there');
    await workInPeace(actors, board);
    await readAgain(actors, board, history);
    await Promise.all(seats.splice(0).map((subscriber) => subscriber[Symbol.asyncDispose]()));
    await readFinalState(cluster, keyspaces, history);
    const { calls } = history;
    progress(`${calls.length} calls to be judged`);
    const isOperation = ({ session }: { readonly session: string }): boolean =>
      ![NEMESIS, INDEPENDENT].includes(session);
    const operations = calls.filter(isOperation);
    return {
      operations: countBy(operations, ({ kind }) => kind),
      outcomes: countBy(operations, ({ outcome = 'in flight' }) => outcome),
      injected: countBy(
        calls.filter(({ session }) => session === NEMESIS),
        ({ kind }) => kind,
      ),
      faults: [
        ...dead.map((site) => `the node of ${site} ended by itself`),
        ...faultsIn(calls, promised),
      ],
      serversAlive: cluster.sites.every((site) => cluster.isRunning(site)) && dead.length === 0,
    };
  } finally {
    await Promise.all(seats.map((subscriber) => subscriber[Symbol.asyncDispose]()));
    await driver.shutdown();
  }
}
