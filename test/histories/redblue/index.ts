/** `npm run histories -- redblue`: `correctables serve` in a process of its own, three sites, clients that move, and harm. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whenInterrupted } from '../../../engines/when-interrupted.ts';
import type { Histories, HistoriesOptions, HistoriesReport } from '../histories.ts';
import { countBy } from '../reported-outcomes.ts';
import { Counter } from '../counter.ts';
import { runRound } from './round.ts';
import { Server } from './server.ts';
import { Fixture } from './fixture.ts';

export const redblueHistories: Histories = { name: 'redblue', run };

const ROUND_MS = 20_000;
/** Less is not worth a round. */
const ROUND_MIN_MS = 5_000;

async function run({ untilMs, seed, history, progress }: HistoriesOptions): Promise<HistoriesReport> {
  const folder = await mkdtemp(join(tmpdir(), 'correctables-histories-'));
  const server = await Server.start(folder);
  const forget = whenInterrupted(() => server.kill());
  const injected = new Counter();
  const faults: string[] = [];
  try {
    for (let round = seed; ; round += 1) {
      progress(`round ${round}`);
      const stage = new Fixture({ server, history, injected, progress, seed: round });
      const lastsMs = Math.max(ROUND_MIN_MS, Math.min(untilMs - performance.now(), ROUND_MS));
      faults.push(...(await runRound(stage, lastsMs, () => history.calls)).map((fault) => `round ${round}: ${fault}`));
      if (faults.length > 0 || untilMs - performance.now() < ROUND_MIN_MS) break;
    }
    const { calls } = history;
    return {
      operations: countBy(calls, ({ kind }) => kind),
      outcomes: countBy(calls, ({ outcome = 'none' }) => outcome),
      injected: injected.counts,
      faults: [...faults, ...server.complaints.map((line) => `the server: ${line}`)],
      serversAlive: server.isRunning,
    };
  } finally {
    forget();
    await server.end();
    await rm(folder, { recursive: true, force: true });
  }
}
