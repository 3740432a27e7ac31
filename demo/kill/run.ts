/**
 * Kills the server repeatedly under load, and afterwards looks for every operation that was sent.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pause } from '../tickets/pause.ts';
import { figuresOf, type Figures, type HistoryLine } from './history.ts';
import { clientOf, Load } from './load.ts';
import { getLookEnd, lookFor } from './look-for.ts';
import { startServer } from './start-server.ts';

/** The report of a run. */
export interface KillReport extends Figures {
  readonly kills: number;
  /** The times from each start of the process to its first answer. */
  readonly recoveriesMs: readonly number[];
}

export interface KillOptions {
  readonly kills: number;
  /** The minimum number of acknowledged operations between two kills. */
  readonly perKill: number;
  /** The directory of the data. Default: a temporary one, which is removed */
  readonly data: string | undefined;
}

/** The moment of a kill is drawn from this range, so that it interrupts writes at any stage. */
const KILL_SPREAD_MS = 50;
const LOOK_BATCH = 500;

/** Runs the kills. `say` receives lines about the progress. */
export async function killAndRestart(
  { kills, perKill, data }: KillOptions,
  say: (line: string) => void,
): Promise<{ readonly report: KillReport; readonly history: readonly HistoryLine[] }> {
  const folder = data ?? (await mkdtemp(join(tmpdir(), 'correctables-kill-')));
  const history: HistoryLine[] = [];
  const startedAtMs = performance.now();
  const note = (line: Omit<HistoryLine, 'atMs'>): void => {
    history.push({ ...line, atMs: Math.round((performance.now() - startedAtMs) * 1000) / 1000 });
  };
  let server = startServer({ data: folder, port: 0 });
  try {
    const sites = await server.listening;
    const port = Number(new URL(Object.values(sites)[0] as string).port);
    const load = new Load(Object.values(sites), note);
    load.start();
    const recoveriesMs: number[] = [];
    for (let round = 1; round <= kills; round += 1) {
      await load.until(load.acknowledged + perKill);
      await pause(Math.random() * KILL_SPREAD_MS);
      await server.kill();
      const before = load.acknowledged;
      const startingAtMs = performance.now();
      server = startServer({ data: folder, port });
      await server.listening;
      await load.until(before + 1);
      recoveriesMs.push(Math.round(performance.now() - startingAtMs));
      say(
        `kill ${round} of ${kills}: ${load.acknowledged} acknowledged, back after ${recoveriesMs.at(-1)} ms`,
      );
    }
    await load.until(kills * perKill);
    await load.stop();
    await lookEverywhere(sites, history, note);
    return { report: { kills, ...figuresOf(history), recoveriesMs }, history };
  } finally {
    await server.stop();
    if (data === undefined) await rm(folder, { recursive: true });
  }
}

async function lookEverywhere(
  sites: Readonly<Record<string, string>>,
  history: readonly HistoryLine[],
  note: (line: Omit<HistoryLine, 'atMs'>) => void,
): Promise<void> {
  const sent = history.filter(({ kind }) => kind === 'sent').map(({ operation }) => operation);
  for (const [site, url] of Object.entries(sites)) {
    const client = clientOf(url);
    const endMs = getLookEnd();
    for (let start = 0; start < sent.length; start += LOOK_BATCH) {
      const operations = sent.slice(start, start + LOOK_BATCH);
      const times = await lookFor(client, operations, endMs);
      for (const [index, operation] of operations.entries()) {
        note({ operation, kind: 'found', site, times: times[index] ?? 0 });
      }
    }
    await client.close();
  }
}
