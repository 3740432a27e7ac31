/**
 * Runs two sites that meet, and looks at all that their shadow operations must keep (RedBlue, OSDI 2012, §5.3): applied
 * to a valid state each leaves a valid one, in whichever order they come, and all orders lead to one state. What the
 * second site did may be of any colour: the first one's operation stands on the common past alone, so that it may be
 * delivered there later if it is blue, which is what is asked of it.
 */
import type { Origin } from '../records/origin.ts';
import type { Choice } from '../records/reply.ts';
import { takesOf } from '../service/takes.ts';
import type { JudgedService } from './judged-service.ts';
import { choiceOf, type Meeting, type Ran, type Step } from './step.ts';
import { HERE, LabelSite, Stamps, THERE, type Broken, type Placed, type ShownRow } from './site.ts';
import type { Workshop } from './workshop.ts';
import { structurallyEqual } from '../../correctable/equal.ts';
import type { Effect } from '../records/effect.ts';
import type { Store } from '../state/store.ts';

/** A row that is not the same at two sites which have seen the same. */
interface Difference {
  /** At the first site, which applied its own operation first. */
  readonly here: ShownRow;
  readonly there: ShownRow;
}

/** What all have: the shadow operation, and the shortest run that shows it as far as known. */
interface Shown {
  readonly shadow: string;
  /** The operation that chose it, `here` of the meeting. */
  readonly operation: string;
  readonly meeting: Meeting;
}

/** It makes a valid state invalid at the very site that chose it; its meeting has nobody else. */
type AloneBreach = Shown & { readonly kind: 'alone'; readonly broken: Broken };

/**
 * `beside`: it does so at a site that has gone on, which its own site could not know: it is not invariant-safe (RedBlue,
 * OSDI 2012, Definition 8).
 * `differs`: it does not commute with what the other site has done.
 * `takes` says whether these sites take by rights to bounded fields.
 */
export type Breach =
  | AloneBreach
  | (Shown & { readonly kind: 'beside'; readonly takes: boolean; readonly broken: Broken })
  | (Shown & { readonly kind: 'differs'; readonly takes: boolean; readonly difference: Difference });

/** Whether a simpler run still shows what the first one did. */
export function isSameBreach(a: Breach, b: Breach | undefined): boolean {
  if (b?.kind !== a.kind || b.shadow !== a.shadow || b.operation !== a.operation) return false;
  if (a.kind === 'differs' || b.kind === 'differs') return true;
  const tableOf = ({ isOfRow, rows }: Broken): string | undefined => (isOfRow ? rows[0]?.table : undefined);
  return a.broken.invariant === b.broken.invariant && tableOf(a.broken) === tableOf(b.broken);
}

/** What came of it. */
export interface MeetingResult {
  /** What came of the generators, in the order of `past`, `here`, `there`, up to where the run ended. */
  readonly ran: readonly Ran[];
  /** What the first site chose, if anything. */
  readonly here: Choice | undefined;
  /** The shadow operations of the second site, of those steps that chose one: those that `here` was tried beside. */
  readonly beside: readonly string[];
  readonly breach: Breach | undefined;
}

/** Runs it; the same each time. */
export function runMeeting(workshop: Workshop, meeting: Meeting): MeetingResult {
  const run = new MeetingRun(workshop, meeting);
  const breach = run.past() ?? run.here() ?? run.there() ?? run.difference();
  return run.resultWith(breach);
}

/** The first site once it has chosen: it has applied its own operation to the common past. */
interface FirstSite {
  readonly site: LabelSite;
  readonly chosen: Choice;
  readonly own: Placed;
}

/** A meeting, step by step: each says which breach it has come to, if any, and then nothing more is run. */
class MeetingRun {
  readonly #workshop: Workshop;
  readonly #meeting: Meeting;
  readonly #ran: Ran[] = [];
  readonly #stamps = new Stamps();
  readonly #common: Placed[] = [];
  /** It runs the past too, up to where the first one parts from it. */
  readonly #second: LabelSite;
  /** Whether the second is in a valid state, as it need not be at first: what leads out of none breaks none. */
  #isValid: boolean;
  #first: FirstSite | undefined;
  /** What the second site has chosen beside the first, and what that is called. */
  readonly #others: Placed[] = [];
  readonly #beside: string[] = [];

  constructor(workshop: Workshop, meeting: Meeting) {
    this.#workshop = workshop;
    this.#meeting = meeting;
    this.#second = new LabelSite(workshop);
    this.#isValid = this.#second.isValid;
  }

