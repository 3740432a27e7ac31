/**
 * A version of a service is activated while red operations go on in two logs, which reach the sites
 * at different times. One site still runs the old version, and others restart. No site with the old
 * version applies what only the new one knows. Each reply stays what it was, at each site. In the
 * end, the sites with the new version have it in force.
 */
// @rule PART-G13
import { expect, onTestFinished, test, vi } from 'vitest';
import type { BlueOperation, RedOperation } from '../../src/server/service/records/records.ts';
import type { SiteState } from '../../src/server/site/core/site-state.ts';
import { RedOrder } from '../../src/server/site/lane/order/red-order.ts';
import { createPartitions } from '../../src/server/service/partitions.ts';
import { createRandom } from '../support/globals/seeded-random.ts';
import { scaleRuns } from '../support/lane.ts';
import { isOfLog } from '../support/member-world.ts';
import { siteAt } from '../support/origins.ts';
import { running, V1, V2, versionOf, VersionWorld } from '../support/version-world.ts';
import type { Outcome } from '../unit/server/site/sites.ts';

const RUNS = Number(process.env['VERSIONS_RUNS'] ?? scaleRuns(50));
const FIRST_SEED = Number(process.env['VERSIONS_SEED'] ?? 1);
const PLANTED_RUNS = 60;
const ROUNDS = 40;
const [US_LEADER, OLD] = [1, 2] as const;
const SITES = [0, US_LEADER, OLD];
const LOGS = [0, 1];
const HASH_V2 = versionOf(V2).service.hash;

interface Quoted {
  readonly id: string;
  readonly home: number;
  readonly operation: { readonly name: string; readonly args: unknown };
  /** What each site that was asked has replied. */
  readonly outcomes: Outcome[];
}

interface VersionRun {
  readonly problems: readonly string[];
  readonly newReplies: number;
  readonly restarts: number;
}

function runVersions(seed: number): VersionRun {
  const random = createRandom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const problems: string[] = [];
  const onApplied = (operation: BlueOperation | RedOperation, state: SiteState): void => {
    const machine = world.machines.find((item) => item?.state === state);
    const { shadowOperations } = machine?.options.service ?? V2;
    if (Object.hasOwn(shadowOperations, operation.shadow ?? '')) return;
    problems.push(`a site applies ${operation.id} by a version without '${operation.shadow}'`);
  };
  const world: VersionWorld = new VersionWorld(SITES.length, {
    partitions: createPartitions(V2, { us: {} }),
    redLogs: [{ leader: siteAt(US_LEADER) }],
    observer: { onApplied },
  });
  const isOutdated = (site: number): boolean => world.outdated.some(([item]) => item === site);
  const restart = (site: number): void => {
    world.crash(site);
    world.options = running(site === OLD ? V1 : V2) as never;
    world.start(site);
  };
  world.restart([0, US_LEADER], V2);
  /** The links over which a site gets the messages of a log. */
  const links = LOGS.flatMap((log) =>
    SITES.map((to) => ({ carries: isOfLog(log, to), isCut: random() < 0.3 })),
  );
  const quoted: Quoted[] = [];
  const activatedAt = Math.floor((random() * ROUNDS) / 2);
  let restarts = 0;

  for (let round = 0; round < ROUNDS; round += 1) {
    const site = pick(SITES);
    if (round === activatedAt) world.activate(pick([0, US_LEADER]));
    else if (random() < 0.1 && !isOutdated(site)) {
      restart(site);
      restarts += 1;
    } else if (random() < 0.3 && quoted.length > 0) {
      const { id, home, operation, outcomes } = pick(quoted);
      if (!isOutdated(site)) outcomes.push(world.ask(site, operation, { id, home }));
    } else if (!isOutdated(site)) {
      const operation = { name: 'quote', args: { id: pick(['x', 'us/x', 'us/y']) } };
      const id = `c/${quoted.length + 1}`;
      quoted.push({
        id,
        home: site,
        operation,
        outcomes: [world.ask(site, operation, { id, home: site })],
      });
    }
    for (const link of links) if (random() < 0.15) link.isCut = !link.isCut;
    world.settle((sent) => links.some(({ isCut, carries }) => isCut && carries(sent)));
    world.tick();
  }
  world.pass(300);
  // A proposal is lost with a start of its site. So the operator repeats the command.
  world.activate(0);
  world.pass(300);

  for (const site of [0, US_LEADER]) {
    if (world.inForceAt(site) !== HASH_V2)
      problems.push(`the version is not in force at site ${site}`);
    for (const { id, home, operation, outcomes } of quoted)
      outcomes.push(world.ask(site, operation, { id, home }));
  }
  world.pass(100);
  const replies = quoted.map(({ id, outcomes }) => {
    const values = new Set(outcomes.flatMap(({ value }) => value ?? []));
    if (values.size > 1) problems.push(`${id} has the replies ${[...values].join(' and ')}`);
    return [...values];
  });
  return { problems, restarts, newReplies: replies.filter(([value]) => value === 'new').length };
}

test('a version is in force at a site once each of its red logs has that', () => {
  const counts = { newReplies: 0, restarts: 0 };
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed += 1) {
    const { problems, newReplies, restarts } = runVersions(seed);
    expect({ seed, problems }).toEqual({ seed, problems: [] });
    counts.newReplies += newReplies;
    counts.restarts += restarts;
  }
  expect(counts.newReplies).toBeGreaterThan(RUNS);
  expect(counts.restarts).toBeGreaterThan(RUNS);
});

test('planted: a version is in force at once when main has it', () => {
  const spy = vi.spyOn(RedOrder.prototype, 'activatedPlace', 'get').mockReturnValue(Infinity);
  onTestFinished(() => spy.mockRestore());
  let seed = 1;
  while (seed <= PLANTED_RUNS && runVersions(seed).problems.length === 0) seed += 1;
  expect(seed).toBeLessThanOrEqual(PLANTED_RUNS);
});
