/** Sites of a deployment whose members change: for stories of sites that join, are rebuilt, or are retired. */
import { isCorrectableError } from '../../src/correctable/errors.ts';
import {
  createSiteFromShared,
  getSharedPart,
  mergeSharedIntoSite,
  removeWildStamps,
} from '../../src/server/log/recovered-state.ts';
import type { RecoveredState } from '../../src/server/log/recovered-state.ts';
import type { Checkpoint } from '../../src/server/records/checkpoint.ts';
import type { MemberOutput } from '../../src/server/records/replica-output.ts';
import type { SiteMachine } from '../../src/server/site/site-machine.ts';
import { decodeValue, encodeValue } from '../../src/server/storage/format/value-text.ts';
import { siteAt } from './origins.ts';
import { SiteWorld } from './site-world.ts';

type Output<K extends MemberOutput['kind']> = Extract<MemberOutput, { kind: K }>;

export class MemberWorld extends SiteWorld {
  /** By site: outputs before it took a state do not count. */
  readonly #behindFrom = new Map<number, number>();

  machine(site: number): SiteMachine {
    return this.machines[site] as SiteMachine;
  }

  /** All that a site would save, as it comes from a file. */
  saveCheckpoint(site: number): Checkpoint {
    const machine = this.machine(site);
    const saved = Object.entries(machine.sections).map(([name, section]) => {
      section.changeAll();
      const rows = section.takeChanges(Infinity).filter(([, value]) => value !== undefined);
      return [name, new Map(decodeValue(encodeValue(rows)) as [string, unknown][])] as const;
    });
    return {
      sections: Object.fromEntries(saved),
      smallParts: decodeValue(encodeValue(machine.createCut().smallParts)),
    };
  }

  /** What a site finds after a checkpoint: of its logs what other sites may lack. */
  saveStored(site: number): RecoveredState {
    const { local, red } = this.copyLogs(site);
    const from = this.machine(site).retainedFrom;
    return {
      local: { start: from.local, entries: local.entries.slice(from.local) },
      red: { start: from.red, entries: red.entries.slice(from.red) },
      checkpoint: this.saveCheckpoint(site),
    };
  }

  /** Changes the members, as one site proposes it. Gives what became of that. */
  changeMembers(site: number, name: string, directory: string | null): Output<'changed'> {
    const before = this.memberOutputs.length;
    this.change(site, { name, directory });
    this.pass(100);
    const outcome = this.memberOutputs.slice(before).find(([at, { kind }]) => at === site && kind === 'changed');
    if (outcome === undefined) throw new Error(`nothing came of the change of ${name}`);
    return outcome[1] as Output<'changed'>;
  }

  /** A new origin begins with what a donor has. Gives its place. */
  startFrom(donor: number): number {
    const place = this.addPlace();
    this.start(place, createSiteFromShared(this.#transfer(donor)));
    return place;
  }

  /** A site that is behind takes the state of a donor, and keeps its own. */
  merge(site: number, donor: number, own?: RecoveredState): void {
    const shared = this.#transfer(donor);
    this.crash(site);
    const merged = mergeSharedIntoSite(siteAt(site), own ?? this.copyStored(site), shared);
    this.#behindFrom.set(site, this.memberOutputs.length);
    this.start(site, merged);
  }

  /** What a site whose clock is right receives of a donor's state. */
  #transfer(donor: number): Checkpoint {
    const { maxClockSkewMs } = this.machine(donor).replica.options;
    return removeWildStamps(getSharedPart(this.saveCheckpoint(donor)), this.nowMs + maxClockSkewMs);
  }

  /** The connection of a site to another one is there again. */
  connect(site: number, other: number): void {
    this.machine(site).setConnected(siteAt(other), true, this.nowMs);
    // What it sends leaves with the next input.
    this.sync(site);
    this.tick();
  }

  /** Returns whether the state of the donor could be used. If not, the site starts again with its own. */
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

  /** Whether a site has reported that it needs the state of another one. */
  isBehind(site: number): boolean {
    return this.memberOutputs
      .slice(this.#behindFrom.get(site))
      .some(([at, { kind }]) => at === site && kind === 'behind');
  }

  /** How the origins stand, as a site has it. */
  statesAt(site: number): string[] {
    return this.machine(site).members.map(({ site: name, incarnation, state, final }) =>
      [name, incarnation, state, final?.sequence ?? ''].join(' ').trim(),
    );
  }

  stateAt(site: number): unknown {
    return this.machine(site).replica.state.store.snapshot();
  }

  stableAt(site: number): readonly number[] {
    return this.machine(site).replica.state.stable;
  }

  /** The output of a site when it was closed. */
  retirementOf(site: number): Output<'retired'> | undefined {
    const found = this.memberOutputs.find(([at, { kind }]) => at === site && kind === 'retired');
    return found?.[1] as Output<'retired'> | undefined;
  }
}

export { siteAt };
