/**
 * Draws two sites that meet. Operations are drawn one after the other on the state so far, so that they find what they
 * need: a past in which the wanted operation chooses nothing goes on until it does.
 */
import type { Random } from '../collections/random.ts';
import type { Origin } from '../records/origin.ts';
import type { DrawnArgs } from './values/arguments.ts';
import { Pool, type Scope } from './values/schema-values.ts';
import { placed, siteOf } from './run-meeting.ts';
import { choiceOf, type Meeting, type Ran, type Step } from './step.ts';
import { LabelSite, Stamps, THERE } from './site.ts';
import type { Workshop } from './workshop.ts';

/** What a meeting is drawn by. */
export interface MeetingWish {
  readonly random: Random;
  readonly scope: Scope;
  /** The operation of the first site, and the first one of the second. */
  readonly here: string;
  readonly there: string;
}

/** A step that was run while it was drawn. */
export interface DrawnStep {
  readonly step: Step;
  readonly ran: Ran;
}

/** What was drawn. */
export interface Drawing {
  /** `undefined` where the first site never chose anything. */
  readonly meeting: Meeting | undefined;
  /** All steps that were run, those too that chose nothing and are not part of the meeting. */
  readonly tried: readonly DrawnStep[];
  /** What came of the steps of the meeting, in the order of `past`, `here`, `there`. */
  readonly ran: readonly Ran[];
  /** Operations for which no arguments were found that the contract takes. */
  readonly undrawn: readonly string[];
  readonly pool: Pool;
  /** As it stands at the end. */
  readonly site: LabelSite;
}

/** How often the operation of the first site is tried, on a past that grows; and those of the second. */
const TRIES_HERE = 8;
const TRIES_THERE = 3;
const THERE_MAX = 3;

/** Effects of an operation that are looked at for what to draw next. */
const NOTED_MAX = 32;

/** Some time in 2026, and how much later an operation may come: by up to an hour, a day, a month and more, a year and more. */
export const EPOCH_MS = 1_767_225_600_000;
const LATER_MS = [0, 1, 1000, 3_600_000, 86_400_000, 3_000_000_000, 40_000_000_000] as const;

/** Draws one. */
export function drawMeeting(workshop: Workshop, wish: MeetingWish): Drawing {
  return new MeetingDraw(workshop, wish).all();
}

class MeetingDraw {
  readonly #workshop: Workshop;
  readonly #wish: MeetingWish;
  readonly #pool = new Pool();
  readonly #site: LabelSite;
  /** Then all that its operations lead to is valid, or a breach. */
  readonly #isValidAtFirst: boolean;
  readonly #stamps = new Stamps();
  readonly #tried: DrawnStep[] = [];
  readonly #undrawn: string[] = [];
  /** What the past is made of, and what the second site goes on with. */
  readonly #others: readonly [string, ...string[]];
  #serials = 0;

  constructor(workshop: Workshop, wish: MeetingWish) {
    this.#workshop = workshop;
    this.#wish = wish;
    this.#site = new LabelSite(workshop);
    this.#isValidAtFirst = this.#site.isValid;
    const { random, scope, here, there } = wish;
    this.#others = scope.isNarrow === true ? [here, there, random.pick(this.#updates)] : this.#updates;
  }

  all(): Drawing {
    const { random, scope, here: wanted, there: other } = this.#wish;
    const past: DrawnStep[] = [];
    for (let left = random.between(0, scope.past); left > 0; left -= 1) this.#apply(this.#step(this.#anyOther()), past);
    let here = this.#step(wanted);
    for (let tries = 1; tries < TRIES_HERE && !this.#isHeld(here); tries += 1) {
      this.#goOn(past);
      here = this.#step(wanted);
    }
    if (here === undefined || !this.#changes(here)) return this.#drawing([], undefined);
    this.#site.reserve(choiceOf(here.ran)?.effects ?? []);
    const there: DrawnStep[] = [];
    for (let tries = 0; tries < TRIES_THERE && there.length === 0; tries += 1) {
      const isAlike = other === wanted && random.chance(0.3);
      this.#apply(isAlike ? this.#run(other, here.step.args) : this.#step(other), there, THERE);
    }
    for (let left = random.between(0, THERE_MAX - 1); left > 0; left -= 1) {
      this.#apply(this.#step(this.#anyOther()), there, THERE);
    }
    const steps = there.map(({ step }) => step);
    const place = random.between(0, 2 * steps.length);
    const meeting = { past: past.map(({ step }) => step), here: here.step, there: steps, place };
    return this.#drawing([...past, here, ...there], meeting);
  }

  #drawing(kept: readonly DrawnStep[], meeting: Meeting | undefined): Drawing {
    const ran = kept.map((each) => each.ran);
    const [tried, undrawn, pool, site] = [this.#tried, this.#undrawn, this.#pool, this.#site];
    return { meeting, tried, ran, undrawn, pool, site };
  }

  /** What the wanted operation needs may be anything. */
  #goOn(past: DrawnStep[]): void {
    this.#apply(this.#step(this.#wish.random.pick(this.#updates)), past);
  }

  #anyOther(): string {
    return this.#wish.random.pick(this.#others);
  }

  get #updates(): readonly [string, ...string[]] {
    return this.#workshop.judged.updates as [string, ...string[]];
  }

  /** An operation on the state so far, with arguments that are drawn for it; `undefined` where there are none. */
  #step(operation: string): DrawnStep | undefined {
    const { random, scope } = this.#wish;
    const own = `n${this.#serials + 1}`;
    const drawn = this.#workshop.args.draw(operation, own, { random, pool: this.#pool, scope });
    if (drawn === undefined) this.#undrawn.push(operation);
    return drawn && this.#run(operation, drawn.args, drawn);
  }

  #run(operation: string, args: unknown, now?: DrawnArgs): DrawnStep {
    const { random } = this.#wish;
    this.#serials += 1;
    const serial = this.#serials;
    const step = { operation, args, serial, seed: random.bits(), atMs: EPOCH_MS + serial + random.pick(LATER_MS) };
    const drawn = { step, ran: this.#site.run(step, true, now) };
    this.#tried.push(drawn);
    this.#pool.note(operation, args);
    return drawn;
  }

  /** Whether something was chosen that may be done. */
  #changes(drawn: DrawnStep | undefined): boolean {
    const choice = drawn && choiceOf(drawn.ran);
    return choice !== undefined && this.#site.isLeftFor(choice.effects);
  }

  /** Whether it can be held against others: it changes something, in a valid state. */
  #isHeld(drawn: DrawnStep | undefined): boolean {
    return this.#changes(drawn) && (this.#isValidAtFirst || this.#site.isValid);
  }

  /** Applies a step that has chosen something which may be done, and adds it to those of its site. */
  #apply(drawn: DrawnStep | undefined, to: DrawnStep[], site?: Origin): void {
    const choice = drawn && choiceOf(drawn.ran);
    if (drawn === undefined || choice === undefined || !this.#changes(drawn)) return;
    const { step, ran } = drawn;
    this.#site.apply(placed(this.#workshop.judged, step, choice, this.#stamps, site ?? siteOf(step)));
    to.push(drawn);
    this.#pool.note(step.operation, ran.outcome?.reply.value);
    for (const { table, key, field, value } of choice.effects.slice(0, NOTED_MAX)) {
      this.#pool.note('', key);
      this.#pool.note(field, value);
      const now = field === '' ? undefined : this.#site.store.read(table, key, field);
      if (typeof now === 'number') this.#pool.note(field, now);
    }
  }
}