  resultWith(breach: Breach | undefined): MeetingResult {
    return { ran: this.#ran, here: this.#first?.chosen, beside: this.#beside, breach };
  }

  /** What both sites have seen. */
  past(): Breach | undefined {
    const { past } = this.#meeting;
    for (const [at, step] of past.entries()) {
      const choice = this.#runStep(step);
      if (choice === undefined) continue;
      const operation = placed(this.#workshop.judged, step, choice, this.#stamps, siteOf(step));
      this.#common.push(operation);
      this.#second.apply(operation);
      const breach = aloneIn(this.#second, choice, { past: past.slice(0, at), here: step, there: [], place: 0 });
      if (breach !== undefined && (this.#isValid || breach.broken.isOfRow)) return breach;
      this.#isValid = breach === undefined;
    }
    return undefined;
  }

  /** What the first site does on that. */
  here(): Breach | undefined {
    const { past, here, place } = this.#meeting;
    const chosen = this.#runStep(here);
    if (chosen === undefined || !this.#isValid) return undefined;
    const own: Placed = { effects: chosen.effects, stamp: new Stamps(this.#stamps).apart(place) };
    const site = new LabelSite(this.#workshop, [...this.#common, own]);
    this.#first = { site, chosen, own };
    this.#second.reserve(chosen.effects);
    return aloneIn(site, chosen, { past, here, there: [], place: 0 });
  }

  /** What the second site does meanwhile, and the first one hears of. */
  there(): Breach | undefined {
    if (this.#first === undefined) return undefined;
    const { past, there } = this.#meeting;
    for (const [at, step] of there.entries()) {
      const choice = this.#runStep(step);
      if (choice === undefined) continue;
      const other = placed(this.#workshop.judged, step, choice, this.#stamps, THERE);
      this.#second.apply(other);
      const before = [...past, ...there.slice(0, at)];
      const alone = aloneIn(this.#second, choice, { past: before, here: step, there: [], place: 0 });
      if (alone !== undefined) return alone;
      this.#others.push(other);
      this.#beside.push(choice.shadow);
      const breach = this.#besideIn(this.#first, other, at);
      if (breach !== undefined) return breach;
    }
    return undefined;
  }

  /** Whether both sites have come to one state, once the second has heard of the first. */
  difference(): Breach | undefined {
    if (this.#first === undefined || this.#others.length === 0) return undefined;
    const { site: first, chosen, own } = this.#first;
    const second = this.#second;
    second.apply(own);
    if (isSameState(first.store, second.store)) return undefined;
    const effects = [...this.#common, own, ...this.#others].flatMap((operation) => operation.effects);
    const { table, key } = differingRow(first.store, second.store, effects);
    const difference = { here: first.row(table, key), there: second.row(table, key) };
    const meeting = this.#meeting;
    return { kind: 'differs', ...blamed(chosen, meeting.here), meeting, takes: this.#takes, difference };
  }

  /**
   * What the first site shows once it hears of an operation is what the second would show there, since they commute;
   * whether they do is looked at in the end.
   */
  #besideIn({ site, chosen }: FirstSite, other: Placed, at: number): Breach | undefined {
    site.apply(other);
    const broken = site.brokenBy([...chosen.effects, ...other.effects]);
    if (broken === undefined) return undefined;
    const { past, here, there, place } = this.#meeting;
    const until = { past, here, there: there.slice(0, at + 1), place };
    return { kind: 'beside', ...blamed(chosen, here), meeting: until, takes: this.#takes, broken };
  }

  /** What a site that knows as much as the second chooses, unless it has no rights to it. */
  #runStep(step: Step): Choice | undefined {
    const came = this.#second.run(step);
    this.#ran.push(came);
    const choice = choiceOf(came);
    return choice !== undefined && this.#second.isLeftFor(choice.effects) ? choice : undefined;
  }

  /** Whether the sites have taken by rights since they parted. */
  get #takes(): boolean {
    const apart = [...(this.#first?.chosen.effects ?? []), ...this.#others.flatMap(({ effects }) => effects)];
    return takesOf(this.#workshop.judged.tables, apart).length > 0;
  }
}

/** The operations of the past came from both sites. */
export function siteOf({ serial }: Step): Origin {
  return serial % 2 === 0 ? HERE : THERE;
}

/** An operation with the next stamp of its site. */
export function placed(judged: JudgedService, step: Step, choice: Choice, stamps: Stamps, site: Origin): Placed {
  // What is red by itself is chosen as red.
  const isRed = choice.colour === 'red' || judged.declared(choice.shadow, step.operation) === 'red';
  return { effects: choice.effects, stamp: stamps.next(site, isRed) };
}

function aloneIn(site: LabelSite, choice: Choice, meeting: Meeting): AloneBreach | undefined {
  const broken = site.brokenBy(choice.effects);
  return broken && { kind: 'alone', ...blamed(choice, meeting.here), meeting, broken };
}

function blamed({ shadow }: Choice, { operation }: Step): { readonly shadow: string; readonly operation: string } {
  return { shadow, operation };
}

/** Whether two states are the same in full, with what is remembered of rows that are gone: only then sites have converged. */
export function isSameState(a: Store, b: Store): boolean {
  return structurallyEqual(a.snapshot(), b.snapshot()) && structurallyEqual(a.removalTimes(), b.removalTimes());
}

/** Of the rows that these effects are on, the first in which two states differ; they do in one. */
export function differingRow(a: Store, b: Store, effects: readonly Effect[]): Pick<Effect, 'table' | 'key'> {
  const [rowsOfA, rowsOfB] = [rowsOf(a), rowsOf(b)];
  for (const { table, key } of effects) {
    const name = nameOf(table, key);
    if (!structurallyEqual(rowsOfA.get(name), rowsOfB.get(name))) return { table, key };
  }
  throw new Error('two states differ in no row that was written');
}

type Rows = readonly (readonly [table: string, rows: readonly (readonly [key: string, state: unknown])[]])[];

function rowsOf(store: Store): ReadonlyMap<string, readonly unknown[]> {
  const rows = new Map<string, unknown[]>();
  for (const all of [store.snapshot() as Rows, store.removalTimes() as Rows]) {
    for (const [table, ofTable] of all) {
      for (const [key, state] of ofTable) {
        const name = nameOf(table, key);
        rows.set(name, [...(rows.get(name) ?? []), state]);
      }
    }
  }
  return rows;
}

const nameOf = (table: string, key: string): string => JSON.stringify([table, key]);
