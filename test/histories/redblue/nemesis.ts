/** What is done to connections, callers and the server while workers work, and how it is made good. */
import type { Random } from '../../../src/server/collections/random.ts';
import { pause } from '../pause.ts';
import { repeat } from '../repeat.ts';
import type { Caller } from './caller.ts';
import type { Fixture } from './fixture.ts';

const CONNECTIONS_EVERY_MS = [200, 900] as const;
const SERVER_EVERY_MS = [2_500, 6_000] as const;
const DOWN_MS = [200, 3_000] as const;
const FREEZE_MS = [200, 4_000] as const;
const AWAY_MS = [0, 800] as const;

interface Parts {
  readonly stage: Fixture;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** Cuts what callers have, one way or all; what is down for a while makes them move. */
export async function disturbConnections({ stage, random, signal }: Parts): Promise<void> {
  const outages: Promise<void>[] = [];
  await repeat(CONNECTIONS_EVERY_MS, { random, signal }, async () => {
    const caller = random.pick(stage.callers as [Caller, ...Caller[]]);
    if (random.chance(0.1)) {
      for (const item of stage.callers) item.cut();
      stage.injected.add('cuts of all connections');
    } else if (random.chance(0.5)) {
      caller.cut();
      stage.injected.add("cuts of one caller's connection");
    } else {
      outages.push(outage({ stage, random, signal }, caller));
    }
  });
  await Promise.all(outages);
}

/** The way to its own site, and perhaps the next one, is away for a while. */
async function outage({ stage, random, signal }: Parts, { routes }: Caller): Promise<void> {
  const away = routes.slice(0, random.between(1, 2));
  for (const route of away) route.down();
  stage.injected.add(`moves, ${away.length} of ${routes.length} sites out of reach`);
  await pause(random.between(...DOWN_MS), signal);
  for (const route of away) route.up();
}

/** The process that has all sites is killed, ended or frozen; in the end it runs. */
export async function disturbServer({ stage, random, signal }: Parts): Promise<void> {
  const { server, injected } = stage;
  await repeat(SERVER_EVERY_MS, { random, signal }, async () => {
    if (random.chance(0.4)) {
      injected.add('freezes of the server');
      server.freeze();
      await pause(random.between(...FREEZE_MS), signal);
      server.goOn();
      return;
    }
    const isKilled = random.chance(0.7);
    injected.add(isKilled ? 'kills of the server' : 'ends of the server');
    await (isKilled ? server.kill() : server.end());
    await pause(random.between(...AWAY_MS), signal);
    await server.begin();
  });
}
