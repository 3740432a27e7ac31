/**
 * Measures when a transaction first shows its result, and when it is committed, at three sites with
 * the paper's delays.
 */
import { createClient, type Client } from 'correctables';
import { redblue, type RedBlueLevels } from 'correctables/bindings/redblue';
import { keyValue } from 'correctables/contract';
import { put } from 'correctables/operations';
import { WebSocket } from 'ws';
import { startLatencyProxy, type LatencyProxy } from '../../demo/shared/latency-proxy.ts';
import { seeded } from '../../demo/shared/random.ts';
import { pause } from '../../demo/tickets/pause.ts';
import { SITES } from '../../engines/wan.ts';
import { runAdaptiveRounds } from '../harness/adaptive-rounds.ts';
import { answer, ended, startChild } from '../harness/children.ts';
import { checkDelay, checkViews } from '../harness/preconditions.ts';
import { median } from '../harness/statistics.ts';
import { SERVER_FLAGS } from '../load/processes.ts';
import { computeFirstViewGoals } from './goals.ts';
import { STANDS, tripsMs, type FirstView, type Stand } from './stands.ts';
import { transferOne } from './transfer.ts';

/** The number of users at each stand. Each has separate accounts. */
const USERS = 4;
const THINK_MS_MAX = 40;
const WARM_UP_MS = 1_000;
const OPENING_CENTS = 1_000_000;

interface FirstViewSettings {
  readonly quick: boolean;
  readonly progress: (text: string) => void;
}

export function measureFirstViews({
  quick,
  progress,
}: FirstViewSettings): Promise<readonly (readonly FirstView[])[]> {
  const measureOnce = (round: number, of: string): Promise<readonly FirstView[]> => {
    progress(`first views, ${of}`);
    return measureRound(round, quick ? 1_000 : 2_000);
  };
  return runAdaptiveRounds(measureOnce, {
    ...(quick ? { rounds: 1, looks: 1 } : { rounds: 7 }),
    computeGoalResults: computeFirstViewGoals,
  });
}

async function measureRound(round: number, durationMs: number): Promise<readonly FirstView[]> {
  const server = startChild(
    new URL('server.ts', import.meta.url),
    ['transaction', String(SITES.length)],
    [SERVER_FLAGS],
  );
  const { urls } = await answer<{ urls: readonly string[] }>(server);
  const proxies: LatencyProxy[] = [];
  const clients: Client<RedBlueLevels>[] = [];
  try {
    for (const { site, awayMs } of STANDS) {
      let url = urls[SITES.indexOf(site)] as string;
      if (awayMs > 0) {
        const proxy = await startLatencyProxy(url, awayMs);
        proxies.push(proxy);
        url = proxy.url;
      }
      const binding = redblue(keyValue, { url, WebSocket });
      await binding.ready;
      clients.push(createClient(binding));
    }
    const until = performance.now() + WARM_UP_MS + durationMs;
    const views = STANDS.map((stand, at) => {
      const work = {
        client: clients[at] as Client<RedBlueLevels>,
        name: `${round}/${at}`,
        until,
        durationMs,
      };
      return measureStand(stand, work);
    });
    return await Promise.all(views);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await ended(server);
  }
}

interface Work {
  readonly client: Client<RedBlueLevels>;
  readonly name: string;
  readonly until: number;
  readonly durationMs: number;
}

/**
 * @throws Error if there are no first views, or if final views arrive sooner than the delays allow
 */
async function measureStand(
  stand: Stand,
  { client, name, until, durationMs }: Work,
): Promise<FirstView> {
  const firsts: number[] = [];
  const finals: number[] = [];
  const runUser = async (user: number): Promise<void> => {
    const random = seeded(user);
    const [from, to] = [`${name}/${user}/from`, `${name}/${user}/to`];
    await client.invoke(put(from, OPENING_CENTS));
    for (;;) {
      await pause(random() * THINK_MS_MAX);
      const begun = performance.now();
      if (begun > until) return;
      const { firstMs, finalMs } = await timeTransfer(client, from, to);
      if (begun < until - durationMs) continue;
      if (firstMs !== undefined) firsts.push(firstMs);
      finals.push(finalMs);
    }
  };
  await Promise.all(Array.from({ length: USERS }, (_, user) => runUser(user)));

  const title = `transactions from ${stand.site}, ${stand.awayMs} ms away`;
  checkViews(title, { views: firsts.length, of: finals.length });
  const [firstMs, finalMs] = [median(firsts), median(finals)];
  checkDelay(`${title}, first view`, { ms: firstMs, atLeastMs: tripsMs(stand).firstMs });
  checkDelay(`${title}, final view`, { ms: finalMs, atLeastMs: tripsMs(stand).finalMs });
  return { ...stand, firstMs, finalMs, transactions: finals.length };
}

async function timeTransfer(
  client: Client<RedBlueLevels>,
  from: string,
  to: string,
): Promise<{ readonly firstMs: number | undefined; readonly finalMs: number }> {
  const begun = performance.now();
  const transfer = transferOne(client, from, to);
  let firstMs: number | undefined;
  transfer.onUpdate((_, { level }) => {
    if (level === 'tentative') firstMs ??= performance.now() - begun;
  });
  await transfer;
  return { firstMs, finalMs: performance.now() - begun };
}
