/**
 * Runs two sites that meet, and looks at all that their shadow operations must keep (RedBlue, OSDI 2012, §5.3): applied
 * to a valid state each leaves a valid one, in whichever order they come, and all orders lead to one state. What the
 * second site did may be of any colour: the first one's operation stands on the common past alone, so that it may be
 * delivered there later if it is blue, which is what is asked of it.
 */
import type { Origin } from '../records/origin.ts';
import type { Choice } from '../records/reply.ts';
import type { Breach } from './breach.ts';
import { differingRow, isSameState } from './full-state.ts';
import type { JudgedService } from './judged-service.ts';
import { choiceOf, LabelSite } from './site.ts';
import type { Placed, Ran, Workshop } from './site.ts';
import { HERE, Stamps, THERE } from './stamps.ts';
import type { Meeting, Step } from './step.ts';

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
  const { judged } = workshop;
  const { past, here, there, place } = meeting;
  const ran: Ran[] = [];
  const end = (given: Partial<MeetingResult>): MeetingResult => ({
    ran,
    here: undefined,
    beside: [],
    breach: undefined,
    ...given,
  });

  const second = new LabelSite(workshop);
  const stamps = new Stamps();
  const common: Placed[] = [];
  for (const [at, step] of past.entries()) {
    const choice = runStep(second, step, ran, siteOf(step));
    if (choice === undefined) continue;
    common.push(placed(judged, step, choice, stamps, siteOf(step)));
    second.apply(common.at(-1) as Placed);
    const breach = aloneIn(second, choice, { past: past.slice(0, at), here: step, there: [], place: 0 });
    if (breach !== undefined) return end({ breach });
  }

  const chosen = runStep(second, here, ran, HERE);
  if (chosen === undefined || !second.isWithinRights(chosen, HERE)) return end({});
  const own: Placed = { effects: chosen.effects, stamp: new Stamps(stamps).apart(place) };
  const first = new LabelSite(workshop, [...common, own]);
  const alone = aloneIn(first, chosen, { past, here, there: [], place: 0 });
  if (alone !== undefined) return end({ here: chosen, breach: alone });

  const others: Placed[] = [];
  const beside: string[] = [];
  for (const [at, step] of there.entries()) {
    const choice = runStep(second, step, ran, THERE);
    if (choice === undefined) continue;
    const other = placed(judged, step, choice, stamps, THERE);
    second.apply(other);
    const wrong = aloneIn(second, choice, { past: [...past, ...there.slice(0, at)], here: step, there: [], place: 0 });
    if (wrong !== undefined) return end({ here: chosen, beside, breach: wrong });
    others.push(other);
    beside.push(choice.shadow);
    // What the first site shows once it hears of this is what the second would show here, since they commute; whether
    // they do is looked at below.
    first.apply(other);
    const broken = first.brokenBy([...chosen.effects, ...other.effects]);
    if (broken === undefined) continue;
    const until = { past, here, there: there.slice(0, at + 1), place };
    const breach = { kind: 'beside', ...blamed(chosen, here), meeting: until, broken } as const;
    return end({ here: chosen, beside, breach });
  }
  if (others.length === 0) return end({ here: chosen });

  second.apply(own);
  if (isSameState(first.store, second.store)) return end({ here: chosen, beside });
  const { table, key } = differingRow(
    first.store,
    second.store,
    [...common, own, ...others].flatMap(({ effects }) => effects),
  );
  const difference = { here: first.row(table, key), there: second.row(table, key) };
  return end({
    here: chosen,
    beside,
    breach: { kind: 'differs', ...blamed(chosen, here), meeting, difference },
  });
}

/** The operations of the past came from both sites. */
export function siteOf({ token }: Step): Origin {
  return token % 2 === 0 ? HERE : THERE;
}

/** An operation with the next stamp of its site. */
export function placed(judged: JudgedService, step: Step, choice: Choice, stamps: Stamps, site: Origin): Placed {
  const isRed =
    choice.colour === 'red' ||
    judged.declared(choice.shadow, step.operation) === 'red' ||
    judged.redByItself(choice.shadow, choice.effects) !== undefined;
  return { effects: choice.effects, stamp: stamps.next(site, isRed) };
}

function runStep(site: LabelSite, step: Step, ran: Ran[], at: Origin): Choice | undefined {
  const came = site.run(step);
  ran.push(came);
  const choice = choiceOf(came);
  return choice && site.allowed(choice, at);
}

function aloneIn(site: LabelSite, choice: Choice, meeting: Meeting): Breach | undefined {
  const broken = site.brokenBy(choice.effects);
  return broken && { kind: 'alone', ...blamed(choice, meeting.here), meeting, broken };
}

function blamed({ shadow }: Choice, { operation }: Step): { readonly shadow: string; readonly operation: string } {
  return { shadow, operation };
}
