/**
 * Sites of a deployment whose members change, for tests in which sites join, are rebuilt, or are
 * retired.
 */
import { isCorrectableError } from '../../src/correctable/errors.ts';
import {
  createSiteFromShared,
  getSharedPart,
  mergeSharedIntoSite,
  removeWildStamps,
} from '../../src/server/log/recovered-state.ts';
import type { RecoveredState } from '../../src/server/log/recovered-state.ts';
import type { Checkpoint } from '../../src/server/service/records/checkpoint.ts';
import type { MemberEvent } from '../../src/server/site/site-event.ts';
import type { Site } from '../../src/server/site/site.ts';
import { decodeValue, encodeValue } from '../../src/server/node/storage/format/value-text.ts';
import type { Sent } from '../unit/server/site/sites.ts';
import { siteAt } from './origins.ts';
import { SiteWorld } from './site-world.ts';
import { saveAll } from './saved-rows.ts';

type Output<K extends MemberEvent['kind']> = Extract<MemberEvent, { kind: K }>;

/** Returns a function that finds the messages to a site about the red log of a partition. */
export const isOfLog =
  (partition: number, to: number) =>
  ({ to: receiver, envelope }: Sent): boolean =>
    receiver === to &&
    envelope.message.kind.startsWith('log.') &&
    envelope.to.partition === partition;

export class MemberWorld extends SiteWorld {
  /**
   * For each site, the number of outputs before it took a donor's state. Earlier outputs do not
   * count.
   */
  readonly #behindFrom = new Map<number, number>();

  machine(site: number): Site {
    return this.machines[site] as Site;
  }

  /** Returns everything that a site saves, encoded and decoded as if read from a file. */
  saveCheckpoint(site: number): Checkpoint {
    const machine = this.machine(site);
    const saved = Object.entries(machine.sections).map(([name, section]) => {
      const rows = saveAll(section).filter(([, value]) => value !== undefined);
      return [name, new Map(decodeValue(encodeValue(rows)) as [string, unknown][])] as const;
    });
    return {
      sections: Object.fromEntries(saved),
      smallParts: decodeValue(encodeValue(machine.createCut().smallParts)),
    };
  }

  /**
   * Returns the stored state of a site after a checkpoint, with only the part of its logs that
   * other sites may lack.
   */
  saveStored(site: number): RecoveredState {
    const { local, red } = this.copyLogs(site);
    const from = this.machine(site).retainedFrom;
    return {
      local: { start: from.local, entries: local.entries.slice(from.local) },
      red: { start: from.red, entries: red.entries.slice(from.red) },
      checkpoint: this.saveCheckpoint(site),
    };
  }

  /** Lets time pass while some messages do not arrive. */
  passWithout(isHeld: (sent: Sent) => boolean): void {
    for (let round = 0; round < 20; round += 1) {
      this.settle(isHeld);
      this.tick();
    }
  }

  /** Proposes a change of the members at one site. Returns the outcome. */
  changeMembers(site: number, name: string, directory: string | null): Output<'changed'> {
    const before = this.memberEvents.length;
    this.change(site, { name, directory });
    this.pass(100);
    const outcome = this.memberEvents
      .slice(before)
      .find(([at, { kind }]) => at === site && kind === 'changed');
    if (outcome === undefined) throw new Error(`nothing came of the change of ${name}`);
    return outcome[1] as Output<'changed'>;
  }

  /** Starts a new origin with the state of a donor. Returns its place. */
  startFrom(donor: number): number {
    const place = this.addPlace();
    this.start(place, createSiteFromShared(this.#transfer(donor)));
    return place;
  }

  /** Restarts a site that is behind with the shared state of a donor and its own state. */
  merge(site: number, donor: number, own?: RecoveredState): void {
    const shared = this.#transfer(donor);
    this.crash(site);
    const merged = mergeSharedIntoSite(this.originAt(site), own ?? this.copyStored(site), shared);
    this.#behindFrom.set(site, this.memberEvents.length);
    this.start(site, merged);
  }

  /** Returns what a site with a correct clock receives of a donor's state. */
  #transfer(donor: number): Checkpoint {
    const { maxClockSkewMs } = this.machine(donor).options;
    return removeWildStamps(getSharedPart(this.saveCheckpoint(donor)), this.nowMs + maxClockSkewMs);
  }

  /** Restores the connection of a site to another one. */
  connect(site: number, other: number): void {
    this.machine(site).setConnected(this.originAt(other), true, this.nowMs);
    // The messages of the site are sent with its next input.
    this.sync(site);
    this.tick();
  }

  /**
   * Returns whether the state of the donor could be used. If not, the site starts again with its
   * own.
   */
  tryMerge(site: number, donor: number, own?: RecoveredState): boolean {
    try {
      this.merge(site, donor, own);
      return true;
    } catch (error) {
      if (!isCorrectableError(error, 'UNAVAILABLE')) throw error;
      this.start(site, own);
      return false;
    }
  }

  /** Returns whether a site has reported that it needs the state of another site. */
  isBehind(site: number): boolean {
    return this.memberEvents
      .slice(this.#behindFrom.get(site))
      .some(([at, { kind }]) => at === site && kind === 'behind');
  }

  /** Returns the state of each origin, as a site knows it. */
  statesAt(site: number): string[] {
    return this.machine(site).members.map(({ site: name, incarnation, state, final }) =>
      [name, incarnation, state, final?.sequence ?? ''].join(' ').trim(),
    );
  }

  stateAt(site: number): unknown {
    return this.machine(site).state.store.snapshot();
  }

  stableAt(site: number): readonly number[] {
    return this.machine(site).state.stable;
  }

  /** Returns the output of a site when it was retired. */
  retirementOf(site: number): Output<'retired'> | undefined {
    const found = this.memberEvents.find(([at, { kind }]) => at === site && kind === 'retired');
    return found?.[1] as Output<'retired'> | undefined;
  }
}

export { siteAt };
