/**
 * Random work, crashes, lost messages and changes of members: all members agree on the origins and their ends, and have the
 * same state; what was acknowledged and a remaining site had is not lost.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enqueue, get, put } from '../../../../src/operations/index.ts';
import { scaleRuns } from '../../../support/lane.ts';
import { MemberWorld } from '../../../support/member-world.ts';
import type { Outcome } from '../replica/sites.ts';

type Step =
  | {
      readonly kind: 'put' | 'enqueue' | 'crash' | 'restart' | 'retire' | 'rebuild' | 'lose' | 'deliver';
      readonly site: number;
    }
  | { readonly kind: 'pass' | 'join'; readonly site: number };

const RUNS = Number(process.env['FC_RUNS'] ?? scaleRuns(60));
const LEADER = 0;
const MAX_PLACES = 9;

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...(['put', 'put', 'put', 'enqueue', 'enqueue', 'crash', 'restart', 'restart', 'retire', 'rebuild'] as const),
      ...(['lose', 'deliver', 'deliver', 'deliver', 'pass', 'pass', 'join'] as const),
    ),
    site: fc.nat(7),
  }),
  { maxLength: 40 },
) as fc.Arbitrary<Step[]>;

interface Write {
  readonly key: string;
  readonly site: number;
  readonly outcome: Outcome;
}

class Run {
  readonly world: MemberWorld;
  readonly writes: Write[] = [];
  /** Places of nodes that were started once and whose directory is there. */
  readonly places = new Set<number>();
  #directories = 0;

  constructor(siteCount: number) {
    this.world = new MemberWorld({ siteCount, redLeader: (LEADER + 1) as never });
    for (let site = 0; site < siteCount; site += 1) this.places.add(site);
  }

  get running(): number[] {
    return [...this.places].filter((site) => this.world.machines[site] !== undefined && !this.isRetired(site));
  }

  isRetired(site: number): boolean {
    return this.world.retirementOf(site) !== undefined;
  }

  apply({ kind, site: chosen }: Step): void {
    const { world, running } = this;
    const site = running[chosen % running.length] ?? LEADER;
    const name = world.machine(LEADER).members[site]?.site ?? '';
    switch (kind) {
      case 'put': {
        const key = `k${this.writes.length}`;
        this.writes.push({ key, site, outcome: world.submit(site, put(key, site)) });
        return;
      }
      case 'enqueue':
        world.submit(site, enqueue('q', `i${chosen}`));
        return;
      case 'crash':
        if (site !== LEADER) world.crash(site);
        return;
      case 'restart':
        for (const place of this.places) {
          if (world.machines[place] === undefined && !this.isRetired(place)) world.start(place);
        }
        return;
      case 'retire':
        if (site !== LEADER && running.length > 2) world.change(running[0] ?? LEADER, { name, directory: null });
        return;
      case 'rebuild':
        if (site === LEADER || running.length <= 2 || world.machines.length >= MAX_PLACES) return;
        // Its directory is lost.
        world.crash(site);
        this.places.delete(site);
        this.#begin(name);
        return;
      case 'join':
        if (world.machines.length < MAX_PLACES) this.#begin(`new${this.#directories}`);
        return;
      case 'lose':
        world.drop(({ to }) => to === site);
        return;
      case 'deliver':
        for (const each of running) world.sync(each);
        world.deliver(({ to }) => to !== site);
        return;
      case 'pass':
        world.tick();
    }
  }

  /** A node on a new directory: it begins once a donor has taken in the change. */
  #begin(name: string): void {
    const { world } = this;
    this.#directories += 1;
    const directory = `d${this.#directories}`;
    for (let attempt = 0; attempt < 20; attempt += 1) {
      world.change(LEADER, { name, directory });
      world.pass(50);
      const origin = world.machine(LEADER).members.find((member) => member.directory === directory)?.origin;
      if (origin === undefined) {
        this.apply({ kind: 'restart', site: 0 });
        continue;
      }
      while (world.machines.length < origin - 1) world.addPlace();
      // Ordinals are places here: none is given to a node that never began.
      const donors = this.running.filter((site) => world.machine(site).members.length >= origin);
      const place = world.startFrom(donors.at(-1) ?? LEADER);
      if (place !== origin - 1) throw new Error(`origin ${origin} began at place ${place}`);
      this.places.add(origin - 1);
      return;
    }
  }

  finish(): void {
    this.apply({ kind: 'restart', site: 0 });
    this.world.pass(1500);
    this.apply({ kind: 'restart', site: 0 });
    this.world.pass(1500);
    // The lost messages may be all that a retired site was sent: open the connections again.
    for (const site of this.running) if (site !== LEADER) this.world.connect(site, LEADER);
    this.world.pass(100);
  }
}

test('members that change at random → all agree, and nothing is lost that a remaining site had', () => {
  fc.assert(
    fc.property(fc.integer({ min: 3, max: 5 }), steps, (siteCount, chosen) => {
      const run = new Run(siteCount);
      for (const step of chosen) run.apply(step);
      run.finish();
      const { world, running } = run;
      const states = world.statesAt(LEADER);
      for (const site of running) {
        expect(world.statesAt(site)).toEqual(states);
        expect(world.stateAt(site)).toEqual(world.stateAt(LEADER));
      }
      for (const { origin, final } of world.machine(LEADER).members) {
        if (final === undefined) continue;
        for (const site of running) expect(world.machine(site).replica.blue.getHeld(origin)).toEqual(final);
      }
      expect(states.filter((state) => /joining|closing/.test(state))).toEqual([]);
      for (const { key, site, outcome } of run.writes) {
        // Of a site that is there, whatever it has answered.
        if (!running.includes(site) || outcome.value === undefined) continue;
        expect(world.read(LEADER, get(key))).toBe(site);
      }
      expect(world.halted).toEqual([]);
      expect(world.events).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});
