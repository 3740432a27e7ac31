/**
 * `npm run engines -- up postgres`: a primary in Virginia, and replicas in Ireland and Frankfurt.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { oneOf, type Engine, type UpOptions } from '../engine.ts';
import { forgetState, readState, runFolder, writeState } from '../folders.ts';
import { WANS } from '../wan.ts';
import { whenInterrupted } from '../when-interrupted.ts';
import { PostgresServers, type PostgresKind, type PostgresState } from './servers.ts';

const NAME = 'postgres';
const REPLICAS = ['2', '1', '0'] as const;

export const postgres: Engine = {
  name: NAME,
  about: 'PostgreSQL: a primary in Virginia, replicas in Ireland and Frankfurt, clients in Ireland',
  options: [
    { flag: '--replicas <n>', about: `Of the primary: ${REPLICAS.join(', ')} (2 unless given)` },
    {
      flag: '--wan <preset>',
      about: `Delays between the places: ${WANS.join(', ')} (none unless given)`,
    },
  ],
  up,
  status,
  describe,
  down,
};

/** The servers that `up` started and that still run, if there are any. */
export function runningPostgres(): PostgresServers | undefined {
  const state = readState<PostgresState>(NAME);
  if (state === undefined) return undefined;
  const servers = new PostgresServers(state);
  return state.layout.servers.every(({ name }) => servers.isRunning(name)) ? servers : undefined;
}

/** Servers to use, and how to be done with them. */
export interface UsedPostgres {
  readonly servers: PostgresServers;
  /** Stops them. */
  readonly stop: () => Promise<void>;
}

/** The servers of `up` if they are of this kind; otherwise some for the caller alone. */
export async function useRunningPostgres(
  { replicas = 2, wan = 'none' }: Partial<PostgresKind>,
  progress: (text: string) => void,
): Promise<UsedPostgres> {
  const running = runningPostgres();
  if (running === undefined || !isLike(running, { replicas, wan }))
    return usePostgres({ replicas, wan }, progress);
  progress(`using the PostgreSQL servers that run (delays: ${wan})`);
  return { servers: running, stop: async () => {} };
}

let privateCount = 0;

/** Servers for the caller alone: tests kill them, and leave tables behind. */
export async function usePostgres(
  { replicas = 2, wan = 'none' }: Partial<PostgresKind>,
  progress: (text: string) => void,
): Promise<UsedPostgres> {
  privateCount += 1;
  const folder = join(runFolder(NAME), `${process.pid}-${privateCount}`);
  const servers = await PostgresServers.start({ replicas, wan, folder, progress });
  const forget = whenInterrupted(() => servers.stop());
  const stop = async (): Promise<void> => {
    forget();
    await servers.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { servers, stop };
}

async function up(options: UpOptions, progress: (text: string) => void): Promise<void> {
  const kind: PostgresKind = {
    replicas: Number(oneOf(options, 'replicas', { allowed: REPLICAS, unlessGiven: '2' })),
    wan: oneOf(options, 'wan', { allowed: WANS, unlessGiven: 'none' }),
  };
  const running = runningPostgres();
  if (running !== undefined && isLike(running, kind)) {
    progress('runs already');
    return report(running, progress);
  }
  if (await down()) progress('stopped the one that ran with other options, or in part');
  const servers = await PostgresServers.start({
    ...kind,
    folder: join(runFolder(NAME), 'servers'),
    progress,
  });
  writeState(NAME, servers.state);
  await report(servers, progress);
}

async function status(): Promise<readonly string[]> {
  const state = readState<PostgresState>(NAME);
  if (state === undefined) return [];
  const servers = new PostgresServers(state);
  const lines = state.layout.servers.map(async ({ name, place }) => {
    if (!servers.isRunning(name)) return `${name} in ${place}: down`;
    const text = 'select pg_is_in_recovery() as is_replica';
    const [row] = await servers.query(name, text).catch(() => []);
    const role =
      row === undefined
        ? 'does not answer'
        : row['is_replica'] === true
          ? 'is a replica'
          : 'is the primary';
    return `${name} in ${place} ${role}, delays: ${state.layout.wan}`;
  });
  return await Promise.all(lines);
}

/**
 * What a program needs that uses the servers which are up: their state, and how clients connect.
 */
function describe(): unknown {
  const state = readState<PostgresState>(NAME);
  if (state === undefined) return undefined;
  const servers = new PostgresServers(state);
  const connections = state.layout.servers.map(({ name }) => [name, servers.connection(name)]);
  return { ...state, connections: Object.fromEntries(connections) };
}

async function down(): Promise<boolean> {
  const state = readState<PostgresState>(NAME);
  if (state === undefined) return false;
  await new PostgresServers(state).stop();
  forgetState(NAME);
  return true;
}

function isLike({ state }: PostgresServers, { replicas, wan }: PostgresKind): boolean {
  return state.layout.servers.length === 1 + replicas && state.layout.wan === wan;
}

async function report(servers: PostgresServers, progress: (text: string) => void): Promise<void> {
  for (const line of await status()) progress(line);
  for (const { name, clientPorts } of servers.state.layout.servers)
    progress(`${name}: postgres://postgres@127.0.0.1:${clientPorts.ireland}/postgres`);
  progress(`logs and data: ${servers.state.folder}`);
}
